"""Memories, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from neve.domain.records.sessions import Audience, Outcome, Spans


class Kind(StrEnum):
    OBSERVATION = "observation"
    REFLECTION = "reflection"
    FACT = "fact"
    SESSION_SUMMARY = "session_summary"
    NOTE = "note"
    MANUAL = "manual"


class Priority(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Status(StrEnum):
    ACTIVE = "active"
    RESOLVED = "resolved"
    INBOX = "inbox"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


class Scope(StrEnum):
    SESSION = "session"
    GLOBAL = "global"


class Tier(StrEnum):
    SEMANTIC = "semantic"
    EPISODIC = "episodic"


class EmbeddingState(StrEnum):
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"
    SKIPPED = "skipped"


Trust = Literal["user", "assistant", "import", "tool"]


TRUST: tuple[Trust, ...] = ("user", "assistant", "import", "tool")
"""Trust in the word of each source, from the one that counts most to the one that counts least."""


DEFAULT_TRUST: Trust = "assistant"
"""The trust of what was written before trust was noted."""


Category = Literal["PERSON", "PLACE", "EVENT", "PREFERENCE", "BIOGRAPHY"]
"""The subject of a fact."""


By = Literal["user_stated", "user_confirmed", "assistant", "tool", "import", "human_edit"]
"""The source of what a memory says."""
BY_A_PERSON: frozenset[By] = frozenset({"user_confirmed", "human_edit"})
"""Said in a call, and not in a conversation."""


Relation = Literal["not_checked", "new", "reinforces", "updates", "contradicts"]
"""The relation of a fact to what was known: not looked for; none; says the same; the state has changed; both cannot be
true."""


Pii = Literal["clear", "redacted", "blocked"]
"""The gate's action on a text."""


WrittenBy = Literal["model"]
"""Whoever wrote the text with a tool, where it was no person and no observer."""


Route = Literal["high", "medium", "low"]
"""The plainness with which a fact was said (docs/rules/facts.md#routing)."""


Via = Literal["api", "observer", "librarian", "model"]
"""The proposer of a fact."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """The origin of a memory. ``trust``: the lowest of the passages' or, for a reflection, of its sources'; ``trusted``
    reads it. ``left_out``: parts of the range that had been taken back before this was made of the others."""

    by: By
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    model: str | None = None
    trust: Trust | None = None
    left_out: Spans = ()

    @property
    def trusted(self) -> Trust:
        return self.trust or DEFAULT_TRUST

    @property
    def by_hand(self) -> bool:
        """Say whether a person chose the words: wrote them, or corrected what was there."""
        return self.by == "human_edit"


@dataclass(frozen=True, slots=True)
class MemoryPassage:
    """One part of a memory's text with the range of the log it speaks of, and whose word it is."""

    text: str
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a fact: who said it, where, and when. Without a range it was said in a call, and is in no log.
    ``text``: in which words, None = in those of the row."""

    by: By
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None
    observed_at: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria that the storage decision looked at (docs/rules/facts.md#decision). ``provenance``: the source may
    state facts. ``importance``: it reaches the policy's minimum, or the user or caller asked to remember it.
    ``novelty``: nothing that is kept says the same."""

    pii: Pii
    provenance: bool
    importance: bool
    novelty: bool
    contradiction: Relation


@dataclass(frozen=True, slots=True)
class Judged:
    """The reasons why a fact is kept as it is. ``target_id``: the memory that ``criteria.contradiction`` is about."""

    criteria: Criteria
    route: Route
    reason: str
    via: Via
    target_id: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One durable row. ``passages`` joined by a newline are ``text``; a single-passage row may leave them empty.
    ``version`` is the storage version (0 = not stored yet) and never leaves the service; ``rev`` does.
    ``category`` and ``judged``: of a fact; ``outcome``, ``emotional_tone``, ``key_topics``: of a session's summary.
    ``restatements``: statements of a fact beside the one of ``provenance`` (``domain/memories/fact_statements.py``).
    ``written_over``: session, first and last seq of what a memory was made from that a person evolved into this one,
    which no log holds itself.
    ``superseded_by``: what replaced it, ``supersedes``: what it replaced, ``superseded_reason``: in whose words ever;
    ``was``: what its status had been, where it was not active.
    ``person_at``: when a person last changed its words, or confirmed them, where no statement says so.
    ``written_by``: a model, by a tool of Neve's; None of anybody else.
    ``about``: the participants of its session who said it, by their ids; ``audience``: who may be told of it.
    ``never_recall``: no reader is shown it but who lists memories or names its id, whatever its status.
    ``valid_from``, ``valid_until``: between which it holds, at the former and before the latter; None: always.
    ``embed_queued_at``: when the sweep last queued its embedding again. ``rev_at``: when its rev moved, until the
    search index has its words and its vectors; ``words_at``: since when it has the words, meanwhile. ``write_id``: of
    the last call that changed it (ADR 4)."""

    id: str
    kind: Kind
    tier: Tier
    scope: Scope
    text: str
    priority: Priority
    importance: int
    fingerprint: str
    status: Status
    provenance: Provenance
    created_at: str
    observed_at: str
    last_used_at: str
    tokens: int
    rev: int
    born_gen: int
    session_id: str | None = None
    passages: tuple[MemoryPassage, ...] = ()
    occurrences: int = 1
    restatements: tuple[Statement, ...] = ()
    written_over: tuple[tuple[str, int, int], ...] = ()
    confidence: float = 1.0
    category: Category | None = None
    outcome: Outcome | None = None
    emotional_tone: str | None = None
    key_topics: tuple[str, ...] = ()
    judged: Judged | None = None
    person_at: str | None = None
    label: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    never_recall: bool = False
    valid_from: str | None = None
    valid_until: str | None = None
    written_by: WrittenBy | None = None
    about: tuple[str, ...] = ()
    audience: Audience | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    was: Status | None = None
    observed_date: str | None = None
    time_of_day: str | None = None
    referenced_date: str | None = None
    last_accessed_at: str | None = None
    embedding_state: EmbeddingState = EmbeddingState.PENDING
    embedding_model: str | None = None
    embed_queued_at: str | None = None
    died_gen: int | None = None
    rev_at: str | None = None
    words_at: str | None = None
    write_id: str | None = None
    version: int = 0

    @property
    def has_place(self) -> bool:
        """Say whether it is a fact that no other may repeat: one that stays in its session repeats nobody's."""
        return self.kind is Kind.FACT and self.audience is None

    @property
    def corrected(self) -> bool:
        """Say whether a person put these words in the place of others, by PATCH or evolve: not what they wrote
        themselves at first, nor what a reflection made of it."""
        return self.provenance.by_hand and self.person_at is not None
