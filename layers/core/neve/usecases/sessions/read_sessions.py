"""E1 GET: the sessions of a user."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.errors import not_found
from neve.domain.records import SessionEpoch, SessionHead, SessionMarker
from neve.ports import Item, Key
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.keys import SESSION, SessionKeys


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session from its three rows. ``indexed_seq``: utterances up to here are in the search index."""

    head: SessionHead
    marker: SessionMarker
    epoch: SessionEpoch
    indexed_seq: int


def session_rows(keys: SessionKeys) -> list[Key]:
    return [keys.session_head, keys.marker, keys.epoch, keys.indexed]


def view_of(keys: SessionKeys, found: dict[Key, Item]) -> SessionView | None:
    """None when there is no such session."""
    head, marker, epoch, indexed = (found.get(key) for key in session_rows(keys))
    if head is None or marker is None or epoch is None:
        return None
    return SessionView(
        rows.read_session(head),
        rows.read_marker(marker),
        rows.read_epoch(epoch),
        int(indexed["indexed_seq"]) if indexed else 0,
    )


def get_session(scope: SessionScope) -> SessionView:
    """Raises session_not_found."""
    view = view_of(scope.keys, scope.ports.table.get_many(session_rows(scope.keys)))
    if view is None:
        raise not_found("session", scope.session)
    return view


def list_sessions(scope: UserScope, limit: int, cursor: str | None) -> tuple[list[SessionView], str | None]:
    """By session id, ascending. Raises ValueError for a cursor that is not one of ours."""
    page = scope.ports.table.query(scope.keys.partition, prefix=SESSION, limit=limit, cursor=cursor)
    sessions = [scope.keys.of_session(str(item["session_id"])) for item in page.items]
    found = scope.ports.table.get_many([key for keys in sessions for key in session_rows(keys)])
    views = [view_of(keys, found) for keys in sessions]
    return [view for view in views if view is not None], page.cursor
