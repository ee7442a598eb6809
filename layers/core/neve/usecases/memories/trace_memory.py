"""E9 trace: which recalls surfaced a memory, and in which place."""

from __future__ import annotations

from dataclasses import dataclass

from neve.scope import UserScope
from neve.usecases.memories.list_memories import get_memory
from neve.usecases.recall.read_recalls import list_recalls
from neve.usecases.recall.record_recall import RETURNED, RecallRecord

MAX_RECALLS = 200
"""Newest recalls of the user that are looked through."""


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
    """``recalls_examined``: how many there were to look at. ``summary`` says it in words."""

    memory_id: str
    recalls_examined: int
    surfaced: list[Surfaced]
    summary: str


def trace_memory(scope: UserScope, memory_id: str) -> Trace:
    """Among the user's last 200 recalls, newest first. Raises memory_not_found, StoreUnavailable."""
    get_memory(scope, memory_id)
    recalls: list[RecallRecord] = []
    cursor: str | None = None
    while len(recalls) < MAX_RECALLS:
        page, cursor = list_recalls(scope, MAX_RECALLS - len(recalls), cursor)
        recalls += page
        if cursor is None:
            break
    surfaced = [
        Surfaced(recall.id, recall.at, recall.mode, hit["rank"], hit["score"])
        for recall in recalls
        for hit in recall.hits
        if hit["id"] == memory_id and hit["outcome"] == RETURNED
    ]
    return Trace(memory_id, len(recalls), surfaced, _in_words(len(recalls), surfaced))


def _in_words(examined: int, surfaced: list[Surfaced]) -> str:
    if not examined:
        return "Never recalled: there was no recall yet."
    recalls = f"last {examined} recalls" if examined > 1 else "last recall"
    if not surfaced:
        return f"Never recalled in the {recalls}."
    best = min(one.rank for one in surfaced)
    return f"Recalled {len(surfaced)} times in the {recalls}, at best in place {best}."
