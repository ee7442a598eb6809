"""Packs that a deletion purged are built once what is left of the deleted has been written
(docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neve.ports.errors import StoreUnavailable
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.pack.build_pack import build_pack
from neve.usecases.pack.purge_versions import Holds, packs_with


def served_with(scope: UserScope, holds: Holds) -> list[str]:
    """Ids of the sessions that serve a version with such an entry. Raises StoreUnavailable."""
    held = packs_with(scope, holds)
    epochs = {session: scope.of_session(session).keys.epoch for session, _ in held}
    found = scope.ports.table.get_many(list(epochs.values())) if epochs else {}
    serving = {s: rows.read_epoch(found[key]).pack for s, key in epochs.items() if key in found}
    served = {(session, pack.pack_version) for session, pack in serving.items() if pack is not None}
    return list(dict.fromkeys(session for session, version in held if (session, version) in served))


def rebuild_packs(scope: UserScope, sessions: Iterable[str], written: Sequence[str]) -> list[str]:
    """Those that have a pack of what there is now, also where a reader has built one meanwhile. What a store refuses is
    left to the next read, or to the sweep. May be repeated. ``written``: ids of the memories of what is left."""
    return [session for session in sessions if _built(scope, session, written)]


def _built(scope: UserScope, session_id: str, written: Sequence[str]) -> bool:
    session = scope.of_session(session_id)
    try:
        if session.ports.table.get(session.keys.epoch) is None:
            return False
        build_pack(session, "initial", written)
    except StoreUnavailable:
        return False
    return True
