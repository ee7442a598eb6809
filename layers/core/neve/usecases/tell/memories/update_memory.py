"""E9 PATCH: change one memory in place. ``rev`` moves with what is searched and filtered by: text, status, category,
group, tags, metadata, whether it is never recalled and when it holds. Priority, importance, label, confidence and what
a session's summary says beside its text leave it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from neve.domain.errors import NeveError, invalid, lost_to_writer
from neve.domain.memories.live_rows import live_row
from neve.domain.memories.revised import revised
from neve.domain.memories.text import fingerprint, referenced_date
from neve.domain.memories.visibility import being_replaced
from neve.domain.memories.written_memory import SCREENED_FIELDS
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.retract.derived import goes_with
from neve.domain.times import iso
from neve.domain.validity import require_span
from neve.ports.table import WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.store.transact import TOO_MANY_WRITERS, transact
from neve.usecases.core.privacy.admit import admit
from neve.usecases.tell.memories.copies.also_in import AlsoIn, also_in
from neve.usecases.tell.memories.edited_text import leave_text
from neve.usecases.tell.memories.fact_place import one_statement, take_place
from neve.usecases.tell.memories.memory_to_change import memory_to_change

REVISED_BY = ("text", "status", "category", "group", "tags", "metadata", "never_recall", "valid_from", "valid_until")
"""Fields whose change moves ``rev``."""
ONLY_OF = {
    "category": Kind.FACT,
    "outcome": Kind.SESSION_SUMMARY,
    "emotional_tone": Kind.SESSION_SUMMARY,
    "key_topics": Kind.SESSION_SUMMARY,
}
"""Fields that one kind has."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """The fields to change. Field name -> new value; a field that is not there stays."""

    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reworded:
    """The changed memory. ``also_in``: where else what it said before may stand; None where it says what it said."""

    memory: Memory
    also_in: AlsoIn | None


def update_memory(scope: UserScope, memory_id: str, change: MemoryChange, if_match: Collection[int] | None) -> Memory:
    """Change the memory and give it. Raises memory_not_found, precondition_failed (another rev), 422 (a field of
    another kind, a fact with two statements), conflict (a superseded row, a fact that another one says, or a change
    that may have taken effect before others'), pii_blocked, erasing, user_closed."""
    return _update(scope, memory_id, change, if_match)[0]


def reword_memory(
    scope: UserScope,
    memory_id: str,
    change: MemoryChange,
    if_match: Collection[int] | None,
    beside: Beside[Reworded] = nothing_beside,
) -> Reworded:
    """Change the memory as ``update_memory`` does, and find where else its old words may stand, which ``beside`` is not
    told yet. Raises what ``update_memory`` does."""
    memory, before = _update(scope, memory_id, change, if_match, lambda changed: beside(Reworded(changed, None)))
    if before is None or before.text == memory.text:
        return Reworded(memory, None)
    return Reworded(memory, also_in(scope, before, ()))


def _update(
    scope: UserScope,
    memory_id: str,
    change: MemoryChange,
    if_match: Collection[int] | None,
    beside: Beside[Memory] = nothing_beside,
) -> tuple[Memory, Memory | None]:
    update = _Update(scope, memory_id, _admitted(scope, change), if_match, scope.ports.ids.token(), beside)
    return transact(scope.ports, update.attempt), update.before


def _admitted(scope: UserScope, change: MemoryChange) -> MemoryChange:
    """Take out of a change what the gate takes out."""
    given = {name: change.fields[name] for name in SCREENED_FIELDS if change.fields.get(name)}
    return MemoryChange(change.fields | admit(scope, given))


@dataclass
class _Update:
    """One call. ``write_id`` names it on the row (ADR 4). ``tried``: what its last attempt wrote, and ``before``: over
    what."""

    scope: UserScope
    memory_id: str
    change: MemoryChange
    if_match: Collection[int] | None
    write_id: str
    beside: Beside[Memory]
    tried: Memory | None = None
    before: Memory | None = None

    def attempt(self) -> Memory:
        """Make one read, another after a conflict, and at most one transaction. Raises Conflict."""
        scope, keys, now = self.scope, self.scope.keys, self.scope.ports.clock.now()
        own = self._made_before(self.tried) if self.tried else None
        if own is not None:
            return own
        head, memory = memory_to_change(scope, self.memory_id, self.if_match)
        if memory.status is Status.SUPERSEDED or being_replaced(memory):
            raise NeveError("conflict", "A superseded memory cannot be changed.")
        _refuse_other_kinds_fields(memory, self.change.fields)
        changed = _changed(scope, memory, self.change.fields, iso(now))
        if changed == memory:
            return memory
        if memory.status is Status.ARCHIVED and changed.status is not Status.ARCHIVED:
            self._refuse_taken_back(memory)
        changed = replace(changed, write_id=self.write_id)
        ops: list[WriteOp] = [rows.guard_user(keys, head, now, [changed]), rows.put_memory(keys, changed)]
        ops += take_place(scope, changed, memory)
        if changed.text != memory.text:
            one_statement(changed)
            leave_text(scope, changed, memory)
        if changed.session_id and changed.tokens != memory.tokens:
            marker_item = scope.ports.table.get(keys.of_session(changed.session_id).marker)
            if marker_item:
                ops.append(rows.put_marker(keys, _with_new_count(rows.read_marker(marker_item), changed)))
        self.tried, self.before = changed, memory
        left = replace(changed, version=memory.version + 1)
        scope.ports.table.write([*ops, *self.beside(left)])
        return left

    def _refuse_taken_back(self, memory: Memory) -> None:
        """Refuse to bring a memory back that was put away, where the events that it was made of were taken back since:
        a retraction leaves what was put away where it is. Raises 409, unless it is a fact that was said elsewhere
        too."""
        if memory.session_id is None or memory.restatements:
            return
        item = self.scope.ports.table.get(self.scope.keys.of_session(memory.session_id).session_head)
        if item is not None and goes_with(memory, rows.read_session(item)):
            raise NeveError("conflict", "What this memory was made of has been taken back.")

    def _made_before(self, tried: Memory) -> Memory | None:
        """Find what the attempt made that seemed to have lost; None when it has. With ``If-Match``, a row that others
        have taken further than that does not say whether it had: 409, and a caller that tries again is told 412."""
        keys = self.scope.keys
        row, deleted = keys.memory(self.memory_id), keys.deleted_memory(self.memory_id)
        found = self.scope.ports.table.get_many([row, deleted])
        memory = rows.read_memory(found[row]) if row in found else None
        if memory is not None and memory.write_id == self.write_id:
            return memory
        further = memory.rev > tried.rev if memory else rows.deleted_rev(found.get(deleted)) >= tried.rev
        if further and self.if_match is not None:
            raise lost_to_writer(TOO_MANY_WRITERS)
        return None


def _refuse_other_kinds_fields(memory: Memory, fields: dict[str, Any]) -> None:
    """Refuse a field that the memory's kind does not have. Raises 422."""
    for name in fields:
        if name in ONLY_OF and memory.kind is not ONLY_OF[name]:
            raise invalid(name, f"is a field of the kind {ONLY_OF[name]}")


def _changed(scope: UserScope, memory: Memory, fields: dict[str, Any], now: str) -> Memory:
    changed = replace(memory, **fields)
    if changed.text != memory.text:
        changed = replace(
            changed,
            passages=(),
            restatements=(),
            fingerprint=fingerprint(changed.text),
            referenced_date=referenced_date(changed.text),
            tokens=scope.count(changed.text),
            provenance=replace(memory.provenance, by="human_edit", trust="user"),
            person_at=now,
            written_by=None,
        )
    require_span(changed.valid_from, changed.valid_until)
    if any(getattr(changed, name) != getattr(memory, name) for name in REVISED_BY):
        changed = revised(changed, now)
    return changed


def _with_new_count(marker: SessionMarker, memory: Memory) -> SessionMarker:
    """Put the row's new token count into the live list: the reflection trigger adds it up."""
    row = live_row(memory)
    return replace(marker, live=tuple(row if old.id == memory.id else old for old in marker.live))
