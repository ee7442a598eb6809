"""Makes a record of what a caller wrote as a memory, by hand or in an import."""

from __future__ import annotations

from dataclasses import dataclass, field

from neve.domain.memories.text import fingerprint, observed_date, referenced_date, time_of_day
from neve.domain.records.memories import Category, Kind, Memory, Priority, Provenance, Scope, Status, Tier, WrittenBy
from neve.domain.records.sessions import Audience, Outcome
from neve.domain.tokens import Counter

SCREENED_FIELDS = ("text", "label", "group", "tags", "metadata", "emotional_tone", "key_topics")
"""Fields that hold a person's words, and so pass the gate (docs/rules/privacy.md#records)."""


@dataclass(frozen=True, slots=True)
class WrittenMemory:
    """A memory as a caller wrote it. None = the default. A memory without a session is global. Times are stored-form
    strings. ``timezone``: in which its day is told."""

    text: str
    kind: Kind
    session_id: str | None = None
    scope: Scope | None = None
    priority: Priority | None = None
    importance: int = 3
    confidence: float = 1.0
    label: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    never_recall: bool = False
    valid_from: str | None = None
    valid_until: str | None = None
    written_by: WrittenBy | None = None
    observed_at: str | None = None
    category: Category | None = None
    outcome: Outcome | None = None
    emotional_tone: str | None = None
    key_topics: tuple[str, ...] = ()
    timezone: str = "UTC"
    about: tuple[str, ...] = ()
    audience: Audience | None = None


def record_of(
    written: WrittenMemory, memory_id: str, provenance: Provenance, created_at: str, gen: int, count: Counter
) -> Memory:
    """Make an active row at rev 1, observed when it was created unless it says otherwise, and last used when it was
    said. ``gen``: the user's generation. ``count``: the policy's counter."""
    observed_at = written.observed_at or created_at
    episode = written.kind in (Kind.OBSERVATION, Kind.REFLECTION, Kind.SESSION_SUMMARY)
    return Memory(
        id=memory_id,
        kind=written.kind,
        tier=Tier.EPISODIC if episode else Tier.SEMANTIC,
        scope=written.scope or (Scope.SESSION if written.session_id else Scope.GLOBAL),
        session_id=written.session_id,
        text=written.text,
        priority=written.priority or (Priority.HIGH if written.kind is Kind.MANUAL else Priority.MEDIUM),
        importance=written.importance,
        confidence=written.confidence,
        category=written.category,
        outcome=written.outcome,
        emotional_tone=written.emotional_tone,
        key_topics=written.key_topics,
        label=written.label,
        group=written.group,
        tags=written.tags,
        metadata=written.metadata,
        never_recall=written.never_recall,
        valid_from=written.valid_from,
        valid_until=written.valid_until,
        written_by=written.written_by,
        about=written.about,
        audience=written.audience,
        fingerprint=fingerprint(written.text),
        status=Status.ACTIVE,
        provenance=provenance,
        created_at=created_at,
        observed_at=observed_at,
        observed_date=observed_date(observed_at, written.timezone),
        time_of_day=time_of_day(observed_at, written.timezone),
        referenced_date=referenced_date(written.text),
        last_used_at=min(created_at, observed_at),
        tokens=count(written.text),
        rev=1,
        rev_at=created_at,
        born_gen=gen,
    )
