"""E9 DELETE: remove one memory for good, and say where its words may still stand."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neve.domain.errors import NeveError
from neve.ports import Conflict, Delete, Version, WriteOp
from neve.store import rows
from neve.usecases.memories.memory_to_change import memory_to_change
from neve.wiring import Ports, Tenant

ATTEMPTS = 20
_PAGE = 100


@dataclass(frozen=True, slots=True)
class Deleted:
    """``in_packs``: immutable pack versions (session id, version) that hold the text until they are purged.
    ``derived``: memories that were made from it."""

    id: str
    in_packs: list[tuple[str, int]]
    derived: list[str]


def delete_memory(ports: Ports, tenant: Tenant, user: str, memory_id: str, if_match: int | None) -> Deleted:
    """The row leaves the table and its session's live list in one transaction; the change stream takes it out of the
    search index, and until then hydration hides it. Its last rev stays, for an import of the same id. Raises
    memory_not_found, precondition_failed, erasing, user_closed."""
    keys = tenant.keys
    for _ in range(ATTEMPTS):
        head, memory = memory_to_change(ports, tenant, user, memory_id, if_match)
        ops: list[WriteOp] = [
            rows.guard_user(keys, user, head, ports.clock.now()),
            Delete(keys.memory(user, memory_id), Version(memory.version)),
            rows.put_deleted_memory(keys, user, memory),
        ]
        marker_item = ports.table.get(keys.marker(user, memory.session_id)) if memory.session_id else None
        if marker_item:
            marker = rows.read_marker(marker_item)
            live = tuple(row for row in marker.live if row.id != memory_id)
            if live != marker.live:
                ops.append(rows.put_marker(keys, user, replace(marker, live=live)))
        try:
            ports.table.write(ops)
        except Conflict:
            continue
        derived = [memory.superseded_by] if memory.superseded_by else []
        return Deleted(memory_id, _packs_with(ports, tenant, user, memory_id), derived)
    raise NeveError("conflict", "Too many writers are changing this memory; try again.", retry_after_s=1)


def _packs_with(ports: Ports, tenant: Tenant, user: str, memory_id: str) -> list[tuple[str, int]]:
    held: list[tuple[str, int]] = []
    cursor = None
    while True:
        page = ports.table.query(tenant.keys.user(user), prefix="PACK#", limit=_PAGE, cursor=cursor)
        for item in page.items:
            manifest = rows.read_manifest(item)
            if any(entry.id == memory_id for entries in manifest.layers.values() for entry in entries):
                held.append((manifest.session_id, manifest.pack_version))
        cursor = page.cursor
        if cursor is None:
            return held
