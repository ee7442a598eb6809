"""E9 POST: keep one memory that the caller wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neve.domain.errors import not_found
from neve.domain.records import EmbeddingState, Kind, LiveRow, Memory, Provenance, Scope
from neve.domain.times import iso
from neve.ports import Key, WriteOp
from neve.scope import UserScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.memories.written_memory import WrittenMemory, record_of

WAIT_S = 20.0
_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True)
class NewMemory(WrittenMemory):
    """What the caller chose."""

    kind: Kind = Kind.MANUAL


def create_memory(scope: UserScope, wanted: NewMemory, idempotency_key: IdempotencyKey | None = None) -> Memory:
    """The stored row. One batch read, one transaction. Raises session_not_found, erasing, user_closed,
    idempotency_mismatch, StoreUnavailable."""
    memory_id = f"mem_{scope.ports.ids.ulid(scope.ports.clock.now())}"
    return transact(scope.ports, lambda: _create_once(scope, wanted, memory_id, idempotency_key))


def _create_once(scope: UserScope, wanted: NewMemory, memory_id: str, idem: IdempotencyKey | None) -> Memory:
    keys, now = scope.keys, scope.ports.clock.now()
    found = scope.ports.table.get_many(_rows_to_read(keys, wanted, idem))
    if idem:
        earlier = idempotency.replay(found.get(idempotency.row_key(keys, idem)), idem, now)
        if earlier:
            return _replayed(scope, earlier)
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    provenance = Provenance("human_edit", wanted.session_id, trust="user")
    memory = record_of(wanted, memory_id, provenance, iso(now), head.gen, scope.count)
    ops: list[WriteOp] = [rows.guard_user(keys, head, now), rows.put_memory(keys, memory)]
    if wanted.session_id is not None:
        marker_item = found.get(keys.of_session(wanted.session_id).marker)
        if marker_item is None:
            raise not_found("session", wanted.session_id)
        if memory.scope is Scope.SESSION:
            marker = rows.read_marker(marker_item)
            row = LiveRow(memory.id, memory.kind, memory.tokens)
            ops.append(rows.put_marker(keys, replace(marker, live=(*marker.live, row))))
    if idem:
        reply = StoredReply(status=201, body={"id": memory.id})
        ops.append(idempotency.done(keys, idem, reply, now))
    scope.ports.table.write(ops)
    return replace(memory, version=1)


def wait_until_embedded(scope: UserScope, memory: Memory) -> Memory:
    """The row once its embedding is no longer pending, or as it stands after 20 s."""
    clock = scope.ports.clock
    end = clock.monotonic_ms() + WAIT_S * 1000
    while memory.embedding_state is EmbeddingState.PENDING and clock.monotonic_ms() < end:
        clock.sleep(_PAUSE_S)
        item = scope.ports.table.get(scope.keys.memory(memory.id))
        if item is None:
            return memory
        memory = rows.read_memory(item)
    return memory


def _rows_to_read(keys: UserKeys, wanted: NewMemory, idem: IdempotencyKey | None) -> list[Key]:
    wanted_rows = [keys.head]
    if wanted.session_id is not None:
        wanted_rows.append(keys.of_session(wanted.session_id).marker)
    if idem:
        wanted_rows.append(idempotency.row_key(keys, idem))
    return wanted_rows


def _replayed(scope: UserScope, earlier: StoredReply) -> Memory:
    item = scope.ports.table.get(scope.keys.memory(earlier.body["id"]))
    if item is None:
        raise not_found("memory", earlier.body["id"])
    return rows.read_memory(item)
