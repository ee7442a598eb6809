"""Choose which messages are read with the candidates' rows, before their order is known, so that a prompt can show them
in front of short replies (docs/rules/compile.md#retrieved)."""

from __future__ import annotations

from collections.abc import Collection
from itertools import zip_longest

from neve.domain.ids import event_id, event_place
from neve.domain.recall.short_reply import is_short
from neve.usecases.ask.recall.stages.gate import Gated

MOST = 10
"""*Chosen*: of nine hits one is such a reply, and each row that is read takes its time."""


def message_before(identifier: str) -> str | None:
    """Return the id of the event directly before an event; None for any other id, and for the first one."""
    place = event_place(identifier)
    return event_id(place[0], place[1] - 1) if place and place[1] > 1 else None


def before_replies(gated: Gated, known: Collection[str]) -> list[str]:
    """Return the ids of the events before the short candidates of both legs, the best placed ones first. ``known``:
    what is read anyway."""
    best = (one for pair in zip_longest(gated.lexical or (), gated.vector or ()) for one in pair if one)
    found = dict.fromkeys(before for one in best if is_short(one.length) and (before := message_before(one.item_id)))
    return [identifier for identifier in found if identifier not in known][:MOST]
