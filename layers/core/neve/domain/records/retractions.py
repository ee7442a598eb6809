"""The retractions of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from neve.domain.records.sessions import Span, Spans

RetractReason = Literal["edited", "deleted", "branched"]


@dataclass(frozen=True, slots=True)
class Retraction:
    """A retraction of events ``seq_from`` to ``seq_to`` of a session (row ``RET#``), with the ``epoch`` in which its
    history goes on, and the job that sees to what was made of the events. ``to_end``: the call named no end, so that it
    meant what there was. ``fresh``: those of the events that no earlier retraction had taken back. ``forgotten_to``: up
    to here they are out of the search index; with the last of them, so are their words beside them."""

    id: str
    session_id: str
    seq_from: int
    seq_to: int
    reason: RetractReason
    epoch: int
    job_id: str
    created_at: str
    to_end: bool = False
    fresh: Spans = ()
    forgotten_to: int = 0
    version: int = 0

    @property
    def span(self) -> Span:
        return self.seq_from, self.seq_to

    @property
    def forgotten(self) -> bool:
        return self.forgotten_to >= self.seq_to

    @property
    def erases(self) -> bool:
        return self.reason == "deleted"
