"""Every invariant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.simulation.checks import answers, erased, log, memories, packs, passes

if TYPE_CHECKING:
    from tests.simulation.run import Run

INVARIANTS = (
    *log.INVARIANTS,
    *passes.INVARIANTS,
    *packs.INVARIANTS,
    *memories.INVARIANTS,
    *erased.INVARIANTS,
    *answers.INVARIANTS,
)


def broken(run: Run) -> Iterator[str]:
    """What does not hold, with the name of the invariant in front."""
    for invariant in INVARIANTS:
        for wrong in invariant(run):
            yield f"{invariant.__name__}: {wrong}"
