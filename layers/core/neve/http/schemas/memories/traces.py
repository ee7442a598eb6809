"""E9 trace: what a memory replaced and was replaced by, which recalls surfaced it, and which packs hold it."""

from __future__ import annotations

from typing import Self

from pydantic import Field

from neve.domain.records.memories import Memory
from neve.http.operations import Operation, Response, View, route
from neve.http.pages import parts_that_fit
from neve.http.schemas.enums import PackLayer, Trigger
from neve.usecases.ask.memories.trace_memory import Trace


class SurfacedView(View):
    recall_id: str
    at: str
    mode: str
    rank: int
    score: float


class TracedStatementView(View):
    id: str
    text: str
    status: str
    created_at: str
    by: str
    occurrences: int
    supersedes: list[str]
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None

    @classmethod
    def of(cls, memory: Memory) -> Self:
        return super().of(memory, by=memory.provenance.by)


class CarriedView(View):
    """A frozen pack version that holds the memory."""

    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    layer: PackLayer
    rev: int = Field(description="Of the memory, as that pack shows it.")


class TraceView(View):
    memory_id: str
    history: list[TracedStatementView] = Field(
        description="Every statement linked to it by supersession, itself included, oldest first; at most 100."
    )
    history_left_out: int | None = Field(
        default=None, description="Those of them farthest from it, for which the answer has no room: it has 6 MB."
    )
    summary: str = Field(description="In words, also when it was never recalled.")
    recalls_examined: int = Field(description="The user's newest recalls, at most 200.")
    surfaced: list[SurfacedView] = Field(description="Newest first.")
    packs: list[CarriedView] = Field(description="Pack versions that hold it, the newest 20, newest first.")
    more_packs: bool = Field(description="There are others, or may be: not all of the user's versions were looked at.")

    @classmethod
    def of(cls, trace: Trace) -> Self:
        told = _nearest_statements(trace)
        return super().of(trace, history=told, history_left_out=len(trace.history) - len(told) or None)


def _nearest_statements(trace: Trace) -> list[TracedStatementView]:
    """Give the statements nearest to the traced one that fit, oldest first. A hundred of the longest statements are
    four times what an answer may have."""
    places = {memory.id: at for at, memory in enumerate(trace.history)}
    own = places[trace.memory_id]
    nearest = sorted(trace.history, key=lambda memory: abs(places[memory.id] - own))
    return sorted(parts_that_fit(map(TracedStatementView.of, nearest)), key=lambda told: places[told.id])


TRACE_MEMORY = Operation(
    **route("GET", "/v1/users/{user_id}/memories/{memory_id}/trace", "traceMemory", "memories", "records"),
    summary="What a memory replaced, what replaced it, and which of the last 200 recalls and which packs had it.",
    responses={200: Response("The trace.", TraceView)},
    codes=("memory_not_found",),
)
