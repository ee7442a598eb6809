"""E9 DELETE: remove one memory for good, and say where its words may still stand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from neve.ports import Delete, Version, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import PACK
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.memories.memory_to_change import memory_to_change


@dataclass(frozen=True, slots=True)
class Deleted:
    """``in_packs``: immutable pack versions (session id, version) that hold the text until they are purged.
    ``derived``: memories that were made from it."""

    id: str
    in_packs: list[tuple[str, int]]
    derived: list[str]


def delete_memory(scope: UserScope, memory_id: str, if_match: Collection[int] | None) -> Deleted:
    """The row leaves the table and its session's live list in one transaction, its token vectors with it; the change
    stream takes it out of the search index, and until then hydration hides it. Its last rev stays, for an import of the
    same id. Raises memory_not_found, precondition_failed, erasing, user_closed."""
    return transact(scope.ports, lambda: _delete_once(scope, memory_id, if_match))


def _delete_once(scope: UserScope, memory_id: str, if_match: Collection[int] | None) -> Deleted:
    keys = scope.keys
    head, memory = memory_to_change(scope, memory_id, if_match)
    ops: list[WriteOp] = [
        rows.guard_user(keys, head, scope.ports.clock.now()),
        Delete(keys.memory(memory_id), Version(memory.version)),
        rows.put_deleted_memory(keys, memory),
        Delete(keys.tokens_of(memory_id)),
    ]
    marker_item = scope.ports.table.get(keys.of_session(memory.session_id).marker) if memory.session_id else None
    if marker_item:
        marker = rows.read_marker(marker_item)
        live = tuple(row for row in marker.live if row.id != memory_id)
        if live != marker.live:
            ops.append(rows.put_marker(keys, replace(marker, live=live)))
    scope.ports.table.write(ops)
    derived = [memory.superseded_by] if memory.superseded_by else []
    return Deleted(memory_id, _packs_with(scope, memory_id), derived)


def _packs_with(scope: UserScope, memory_id: str) -> list[tuple[str, int]]:
    held: list[tuple[str, int]] = []
    for item in all_rows(scope.ports.table, scope.keys.partition, prefix=PACK):
        manifest = rows.read_manifest(item)
        if any(entry.id == memory_id for entries in manifest.layers.values() for entry in entries):
            held.append((manifest.session_id, manifest.pack_version))
    return held
