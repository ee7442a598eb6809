"""E1 GET: the sessions of a user."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.errors import not_found
from neve.domain.records import SessionEpoch, SessionHead, SessionMarker
from neve.ports import Item, Key
from neve.store import rows
from neve.store.keys import SESSION, Keys
from neve.wiring import Ports, Tenant


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session from its three rows. ``indexed_seq``: utterances up to here are in the search index."""

    head: SessionHead
    marker: SessionMarker
    epoch: SessionEpoch
    indexed_seq: int


def session_keys(keys: Keys, user: str, session: str) -> list[Key]:
    return [
        keys.session(user, session),
        keys.marker(user, session),
        keys.epoch(user, session),
        keys.indexed(user, session),
    ]


def view_of(keys: Keys, user: str, session: str, found: dict[Key, Item]) -> SessionView | None:
    """None when there is no such session."""
    head, marker, epoch, indexed = (found.get(key) for key in session_keys(keys, user, session))
    if head is None or marker is None or epoch is None:
        return None
    return SessionView(
        rows.read_session(head),
        rows.read_marker(marker),
        rows.read_epoch(epoch),
        int(indexed["indexed_seq"]) if indexed else 0,
    )


def get_session(ports: Ports, tenant: Tenant, user: str, session: str) -> SessionView:
    """Raises session_not_found."""
    view = view_of(tenant.keys, user, session, ports.table.get_many(session_keys(tenant.keys, user, session)))
    if view is None:
        raise not_found("session", session)
    return view


def list_sessions(
    ports: Ports, tenant: Tenant, user: str, limit: int, cursor: str | None
) -> tuple[list[SessionView], str | None]:
    """By session id, ascending. Raises ValueError for a cursor that is not one of ours."""
    keys = tenant.keys
    page = ports.table.query(keys.user(user), prefix=SESSION, limit=limit, cursor=cursor)
    ids = [str(item["session_id"]) for item in page.items]
    found = ports.table.get_many([key for session in ids for key in session_keys(keys, user, session)])
    views = [view_of(keys, user, session, found) for session in ids]
    return [view for view in views if view is not None], page.cursor
