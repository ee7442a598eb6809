"""The outbox's part in ending idle sessions: one that is opened, or goes on after its end, is looked at when it may be
idle (docs/rules/librarian.md#idle). No call pays for it."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.sessions.idle import IDLE_AFTER
from neve.ports.engines import Ports
from neve.ports.table import Item
from neve.store.filings import put_open_session
from neve.store.keys import SessionKeys, UserKeys
from neve.store.stream_records import Change

REOPENS = "reopens"
"""Marks the row of an event with which a closed session goes on."""


def note_open(ports: Ports, changes: Sequence[Change]) -> None:
    """Note the sessions that these changes opened, for a look when they may be idle. Raises StoreUnavailable; may be
    repeated: the sweep asks the session itself."""
    at = ports.clock.now() + IDLE_AFTER
    if opened := sessions_opened(changes):
        ports.table.write([put_open_session(keys, at) for keys in opened])


def sessions_opened(changes: Sequence[Change]) -> list[SessionKeys]:
    """List the sessions that are new, or go on after their end."""
    opened = {
        UserKeys(change.item["tenant_id"], change.item["user_id"]).of_session(change.item["session_id"]): None
        for change in changes
        if change.old is None and _opens(change.item)
    }
    return list(opened)


def _opens(item: Item) -> bool:
    return item.get("type") == "session" or (item.get("type") == "event" and item.get(REOPENS) is True)
