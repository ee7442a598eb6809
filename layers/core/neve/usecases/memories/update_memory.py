"""E9 PATCH: change one memory in place. ``rev`` moves with text, status, group, tags and scope; priority, importance,
label and confidence are not searched by, so they leave it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from neve.domain.errors import NeveError
from neve.domain.observe.text import fingerprint, referenced_date
from neve.domain.records import EmbeddingState, LiveRow, Memory, SessionMarker, Status
from neve.domain.times import iso
from neve.ports import Delete, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.transact import transact
from neve.usecases.memories.memory_to_change import memory_to_change

REVISED_BY = ("text", "status", "group", "tags")
"""Fields whose change moves ``rev``."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """Field name -> new value; a field that is not there stays."""

    fields: dict[str, Any]


def update_memory(scope: UserScope, memory_id: str, change: MemoryChange, if_match: Collection[int] | None) -> Memory:
    """Raises memory_not_found, precondition_failed (another rev), conflict (a superseded row), erasing, user_closed."""
    return transact(scope.ports, lambda: _update_once(scope, memory_id, change, if_match))


def _update_once(scope: UserScope, memory_id: str, change: MemoryChange, if_match: Collection[int] | None) -> Memory:
    keys, now = scope.keys, scope.ports.clock.now()
    head, memory = memory_to_change(scope, memory_id, if_match)
    if memory.status is Status.SUPERSEDED or memory.died_gen is not None:
        raise NeveError("conflict", "A superseded memory cannot be changed.")
    changed = _changed(scope, memory, change.fields, iso(now))
    if changed == memory:
        return memory
    ops: list[WriteOp] = [rows.guard_user(keys, head, now), rows.put_memory(keys, changed)]
    if changed.text != memory.text:
        ops.append(Delete(keys.tokens_of(memory_id)))
    if changed.session_id and changed.tokens != memory.tokens:
        marker_item = scope.ports.table.get(keys.of_session(changed.session_id).marker)
        if marker_item:
            ops.append(rows.put_marker(keys, _recounted(rows.read_marker(marker_item), changed)))
    scope.ports.table.write(ops)
    return replace(changed, version=memory.version + 1)


def _changed(scope: UserScope, memory: Memory, fields: dict[str, Any], now: str) -> Memory:
    changed = replace(memory, **fields)
    if changed.text != memory.text:
        changed = replace(
            changed,
            passages=(),
            fingerprint=fingerprint(changed.text),
            referenced_date=referenced_date(changed.text),
            tokens=scope.count(changed.text),
            provenance=replace(memory.provenance, by="human_edit", trust="user"),
        )
    if any(getattr(changed, name) != getattr(memory, name) for name in REVISED_BY):
        changed = replace(
            changed, rev=memory.rev + 1, rev_at=now, words_at=None, embedding_state=EmbeddingState.PENDING
        )
    return changed


def _recounted(marker: SessionMarker, memory: Memory) -> SessionMarker:
    """The live list with the row's new token count, which the reflection trigger adds up."""
    row = LiveRow(memory.id, memory.kind, memory.tokens)
    return replace(marker, live=tuple(row if old.id == memory.id else old for old in marker.live))
