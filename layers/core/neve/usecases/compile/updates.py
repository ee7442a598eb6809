"""What was stated since the pack was frozen (docs/rules/compile.md#updates): new notes, manual rows and facts, changes
of those that the pack holds, and the documents of the pack that are not what they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from neve.domain.memories.marks import text_with_marks
from neve.domain.memories.visibility import active, visible
from neve.domain.records import Kind, Memory, PackEntry, PackManifest, Scope, SessionEpoch, UserHead
from neve.ports import Item, Key, Task
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.compile.document_updates import DocumentUpdates
from neve.usecases.pack.pinned_documents import start_pins
from neve.usecases.pack.read_pack import PackView

STATED = (Kind.FACT, Kind.NOTE, Kind.MANUAL)
"""A person's own words. What passes and reflections write comes with the next pack."""
NEWEST = 50
"""Memories behind the pack that are looked at."""
FROM_THE_PACK = 30
"""Statements in the pack that are compared with their rows, the first ones of each layer."""


@dataclass(frozen=True, slots=True)
class Update:
    """``id``: of the memory or the document."""

    id: str
    text: str


def updates_since(scope: SessionScope, head: UserHead, epoch: SessionEpoch, pack: Task[PackView]) -> list[Update]:
    """Documents first, then the newest memories. Two reads one after the other: what is new, beside the pins of a user
    who has any; and the rows behind what the pack holds, in one batch. Raises StoreUnavailable."""
    if epoch.pack is None or head.state != "active":
        return []
    pins = start_pins(scope, head)
    since = scope.ports.ids.ulid(datetime.fromisoformat(epoch.pack.built_at))[:10]
    between = scope.keys.memories_since(since)
    page = scope.ports.table.query(scope.keys.partition, between=between, reverse=True, limit=NEWEST)
    found = [rows.read_memory(item) for item in page.items]
    new = [
        Update(memory.id, text_with_marks(memory)) for memory in found if _new(scope, memory, head, epoch.pack.built_at)
    ]
    view = pack.result()
    if view.manifest is None:
        return new
    documents = DocumentUpdates.of(view, pins.result() if pins else [])
    stated = _stated(view.manifest)
    wanted = [*(scope.keys.memory(entry.id) for entry in stated), *documents.rows(scope.keys)]
    read = scope.ports.table.get_many(wanted) if wanted else {}
    changed = [Update(*one) for one in documents.lines(scope.keys, read)]
    return changed + new + _changed(scope, head, stated, read)


def _new(scope: SessionScope, memory: Memory, head: UserHead, built_at: str) -> bool:
    here = memory.scope is Scope.GLOBAL or memory.session_id == scope.session
    return memory.kind in STATED and here and memory.created_at > built_at and active(memory, head.gen)


def _stated(manifest: PackManifest) -> list[PackEntry]:
    """Few: most of a pack was observed."""
    return [entry for layer in manifest.layers.values() for entry in layer if entry.kind in STATED][:FROM_THE_PACK]


def _changed(
    scope: SessionScope, head: UserHead, stated: Sequence[PackEntry], found: Mapping[Key, Item]
) -> list[Update]:
    revs = {scope.keys.memory(entry.id): entry.rev for entry in stated}
    memories = [(rows.read_memory(found[key]), rev) for key, rev in revs.items() if key in found]
    moved = [memory for memory, rev in memories if memory.rev != rev]
    moved.sort(key=lambda memory: memory.id, reverse=True)
    return [_update(memory, head) for memory in moved if visible(memory.born_gen, None, head.gen)]


def _update(memory: Memory, head: UserHead) -> Update:
    if active(memory, head.gen):
        return Update(memory.id, f"Now: {text_with_marks(memory)}")
    return Update(memory.id, f"No longer holds: {memory.text}")
