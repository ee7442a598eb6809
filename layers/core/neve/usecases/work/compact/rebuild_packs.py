"""Packs that a deletion purged are built once what is left of the deleted has been written
(docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neve.ports.errors import StoreUnavailable
from neve.scope import UserScope
from neve.usecases.core.pack.build_pack import build_pack


def rebuild_packs(scope: UserScope, sessions: Iterable[str], written: Sequence[str]) -> list[str]:
    """Build the packs of sessions, and name those that have a pack of what there is now, also where a reader has built
    one meanwhile. What a store refuses is left to the next read, or to the sweep. May be repeated. ``written``: ids of
    the memories of what is left."""
    return [session for session in sessions if _built(scope, session, written)]


def _built(scope: UserScope, session_id: str, written: Sequence[str]) -> bool:
    session = scope.of_session(session_id)
    try:
        item = session.ports.table.get(session.keys.epoch)
        if item is None or item.get("deleted"):
            return False
        build_pack(session, "initial", written)
    except StoreUnavailable:
        return False
    return True
