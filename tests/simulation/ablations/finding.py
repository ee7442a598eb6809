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


def found_at(name: str) -> int | None:
    """``seeds_until_found`` of the ablation of that name, in whatever process."""
    return seeds_until_found(ABLATIONS[name])


def seeds_until_found(ablation: Ablation) -> int | None:
    """The first seed, from 0, that breaks an invariant without the safeguard; None when no seed does."""
    return _first_broken(ablation, range(ablation.within))


def is_found(ablation: Ablation) -> bool:
    """Whether a seed breaks an invariant without the safeguard: the one that did when all of them were looked for last,
    or else any of those within which it has to be found."""
    last = FOUND_LAST.get(ablation.name)
    if last is not None and _first_broken(ablation, [last]) is not None:
        return True
    return seeds_until_found(ablation) is not None


def _first_broken(ablation: Ablation, seeds: Iterable[int]) -> int | None:
    options = Options(ablation.workload)
    with ablation.applied(), seldom_collected():
        return next((seed for seed in seeds if play(seed, options).broken), None)


def keep(found: Mapping[str, int]) -> None:
    """For ``is_found``."""
    FOUND_AT.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
