"""E9 evolve: a statement takes the place of a memory that no longer holds (docs/rules/facts.md#evolve)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from neve.domain.errors import NeveError, invalid
from neve.domain.memories.fact_statements import let_in_by, statement_of, with_statement
from neve.domain.memories.live_rows import live_row
from neve.domain.memories.made_of import evolved_over
from neve.domain.memories.revised import revised, with_times_of
from neve.domain.memories.statements import normalised
from neve.domain.memories.supersede import superseded
from neve.domain.memories.text import fingerprint, observed_date, referenced_date, time_of_day
from neve.domain.memories.visibility import being_replaced
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import (
    By,
    Category,
    Kind,
    Memory,
    Priority,
    Provenance,
    Scope,
    Status,
    Trust,
    WrittenBy,
)
from neve.domain.times import iso
from neve.ports.table import Key, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.store.transact import transact
from neve.usecases.core.privacy.admit import admitted
from neve.usecases.tell.memories.fact_place import holder_of, one_statement, place_key
from neve.usecases.tell.memories.memory_to_change import memory_to_change


@dataclass(frozen=True, slots=True)
class Evolution:
    """The statement that takes the place. ``text``: what holds now; ``reason``: why, for the trace. None = as it
    was; of the times between which it holds: always. ``written_by``: a model, and not a person."""

    text: str
    reason: str
    category: Category | None = None
    importance: int | None = None
    priority: Priority | None = None
    tags: tuple[str, ...] | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    written_by: WrittenBy | None = None

    @property
    def origin(self) -> tuple[By, Trust]:
        return ("assistant", "assistant") if self.written_by == "model" else ("human_edit", "user")


def evolve_memory(
    scope: UserScope,
    memory_id: str,
    evolution: Evolution,
    if_match: Collection[int] | None = None,
    beside: Beside[Memory] = nothing_beside,
) -> Memory:
    """Replace the memory and give what holds now: a new row, or the fact that says so already. One transaction. Raises
    memory_not_found, 422 (the same text, a fact with two statements, a category of what is no fact, a session without
    room), conflict (the memory is not active, be it since a moment ago), precondition_failed, pii_blocked, erasing,
    user_closed."""
    ids, evolution = scope.ports.ids, admitted(scope, evolution, ("text", "reason", "tags"))
    evolve = _Evolve(scope, memory_id, evolution, if_match, ids.token(), _new_id(scope), beside)
    return transact(scope.ports, evolve.attempt)


def _new_id(scope: UserScope) -> str:
    return f"mem_{scope.ports.ids.ulid(scope.ports.clock.now())}"


@dataclass
class _Evolve:
    """One call. ``write_id`` names it on the rows (ADR 4). ``tried``: what its last attempt was to leave."""

    scope: UserScope
    memory_id: str
    evolution: Evolution
    if_match: Collection[int] | None
    write_id: str
    new_id: str
    beside: Beside[Memory]
    tried: list[Memory] = field(default_factory=list)

    def attempt(self) -> Memory:
        """Try once. Raises Conflict."""
        scope, keys, now = self.scope, self.scope.keys, self.scope.ports.clock.now()
        if self.tried and self._is_done():
            return self.tried[0]
        head, old = memory_to_change(scope, self.memory_id, self.if_match)
        if old.status is not Status.ACTIVE or being_replaced(old):
            raise NeveError("conflict", f"The memory is {old.status}, and only an active one can evolve.")
        new = self._successor(old, iso(now), head.gen)
        place, holder = holder_of(scope, new.text) if new.has_place else (None, None)
        if holder is not None and holder.id != old.id:  # else it is reworded, and stays where it is
            new = with_times_of(_said_again(holder, new, iso(now)), new, iso(now), iso(now))
        new = replace(new, supersedes=(*new.supersedes, old.id), write_id=self.write_id)
        gone = superseded(old, by=new.id, reason=self.evolution.reason, at=iso(now))
        gone = replace(gone, write_id=self.write_id)
        ops: list[WriteOp] = [
            rows.guard_user(keys, head, now, [gone]),
            rows.put_memory(keys, new),
            rows.put_memory(keys, gone),
        ]
        if new.has_place and new.version == 0:
            ops.append(rows.put_place(place_key(keys, new.text), new.id, place))
        ops += self._swap_in_live_list(old, new)
        self.tried = [replace(new, version=new.version + 1)]
        scope.ports.table.write([*ops, *self.beside(self.tried[0])])
        return self.tried[0]

    def _successor(self, old: Memory, now: str, gen: int) -> Memory:
        """Make the new row, without the topics and the tone that were drawn from the log beside the old text. Raises
        422."""
        wanted, text = self.evolution, normalised(self.evolution.text)
        by, trust = wanted.origin
        if wanted.category is not None and old.kind is not Kind.FACT:
            raise invalid("category", "is a field of the kind fact")
        new = Memory(
            id=self.new_id,
            kind=old.kind,
            tier=old.tier,
            scope=old.scope,
            session_id=old.session_id,
            text=text,
            priority=wanted.priority or old.priority,
            importance=wanted.importance if wanted.importance is not None else old.importance,
            fingerprint=fingerprint(text),
            status=Status.ACTIVE,
            provenance=Provenance(by, old.session_id, trust=trust),
            created_at=now,
            observed_at=now,
            observed_date=observed_date(now, "UTC"),
            time_of_day=time_of_day(now, "UTC"),
            referenced_date=referenced_date(text),
            last_used_at=now,
            person_at=None if wanted.written_by else now,
            written_over=evolved_over(old),
            tokens=self.scope.count(text),
            rev=1,
            rev_at=now,
            born_gen=gen,
            category=wanted.category or old.category,
            outcome=old.outcome,
            label=old.label,
            group=old.group,
            tags=wanted.tags if wanted.tags is not None else old.tags,
            metadata=old.metadata,
            never_recall=old.never_recall,
            valid_from=wanted.valid_from,
            valid_until=wanted.valid_until,
            written_by=wanted.written_by,
            about=old.about,
            audience=old.audience,
        )
        if new.fingerprint == old.fingerprint:
            raise invalid("text", "is the same as the memory's text; change other fields with PATCH")
        one_statement(new)
        return new

    def _swap_in_live_list(self, old: Memory, new: Memory) -> list[WriteOp]:
        """Put the new one in the place of the old one in the session's live list. Raises 422 where it has no room."""
        if old.session_id is None or old.scope is not Scope.SESSION:
            return []
        item = self.scope.ports.table.get(self.scope.keys.of_session(old.session_id).marker)
        if item is None:
            return []
        marker = rows.read_marker(item)
        moved = _with_successor(marker, old, new)
        listed = {row.id for row in marker.live}
        rows.need_live_room(item, [row for row in moved.live if row.id not in listed], rows.LIVE_BYTES_OF_PASSES)
        return [rows.put_marker(self.scope.keys, moved)]

    def _is_done(self) -> bool:
        """Say whether the attempt that seemed to have lost took effect."""
        keys, old = self.scope.keys, self.scope.keys.memory(self.memory_id)
        own: list[Key] = [keys.memory(self.new_id), keys.deleted_memory(self.new_id)]
        found = self.scope.ports.table.get_many([old, *own])
        return any(key in found for key in own) or (old in found and found[old].get("write_id") == self.write_id)


def _said_again(holder: Memory, new: Memory, now: str) -> Memory:
    """Add a person's word to the fact that says ``new`` already. It lets a fact in that waits in the inbox. A model's
    word does not. Raises conflict."""
    if new.written_by and holder.status is not Status.ACTIVE:
        raise NeveError("conflict", f"Memory '{holder.id}' says so, and waits for a person.")
    if holder.status is Status.ACTIVE:
        again = with_statement(holder, statement_of(new.provenance, now, new.text))
        return replace(again, last_used_at=now, person_at=new.person_at or holder.person_at)
    let_in = let_in_by(holder, new.provenance, now, counts=True)
    let_in = replace(let_in, status=Status.ACTIVE, confidence=new.confidence, last_used_at=now, person_at=now)
    return revised(let_in, now)


def _with_successor(marker: SessionMarker, old: Memory, new: Memory) -> SessionMarker:
    live = tuple(row for row in marker.live if row.id != old.id)
    if new.session_id == marker.session_id and new.scope is Scope.SESSION and all(row.id != new.id for row in live):
        live = (*live, live_row(new))
    return replace(marker, live=live)
