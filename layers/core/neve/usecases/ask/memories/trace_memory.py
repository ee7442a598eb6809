"""E9 trace: what a memory replaced and what replaced it, which recalls surfaced it, in which place, and which pack
versions hold it."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.memories.visibility import born
from neve.domain.records.memories import Memory
from neve.domain.records.packs import PackManifest
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import PACK
from neve.store.partitions import PAGE
from neve.usecases.ask.memories.list_memories import as_seen, get_memory
from neve.usecases.ask.recall.record_recall import RETURNED, last_recalls

MAX_RECALLS = 200
"""Newest recalls of the user that are looked through."""
MAX_HISTORY = 100
"""Statements of one history."""
MAX_PACKS = 20
"""Pack versions that are named, the newest (*chosen*)."""
PACK_QUERIES = 5
"""Queries of manifests, of 200 or of 1 MB each: as many as a user of a thousand versions has (*chosen*)."""


@dataclass(frozen=True, slots=True)
class Surfaced:
    """One recall that answered with the memory."""

    recall_id: str
    at: str
    mode: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Carried:
    """One pack version that holds the memory, in which layer and at which rev."""

    session_id: str
    pack_version: int
    trigger: str
    built_at: str
    layer: str
    rev: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of a memory. ``history``: every statement that is linked to this one by supersession, itself included,
    oldest first. ``recalls_examined``: how many there were to look at. ``summary`` says it in words.
    ``packs``: newest first; ``more_packs``: there are, or may be, others."""

    memory_id: str
    history: list[Memory]
    recalls_examined: int
    surfaced: list[Surfaced]
    summary: str
    packs: list[Carried]
    more_packs: bool


def trace_memory(scope: UserScope, memory_id: str) -> Trace:
    """Trace a memory among the user's last 200 recalls, newest first. Raises memory_not_found, StoreUnavailable."""
    memory = get_memory(scope, memory_id)
    recalls = last_recalls(scope, MAX_RECALLS)
    surfaced = [
        Surfaced(recall.id, recall.at, recall.mode, hit["rank"], hit["score"])
        for recall in recalls
        for hit in recall.hits
        if hit["id"] == memory_id and hit["outcome"] == RETURNED
    ]
    history, (packs, more) = _history(scope, memory), _packs(scope, memory_id)
    return Trace(memory_id, history, len(recalls), surfaced, _in_words(len(recalls), surfaced), packs, more)


def _packs(scope: UserScope, memory_id: str) -> tuple[list[Carried], bool]:
    """Look through the manifests of the user's packs, as many as there is room for; say whether others may hold it."""
    found: list[Carried] = []
    cursor: str | None = None
    for _ in range(PACK_QUERIES):
        page = scope.ports.table.query(scope.keys.partition, prefix=PACK, limit=PAGE, cursor=cursor)
        found += (one for item in page.items for one in _carried(rows.read_manifest(item), memory_id))
        cursor = page.cursor
        if cursor is None:
            break
    found.sort(key=lambda one: (one.built_at, one.session_id, one.pack_version), reverse=True)
    return found[:MAX_PACKS], cursor is not None or len(found) > MAX_PACKS


def _carried(manifest: PackManifest, memory_id: str) -> list[Carried]:
    entries = ((layer, entry) for layer, held in manifest.layers.items() for entry in held if entry.id == memory_id)
    place = (manifest.session_id, manifest.pack_version, manifest.trigger, manifest.built_at)
    return [Carried(*place, layer, entry.rev) for layer, entry in entries]


def _history(scope: UserScope, memory: Memory) -> list[Memory]:
    """Follow the links both ways, one batch read a step; a row that was deleted ends its way."""
    gen = rows.read_head(scope.ports.table.get(scope.keys.head)).gen
    known = {memory.id: memory}
    ahead = _linked(memory)
    while ahead and len(known) < MAX_HISTORY:
        wanted = [scope.keys.memory(i) for i in dict.fromkeys(ahead) if i not in known]
        found = scope.ports.table.get_many(wanted[: MAX_HISTORY - len(known)]) if wanted else {}
        seen = [as_seen(item, gen) for item in found.values() if born(item["born_gen"], gen)]
        known |= {one.id: one for one in seen}
        ahead = [linked for one in seen for linked in _linked(one)]
    return sorted(known.values(), key=lambda one: (one.created_at, one.id))


def _linked(memory: Memory) -> list[str]:
    return [*memory.supersedes, *([memory.superseded_by] if memory.superseded_by else [])]


def _in_words(examined: int, surfaced: list[Surfaced]) -> str:
    if not examined:
        return "Never recalled: there was no recall yet."
    recalls = f"last {examined} recalls" if examined > 1 else "last recall"
    if not surfaced:
        return f"Never recalled in the {recalls}."
    best = min(one.rank for one in surfaced)
    return f"Recalled {len(surfaced)} times in the {recalls}, at best in place {best}."
