"""Every invariant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tests.simulation.checks import (
    answers,
    compactions,
    erased,
    erasures,
    images,
    log,
    memories,
    nights,
    packs,
    passes,
    prompts,
    records,
)
from tests.simulation.checks.knowledge import (
    documents,
    exports,
    facts,
    filings,
    forgetting,
    just_said,
    long_texts,
    packed_documents,
    participants,
    privacy,
    retention,
    retractions,
    validity,
    webhooks,
)
from tests.simulation.segments import checks as segments

if TYPE_CHECKING:
    from tests.simulation.run import Run

INVARIANTS = (
    *log.INVARIANTS,
    *passes.INVARIANTS,
    *compactions.INVARIANTS,
    *packs.INVARIANTS,
    *just_said.INVARIANTS,
    *packed_documents.INVARIANTS,
    *prompts.INVARIANTS,
    *memories.INVARIANTS,
    *records.INVARIANTS,
    *documents.INVARIANTS,
    *long_texts.INVARIANTS,
    *facts.INVARIANTS,
    *nights.INVARIANTS,
    *filings.INVARIANTS,
    *erased.INVARIANTS,
    *erasures.INVARIANTS,
    *images.INVARIANTS,
    *retractions.INVARIANTS,
    *exports.INVARIANTS,
    *forgetting.INVARIANTS,
    *validity.INVARIANTS,
    *retention.INVARIANTS,
    *answers.INVARIANTS,
    *privacy.INVARIANTS,
    *participants.INVARIANTS,
    *webhooks.INVARIANTS,
    *segments.INVARIANTS,
)


def broken(run: Run) -> Iterator[str]:
    """What does not hold, with the name of the invariant in front. One that cannot be asked does not hold either: the
    other seeds go on."""
    for invariant in INVARIANTS:
        try:
            for wrong in invariant(run):
                yield f"{invariant.__name__}: {wrong}"
        except Exception as error:
            yield f"{invariant.__name__}: {error!r}"
