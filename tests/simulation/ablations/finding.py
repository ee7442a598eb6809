"""How many seeds it takes until a run without a safeguard breaks an invariant."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

from tests.simulation.ablations.ablation import Ablation
from tests.simulation.ablations.all_of_them import ABLATIONS
from tests.simulation.machine.remembered import seldom_collected
from tests.simulation.seeds import Options, play

FOUND_AT = Path(__file__).parent.parent / "found_seeds.json"
FOUND_LAST: dict[str, int] = json.loads(FOUND_AT.read_text(encoding="utf-8"))
"""A seed that found each ablation when all of them were looked for last."""
PART = 10
"""Seeds that one process plays while the others play those behind."""


def found_again(name: str) -> int | None:
    """A seed that breaks an invariant without the safeguard of that name: the one that found it when all of them were
    looked for last, mostly, else the first from 0; None when no seed does. In whatever process."""
    last = found_last(name)
    return found_in(name, range(ABLATIONS[name].within)) if last is None else last


def found_last(name: str) -> int | None:
    """The seed that found it last, if it finds it again."""
    last = FOUND_LAST.get(name)
    return None if last is None else found_in(name, range(last, last + 1))


def found_by_many(name: str, pool: Executor, jobs: int) -> int | None:
    """The first seed from 0 that finds it, looked for by all processes of the pool: the ablation that takes most seeds
    takes as many as all others together."""
    within = ABLATIONS[name].within
    parts = [range(first, min(first + PART, within)) for first in range(0, within, PART)]
    for at in range(0, len(parts), jobs):
        for found in pool.map(partial(found_in, name), parts[at : at + jobs]):
            if found is not None:
                return found
    return None


def found_in(name: str, seeds: range) -> int | None:
    """The first of them that finds it."""
    return _first_broken(ABLATIONS[name], seeds)


def _first_broken(ablation: Ablation, seeds: Iterable[int]) -> int | None:
    options = Options(ablation.workload)
    with ablation.applied(), seldom_collected():
        return next((seed for seed in seeds if play(seed, options).broken), None)


def keep(found: Mapping[str, int]) -> None:
    """For ``found_again``."""
    FOUND_AT.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
