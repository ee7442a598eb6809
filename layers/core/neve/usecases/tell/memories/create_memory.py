"""E9 POST: keep one memory that the caller wrote, as it is. Facts go through ``store_fact.py``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from neve.domain.errors import not_found
from neve.domain.memories.live_rows import live_row
from neve.domain.memories.written_memory import SCREENED_FIELDS, WrittenMemory, record_of
from neve.domain.records.memories import EmbeddingState, Kind, Memory, Provenance, Scope
from neve.domain.times import iso
from neve.ports.table import Item, Key, WriteOp
from neve.scope import UserScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.transact import transact
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.core.privacy.admit import admitted

WAIT_MS = 20_000.0
"""How long a call may wait for vectors that it asked for."""
_PAUSE_S = 0.02


@dataclass(frozen=True, slots=True)
class NewMemory(WrittenMemory):
    """The memory as the caller chose it."""

    kind: Kind = Kind.MANUAL


def create_memory(scope: UserScope, wanted: NewMemory, idempotency_key: IdempotencyKey | None = None) -> Memory:
    """Store the memory and give its row. One batch read, one transaction. Raises session_not_found, 422 (the session
    has no room), erasing, user_closed, idempotency_mismatch, pii_blocked, StoreUnavailable."""
    wanted = admitted(scope, wanted, SCREENED_FIELDS)
    memory_id = f"mem_{scope.ports.ids.ulid(scope.ports.clock.now())}"
    return transact(scope.ports, _Create(scope, wanted, memory_id, idempotency_key).attempt)


@dataclass
class _Create:
    """One call. ``memory_id`` is this call's own: where a row has it, an earlier attempt took effect (ADR 4).
    ``tried``: what that attempt wrote."""

    scope: UserScope
    wanted: NewMemory
    memory_id: str
    idem: IdempotencyKey | None
    tried: Memory | None = None

    def attempt(self) -> Memory:
        """Make one read and at most one transaction. Raises Conflict."""
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        found = self.scope.ports.table.get_many(self._rows_to_read())
        own = self._made_before(found)
        if own is not None:
            return own
        if self.idem:
            earlier = idempotency.replay(found.get(idempotency.row_key(keys, self.idem)), self.idem, now)
            if earlier:
                return _replayed(self.scope, earlier)
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        provenance = Provenance("human_edit", self.wanted.session_id, trust="user")
        memory = record_of(self.wanted, self.memory_id, provenance, iso(now), head.gen, self.scope.count)
        ops: list[WriteOp] = [rows.guard_user(keys, head, now), rows.put_memory(keys, memory)]
        ops += self._joined(found, memory)
        if self.idem:
            reply = StoredReply(status=201, body={"id": memory.id})
            used_up = found.get(idempotency.row_key(keys, self.idem))
            ops.append(idempotency.done(keys, self.idem, reply, now, idempotency.taken_over(used_up)))
        self.tried = memory
        self.scope.ports.table.write(ops)
        return replace(memory, version=1)

    def _rows_to_read(self) -> list[Key]:
        keys = self.scope.keys
        wanted_rows = [keys.head]
        if self.wanted.session_id is not None:
            wanted_rows.append(keys.of_session(self.wanted.session_id).marker)
        if self.idem:
            wanted_rows.append(idempotency.row_key(keys, self.idem))
        if self.tried:
            wanted_rows += [keys.memory(self.memory_id), keys.deleted_memory(self.memory_id)]
        return wanted_rows

    def _made_before(self, found: Mapping[Key, Item]) -> Memory | None:
        """Return what an earlier attempt has made, as it was made, whatever became of it since. Made once more it would
        stand beside itself, or beside its own deletion."""
        keys = self.scope.keys
        there = keys.memory(self.memory_id) in found or keys.deleted_memory(self.memory_id) in found
        return replace(self.tried, version=1) if self.tried and there else None

    def _joined(self, found: Mapping[Key, Item], memory: Memory) -> list[WriteOp]:
        """Put the memory into the session's live list, where it has a session. Raises session_not_found, 422 where it
        has no room."""
        if self.wanted.session_id is None:
            return []
        place = self.scope.keys.of_session(self.wanted.session_id).marker
        if not rows.is_there(found, place):
            raise not_found("session", self.wanted.session_id)
        item = found[place]
        if memory.scope is not Scope.SESSION:
            return []
        marker, row = rows.read_marker(item), live_row(memory)
        rows.need_live_room(item, [row])
        return [rows.put_marker(self.scope.keys, replace(marker, live=(*marker.live, row)))]


def wait_until_embedded(scope: UserScope, memory: Memory, ends_ms: float) -> Memory:
    """Wait until the row's embedding is no longer pending, or until ``ends_ms``, and give the row as it stands then."""
    clock = scope.ports.clock
    while memory.embedding_state is EmbeddingState.PENDING and clock.monotonic_ms() < ends_ms:
        clock.sleep(_PAUSE_S)
        item = scope.ports.table.get(scope.keys.memory(memory.id))
        if item is None:
            return memory
        memory = rows.read_memory(item)
    return memory


def _replayed(scope: UserScope, earlier: StoredReply) -> Memory:
    """Read the memory of an earlier call as it is now. Raises memory_not_found, also for a user who is being erased."""
    return get_memory(scope, earlier.body["id"])
