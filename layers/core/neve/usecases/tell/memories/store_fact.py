"""Keep one fact, or say why not: the way of every fact, from the API, the observer and the librarian
(docs/rules/facts.md#decision)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from neve.domain.errors import invalid, not_found
from neve.domain.memories.statements import normalised, statements
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Via
from neve.ports.table import Item, Key, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.store.transact import transact
from neve.usecases.core.privacy.admit import admitted_candidate, screened_candidate
from neve.usecases.tell.memories.fact_writes import FactWrites, rows_of_facts, with_holders
from neve.usecases.tell.memories.stored_fact import StoredFact

FACT_BATCH_SIZE = 20
"""Facts of one transaction: three rows each."""


def store_fact(scope: UserScope, candidate: FactCandidate, *, via: Via) -> StoredFact:
    """Store one statement. Two batch reads at most, one transaction. Raises 422 (two statements; a session without
    room; pii_blocked, of a caller), session_not_found, erasing, user_closed, conflict, StoreUnavailable."""
    return store_facts(scope, [candidate], via=via)[0]


def store_facts(
    scope: UserScope,
    candidates: Sequence[FactCandidate],
    *,
    via: Via,
    beside: Beside[list[StoredFact]] = nothing_beside,
) -> list[StoredFact]:
    """Store up to ``FACT_BATCH_SIZE`` facts of one session, in order and all or none. Raises what ``store_fact``
    does."""
    for one in candidates:
        if len(statements(one.text)) > 1:
            raise invalid("text", "holds more than one statement; a fact is one (split=true keeps each by itself)")
    if len(candidates) > FACT_BATCH_SIZE:
        raise invalid("text", f"holds {len(candidates)} statements; {FACT_BATCH_SIZE} are accepted")
    gate = admitted_candidate if via in ("api", "model") else screened_candidate
    candidates = [gate(scope, one) for one in candidates]
    ids, now = scope.ports.ids, scope.ports.clock.now()
    named = [(replace(one, text=normalised(one.text)), f"mem_{ids.ulid(now)}") for one in candidates]
    return transact(scope.ports, _Store(scope, named, via, ids.token(), beside).attempt)


@dataclass
class _Store:
    """One call. ``write_id`` names it on the rows (ADR 4). ``tried``: what its last attempt wrote, by key."""

    scope: UserScope
    named: Sequence[tuple[FactCandidate, str]]
    via: Via
    write_id: str
    beside: Beside[list[StoredFact]]
    tried: list[StoredFact] = field(default_factory=list)

    def attempt(self) -> list[StoredFact]:
        """Try once. Raises Conflict."""
        scope, keys, now = self.scope, self.scope.keys, self.scope.ports.clock.now()
        if self._is_done():
            return self.tried
        found = with_holders(scope, scope.ports.table.get_many(self._rows_to_read()))
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        writes = FactWrites(scope, head.gen, found, self.via, self.write_id)
        stored = [writes.take(candidate, new_id) for candidate, new_id in self.named]
        ops: list[WriteOp] = [rows.guard_user(keys, head, now, writes.changed.values()), *writes.ops()]
        ops += self._joined(found, writes)
        if writes.changed:
            self.tried = [_written(one) for one in stored]
            scope.ports.table.write([*ops, *self.beside(self.tried)])
        return [_written(one) for one in stored]

    def _rows_to_read(self) -> list[Key]:
        keys = self.scope.keys
        markers = {keys.of_session(session).marker: None for session in self._sessions()}
        return [keys.head, *markers, *rows_of_facts(keys, (candidate for candidate, _ in self.named))]

    def _sessions(self) -> list[str]:
        sessions = (candidate.origin.session_id for candidate, _ in self.named)
        return list(dict.fromkeys(session for session in sessions if session is not None))

    def _joined(self, found: Mapping[Key, Item], writes: FactWrites) -> list[WriteOp]:
        """Write the live list of each session that the facts are of, or that one was of which they supersede. Raises
        session_not_found, 422 where it has no room."""
        own = self._sessions()
        ops = writes.left_elsewhere(own)
        for session in own:
            place = self.scope.keys.of_session(session).marker
            if not rows.is_there(found, place):
                raise not_found("session", session)
            item = found[place]
            marker = rows.read_marker(item)
            live = writes.live(session, marker.live)
            if live != marker.live:
                rows.need_live_room(item, writes.new_live(session))
                ops.append(rows.put_marker(self.scope.keys, replace(marker, live=live)))
        return ops

    def _is_done(self) -> bool:
        """Say whether the attempt that seemed to have lost took effect: a row has its id, or the name of this call, or
        was deleted since."""
        keys = self.scope.keys
        ids = [one.memory.id for one in self.tried if one.memory]
        if not ids:
            return False
        own = {new_id for _, new_id in self.named}
        wanted = [keys.memory(i) for i in ids] + [keys.deleted_memory(i) for i in ids if i in own]
        found = self.scope.ports.table.get_many(wanted)
        return any(
            item["type"] == "deleted_memory" or item["id"] in own or item.get("write_id") == self.write_id
            for item in found.values()
        )


def _written(one: StoredFact) -> StoredFact:
    return replace(one, memory=replace(one.memory, version=one.memory.version + 1)) if one.memory else one
