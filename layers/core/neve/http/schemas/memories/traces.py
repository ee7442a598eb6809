"""E9 trace: which recalls surfaced a memory."""

from __future__ import annotations

from pydantic import Field

from neve.http.operations import Nothing, Operation, Response, View
from neve.usecases.memories.trace_memory import Trace


class SurfacedView(View):
    recall_id: str
    at: str
    mode: str
    rank: int
    score: float


class TraceView(View):
    memory_id: str
    summary: str = Field(description="In words, also when it was never recalled.")
    recalls_examined: int = Field(description="The user's newest recalls, at most 200.")
    surfaced: list[SurfacedView] = Field(description="Newest first.")

    @classmethod
    def of(cls, trace: Trace) -> TraceView:
        return cls(
            memory_id=trace.memory_id,
            summary=trace.summary,
            recalls_examined=trace.recalls_examined,
            surfaced=[
                SurfacedView(recall_id=s.recall_id, at=s.at, mode=s.mode, rank=s.rank, score=s.score)
                for s in trace.surfaced
            ],
        )


TRACE_MEMORY = Operation(
    method="GET",
    path="/v1/users/{user_id}/memories/{memory_id}/trace",
    id="traceMemory",
    tag="memories",
    summary="Which of the last 200 recalls answered with a memory, and in which place.",
    scope="records",
    query=Nothing,
    body=Nothing,
    responses={200: Response("The trace.", TraceView)},
    codes=("memory_not_found",),
)
