"""A failing seed with as few faults as it needs."""

from __future__ import annotations

from dataclasses import replace

from tests.simulation.machine.chaos import FAULTS
from tests.simulation.seeds import Options, play


def shrunk(seed: int, options: Options) -> Options | None:
    """Options with which the seed still breaks the same invariant: fewer kinds of faults, then only the first k of
    them. None when it breaks none. A run without one fault is another run, so that this finds a small failure, not the
    smallest."""
    first = play(seed, options)
    if not first.broken:
        return None
    options = replace(options, workload=first.workload)
    wanted = _name(first.broken[0])

    def fails(tried: Options) -> bool:
        return any(_name(wrong) == wanted for wrong in play(seed, tried).broken)

    for fault in FAULTS:
        fewer = replace(options, without=options.without | {fault})
        if fails(fewer):
            options = fewer
    low, high = 0, play(seed, options).faults.total()
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(replace(options, most=middle)) else (middle + 1, high)
    return replace(options, most=high)


def _name(wrong: str) -> str:
    """Of the invariant."""
    return wrong.partition(":")[0]
