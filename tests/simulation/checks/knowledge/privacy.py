"""What the gate takes out of events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.checks.replay import Found, of_kind
from tests.simulation.clients.history import CARD

if TYPE_CHECKING:
    from tests.simulation.run import Run


def no_card_number_is_stored(run: Run) -> Found:
    """Of the speaker, who says it with every event: in no write of the log, and in no passage."""
    for _, event in of_kind(run, "event"):
        if CARD in str(event):
            yield f"{event['pk']} {event['sk']}: {event['name']}"
    for owner, passages in run.cloud.search.stored.items():
        for place, passage in passages.items():
            if CARD in str(passage):
                yield f"{owner} {place}: {passage.text[:80]}"


INVARIANTS = (no_card_number_is_stored,)
