"""How many seeds it takes until a run without a safeguard breaks an invariant."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.simulation.ablations.ablation import Ablation
from tests.simulation.ablations.all_of_them import ABLATIONS
from tests.simulation.machine.remembered import seldom_collected
from tests.simulation.seeds import Options, play

FOUND_AT = Path(__file__).parent.parent / "found_seeds.json"
FOUND_LAST: dict[str, int] = json.loads(FOUND_AT.read_text(encoding="utf-8"))
"""The first seed that found each ablation when all of them were looked for last."""


def first_found(name: str) -> int | None:
    """The first seed, from 0, that breaks an invariant without the safeguard of that name; None when no seed does.
    In whatever process, as ``found_again``."""
    ablation = ABLATIONS[name]
    return _first_broken(ablation, range(ablation.within))


def found_again(name: str) -> int | None:
    """The same, but first the seed that found it when all of them were looked for last: it is mostly the only one."""
    last = FOUND_LAST.get(name)
    if last is not None and _first_broken(ABLATIONS[name], [last]) is not None:
        return last
    return first_found(name)


def _first_broken(ablation: Ablation, seeds: Iterable[int]) -> int | None:
    options = Options(ablation.workload)
    with ablation.applied(), seldom_collected():
        return next((seed for seed in seeds if play(seed, options).broken), None)


def keep(found: Mapping[str, int]) -> None:
    """For ``found_again``."""
    FOUND_AT.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
