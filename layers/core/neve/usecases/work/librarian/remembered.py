"""Finds what a person has corrected of what is remembered of a session: its documents must not say the old words again
(docs/rules/librarian.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neve.domain.librarian.filing import Remembered
from neve.domain.memories.made_of import whole_range
from neve.domain.memories.visibility import may_be_told
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Memory
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.scope import SessionScope
from neve.store.memories import active_memories, memories_of


def remembered_of(scope: SessionScope, user: UserHead, marker: SessionMarker) -> tuple[Remembered, ...]:
    """Read all that is remembered of the session, oldest first, where a person has corrected any of it; else nothing.
    One read, and another one where what a person had said took the place of an older one. Raises StoreUnavailable."""
    at = iso(scope.ports.clock.now())
    live = active_memories(scope.ports.table, scope.keys, (row.id for row in marker.live), user.gen, at)
    own = [memory for memory in live if memory.session_id == scope.session and may_be_told(memory, None)]
    corrected = [memory for memory in own if memory.provenance.by_hand]
    if not corrected:
        return ()
    older = _replaced_by(scope, corrected)
    return tuple(_remembered(scope, memory, older.get(memory.id, memory)) for memory in own)


def corrections(remembered: Iterable[Remembered]) -> frozenset[Remembered]:
    """Choose those that say something else than the events that they were made from."""
    return frozenset(one for one in remembered if one.corrected_at is not None and one.first is not None)


def _replaced_by(scope: SessionScope, corrected: Sequence[Memory]) -> dict[str, Memory]:
    """Read the older memory by the id of the newer one; where that does not say what it was made from, or written over,
    the older does."""
    silent = [one for one in corrected if one.provenance.seq_from is None and not one.written_over]
    newer = {old: memory.id for memory in silent for old in memory.supersedes}
    found = memories_of(scope.ports.table, scope.keys, newer)
    return {newer[old.id]: old for old in found if old.provenance.seq_from is not None}


def _remembered(scope: SessionScope, memory: Memory, made_as: Memory) -> Remembered:
    """Make one entry. ``made_as``: which of the two memories says where it comes from."""
    at = (memory.person_at or memory.created_at) if memory.provenance.by_hand else None
    return Remembered(memory.text, *whole_range(made_as, scope.session), at)
