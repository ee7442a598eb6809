"""E9 POST: keep one memory that the caller wrote."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

from neve.domain.errors import NeveError, not_found
from neve.domain.records import EmbeddingState, Kind, LiveRow, Memory, Provenance, Scope
from neve.domain.times import iso
from neve.ports import Conflict, Key, WriteOp
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.usecases.memories.written_memory import WrittenMemory, record_of
from neve.wiring import Ports, Tenant

ATTEMPTS = 20
WAIT_S = 20.0
_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True)
class NewMemory(WrittenMemory):
    """What the caller chose."""

    kind: Kind = Kind.MANUAL
    provenance: dict[str, Any] = field(default_factory=dict)


def create_memory(
    ports: Ports, tenant: Tenant, user: str, wanted: NewMemory, idempotency_key: IdempotencyKey | None = None
) -> Memory:
    """The stored row. One batch read, one transaction. Raises session_not_found, erasing, user_closed,
    idempotency_mismatch, StoreUnavailable."""
    keys = tenant.keys
    memory_id = f"mem_{ports.ids.ulid(ports.clock.now())}"
    for _ in range(ATTEMPTS):
        now = ports.clock.now()
        found = ports.table.get_many(_rows_to_read(tenant, user, wanted, idempotency_key))
        if idempotency_key:
            earlier = idempotency.replay(found.get(idempotency.row_key(keys, idempotency_key)), idempotency_key, now)
            if earlier:
                return _replayed(ports, tenant, user, earlier)
        head = rows.read_head(found.get(keys.head(user)))
        rows.writable(head)
        provenance = Provenance(**({"by": "human_edit", "session_id": wanted.session_id} | wanted.provenance))
        memory = record_of(tenant, wanted, memory_id, provenance, iso(now), head.gen)
        ops: list[WriteOp] = [rows.guard_user(keys, user, head, now), rows.put_memory(keys, user, memory)]
        if wanted.session_id is not None:
            marker_item = found.get(keys.marker(user, wanted.session_id))
            if marker_item is None:
                raise not_found("session", wanted.session_id)
            if memory.scope is Scope.SESSION:
                marker = rows.read_marker(marker_item)
                row = LiveRow(memory.id, memory.kind, memory.tokens)
                ops.append(rows.put_marker(keys, user, replace(marker, live=(*marker.live, row))))
        if idempotency_key:
            reply = StoredReply(status=201, body={"id": memory.id})
            ops.append(idempotency.done(keys, idempotency_key, reply, now))
        try:
            ports.table.write(ops)
        except Conflict:
            continue
        return replace(memory, version=1)
    raise NeveError("conflict", "Too many writers are changing this user's memory; try again.", retry_after_s=1)


def wait_until_embedded(ports: Ports, tenant: Tenant, user: str, memory: Memory) -> Memory:
    """The row once its embedding is no longer pending, or as it stands after 20 s."""
    end = time.monotonic() + WAIT_S
    while memory.embedding_state is EmbeddingState.PENDING and time.monotonic() < end:
        time.sleep(_PAUSE_S)
        item = ports.table.get(tenant.keys.memory(user, memory.id))
        if item is None:
            return memory
        memory = rows.read_memory(item)
    return memory


def _rows_to_read(tenant: Tenant, user: str, wanted: NewMemory, idem: IdempotencyKey | None) -> list[Key]:
    keys = tenant.keys
    wanted_rows = [keys.head(user)]
    if wanted.session_id is not None:
        wanted_rows.append(keys.marker(user, wanted.session_id))
    if idem:
        wanted_rows.append(idempotency.row_key(keys, idem))
    return wanted_rows


def _replayed(ports: Ports, tenant: Tenant, user: str, earlier: StoredReply) -> Memory:
    item = ports.table.get(tenant.keys.memory(user, earlier.body["id"]))
    if item is None:
        raise not_found("memory", earlier.body["id"])
    return rows.read_memory(item)
