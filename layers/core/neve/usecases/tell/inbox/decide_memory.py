"""A decision about a fact that waits: kept, put away, kept in other words, or kept in the place of another."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neve.domain.errors import invalid, not_found
from neve.domain.memories.revised import revised
from neve.domain.memories.statements import normalised
from neve.domain.memories.supersede import superseded
from neve.domain.memories.text import fingerprint, referenced_date
from neve.domain.memories.visibility import being_replaced, status_at
from neve.domain.records.memories import By, Memory, Scope, Status
from neve.domain.times import iso
from neve.ports.table import WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside
from neve.usecases.tell.inbox.decision import Decision, decided_already
from neve.usecases.tell.memories.edited_text import leave_text
from neve.usecases.tell.memories.fact_place import one_statement, take_place

REASON = "a person decided that another statement holds"


@dataclass
class MemoryDecision:
    """One call. ``write_id`` names it on the rows (ADR 4)."""

    scope: UserScope
    memory_id: str
    decision: Decision
    write_id: str
    beside: Beside[Memory]

    def attempt(self) -> Memory:
        """Try once. Raises Conflict."""
        keys, table = self.scope.keys, self.scope.ports.table
        now = iso(self.scope.ports.clock.now())
        found = table.get_many([keys.head, keys.memory(self.memory_id)])
        item, head = found.get(keys.memory(self.memory_id)), rows.read_head(found.get(keys.head))
        rows.writable(head)
        if item is None:
            raise not_found("inbox_item", self.memory_id)
        memory = rows.read_memory(item)
        if memory.write_id == self.write_id:  # our own commit, whose response was lost
            return memory
        status = status_at(memory, head.gen)  # the row follows a replacement
        if status is not Status.INBOX:
            raise decided_already(status)
        decided = revised(replace(self._decided(memory, now), write_id=self.write_id), now)
        of_another: list[Memory] = []
        ops: list[WriteOp] = []
        if self.decision.choice == "supersede":
            decided, gone, ops = self._in_place_of_another(decided, now)
            of_another.append(gone)
        ops.insert(0, rows.guard_user(keys, head, self.scope.ports.clock.now(), [decided, *of_another]))
        ops += [rows.put_memory(keys, decided), *take_place(self.scope, decided, memory)]
        if decided.text != memory.text:
            leave_text(self.scope, decided, memory)
        left = replace(decided, version=memory.version + 1)
        table.write([*ops, *self.beside(left)])
        return left

    def _decided(self, memory: Memory, now: str) -> Memory:
        """Make the row as it is decided. Raises 422."""
        decision = self.decision
        if decision.choice == "reject":
            return replace(memory, status=Status.ARCHIVED)
        if decision.choice == "edit" and (decision.text, decision.category, decision.importance) == (None, None, None):
            raise invalid("text", "is required, or another field to keep")
        text = memory.text if decision.text is None else normalised(decision.text)
        by: By = "user_confirmed" if text == memory.text else "human_edit"
        decided = replace(
            memory,
            status=Status.ACTIVE,
            text=text,
            category=decision.category or memory.category,
            importance=decision.importance or memory.importance,
            provenance=replace(memory.provenance, by=by, trust="user"),
            person_at=now,
            confidence=1.0,
        )
        if text != memory.text:
            decided = replace(
                decided,
                passages=(),
                restatements=(),
                fingerprint=fingerprint(text),
                referenced_date=referenced_date(text),
                tokens=self.scope.count(text),
                written_by=None,
            )
            one_statement(decided)
        return decided

    def _in_place_of_another(self, decided: Memory, now: str) -> tuple[Memory, Memory, list[WriteOp]]:
        """Give what holds, what does not any more, and what is written of that. Raises 422, memory_not_found,
        conflict."""
        keys, table = self.scope.keys, self.scope.ports.table
        target_id = self.decision.target_id or (decided.judged.target_id if decided.judged else None)
        if target_id is None:
            raise invalid("target_id", "is required: the fact does not name the memory that it supersedes")
        item = table.get(keys.memory(target_id)) if target_id != decided.id else None
        if item is None:
            raise not_found("memory", target_id)
        target = rows.read_memory(item)
        if target.status is not Status.ACTIVE or being_replaced(target):
            raise decided_already(f"{target_id} is {target.status}")
        gone = superseded(target, by=decided.id, reason=self.decision.reason or REASON, at=now)
        gone = replace(gone, write_id=self.write_id)
        ops: list[WriteOp] = [rows.put_memory(keys, gone)]
        if target.session_id is not None and target.scope is Scope.SESSION:
            marker_item = table.get(keys.of_session(target.session_id).marker)
            if marker_item is not None:
                marker = rows.read_marker(marker_item)
                live = tuple(row for row in marker.live if row.id != target.id)
                ops.append(rows.put_marker(keys, replace(marker, live=live)))
        return replace(decided, supersedes=(*decided.supersedes, target.id)), gone, ops
