"""E9 trace: what a memory replaced and what replaced it, and which recalls surfaced it, in which place."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.memories.visibility import born
from neve.domain.records.memories import Memory
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.memories.list_memories import as_seen, get_memory
from neve.usecases.ask.recall.record_recall import RETURNED, last_recalls

MAX_RECALLS = 200
"""Newest recalls of the user that are looked through."""
MAX_HISTORY = 100
"""Statements of one history."""


@dataclass(frozen=True, slots=True)
class Surfaced:
    """One recall that answered with the memory."""

    recall_id: str
    at: str
    mode: str
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of a memory. ``history``: every statement that is linked to this one by supersession, itself included,
    oldest first. ``recalls_examined``: how many there were to look at. ``summary`` says it in words."""

    memory_id: str
    history: list[Memory]
    recalls_examined: int
    surfaced: list[Surfaced]
    summary: str


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
    return Trace(memory_id, _history(scope, memory), len(recalls), surfaced, _in_words(len(recalls), surfaced))


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
