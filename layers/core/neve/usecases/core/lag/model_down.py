"""Tells the chat path that what is said is queued, and not remembered yet, while the language model gives no answer
(docs/rules/degradation.md#observer)."""

from __future__ import annotations

from contextlib import suppress

from neve.domain.records.markers import SessionMarker
from neve.ports.errors import StoreUnavailable
from neve.scope import SessionScope
from neve.store import rows

QUEUED = "extract:queued"


def queued(marker: SessionMarker, complete_seq: int) -> tuple[str, ...]:
    """Return the flag while a part of the log up to ``complete_seq`` waits for a model that gave no answer."""
    waits = marker.model_failed_at is not None and complete_seq > max(marker.observed_seq, marker.offered_seq)
    return (QUEUED,) if waits else ()


def other_language_of(scope: SessionScope) -> int:
    """Count the session's messages in languages that the observer did not know; 0 where its row cannot be read."""
    with suppress(StoreUnavailable):
        if head := scope.ports.table.get(scope.keys.session_head):
            return rows.read_session(head).other_language
    return 0


def queued_of(scope: SessionScope) -> tuple[str, ...]:
    """Return the flag by the stored rows; none when they cannot be read."""
    with suppress(StoreUnavailable):
        found = scope.ports.table.get_many([scope.keys.session_head, scope.keys.marker])
        if len(found) == 2:
            head = rows.read_session(found[scope.keys.session_head])
            return queued(rows.read_marker(found[scope.keys.marker]), head.last_seq)
    return ()
