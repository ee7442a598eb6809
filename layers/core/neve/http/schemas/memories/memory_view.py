"""E9: a memory as the API shows it."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field

from neve.domain.memories.text import relative_date
from neve.domain.records.memories import Kind, Memory, Provenance
from neve.domain.validity import holds_at
from neve.http.operations import View
from neve.http.schemas.enums import Audience, FactRelation, PiiFinding, Plainness, ProposedBy, Trust, WrittenBy


class PassageView(View):
    text: str
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None


class ProvenanceView(View):
    by: str
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    model: str | None = None
    trust: Trust = Field(
        description="Whose word it is at the least: that of its lowest passage, or of its lowest source."
    )

    @classmethod
    def of(cls, origin: Provenance) -> Self:
        return super().of(origin, trust=origin.trusted)


class CriteriaView(View):
    """The criteria that the storage decision looked at."""

    pii: PiiFinding
    provenance: bool = Field(description="Whether the source may state facts.")
    importance: bool = Field(description="Whether it reaches the policy's minimum, or was to be remembered.")
    novelty: bool = Field(description="Whether nothing that is kept says the same.")
    contradiction: FactRelation


class JudgedView(View):
    """The reasons why a fact is kept as it is."""

    criteria: CriteriaView
    route: Plainness
    reason: str
    via: ProposedBy
    target_id: str | None = Field(default=None, description="The memory that it reinforces or corrects.")


class MemoryView(View):
    id: str
    kind: str
    tier: str
    scope: str
    session_id: str | None = None
    text: str
    category: str | None = None
    outcome: str | None = None
    emotional_tone: str | None = None
    key_topics: list[str] | None = None
    judged: JudgedView | None = None
    passages: list[PassageView] | None = None
    priority: str
    importance: int
    confidence: float
    status: str
    label: str | None = None
    group: str | None = None
    tags: list[str]
    metadata: dict[str, str] | None = None
    never_recall: bool = Field(description="Neither packed nor recalled, whatever its status.")
    valid_from: str | None = None
    valid_until: str | None = None
    holds: bool = Field(
        description="Whether now is between the two: what does not hold is neither packed nor recalled."
    )
    written_by: WrittenBy | None = Field(None, description="`model`: a model wrote it with a tool.")
    about: list[str] | None = Field(None, description="The participants of its session who said it.")
    audience: Audience | None = Field(None, description="`session`: no other session is told of it.")
    fingerprint: str
    occurrences: int
    supersedes: list[str]
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    provenance: ProvenanceView
    observed_date: str | None = None
    time_of_day: str | None = None
    referenced_date: str | None = None
    relative_date: str | None = None
    created_at: str
    observed_at: str
    last_used_at: str
    last_accessed_at: str | None = None
    tokens: int
    embedding_state: str
    embedding_model: str | None = None
    rev: int

    @classmethod
    def of(cls, memory: Memory, now: str, /, **own: Any) -> Self:
        return super().of(
            memory,
            holds=holds_at(memory, now),
            metadata=memory.metadata or None,
            about=memory.about or None,
            relative_date=relative_date(memory.observed_date, memory.referenced_date),
            key_topics=memory.key_topics if memory.kind is Kind.SESSION_SUMMARY else None,
            passages=memory.passages or None,
            provenance=ProvenanceView.of(memory.provenance),
            **own,
        )
