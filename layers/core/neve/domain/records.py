"""The records (docs/rules/memories.md#record) as immutable values. Times are stored-form strings (``domain/times.py``),
tokens are counted at write time with the tenant's counter, and an absent optional field is ``None`` here and missing in
a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class EventType(StrEnum):
    USER_MESSAGE = "user_message"
    ASSISTANT_RESPONSE = "assistant_response"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TASK_BOUNDARY = "task_boundary"


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


Trigger = Literal["initial", "reflection", "horizon"]

Trust = Literal["user", "assistant", "import", "tool"]
TRUST: tuple[Trust, ...] = ("user", "assistant", "import", "tool")
"""From the word that counts most to the one that counts least."""
DEFAULT_TRUST: Trust = "assistant"
"""Of what was written before trust was noted."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a session's log. ``content`` is text or a list of blocks ``text | image``; image blocks hold
    ``{"type": "image", "media_type", "object" | "url"}``, never bytes. ``unobservable``: ``{"reason"}`` why no observer
    would read it."""

    seq: int
    event_type: EventType
    content: str | list[dict[str, Any]]
    original_tokens: int
    created_at: str
    client_id: str | None = None
    name: str | None = None
    event_data: dict[str, Any] = field(default_factory=dict)
    pruned: bool = False
    artifact_path: str | None = None
    unobservable: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """``trust``: the lowest of the passages' or, for a reflection, of its sources'; ``trusted`` reads it."""

    by: Literal["user_stated", "user_confirmed", "assistant", "tool", "import", "human_edit"]
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    model: str | None = None
    trust: Trust | None = None

    @property
    def trusted(self) -> Trust:
        return self.trust or DEFAULT_TRUST


@dataclass(frozen=True, slots=True)
class MemoryPassage:
    """One part of a memory's text with the range of the log it speaks of, and whose word it is."""

    text: str
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """One durable row. ``passages`` joined by a newline are ``text``; a single-passage row may leave them empty.
    ``version`` is the storage version (0 = not stored yet) and never leaves the service; ``rev`` does.
    ``embed_queued_at``: when the sweep last queued its embedding again. ``rev_at``: when its rev moved, until the
    search index has its words and its vectors; ``words_at``: since when it has the words, meanwhile."""

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
    confidence: float = 1.0
    category: str | None = None
    label: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
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
    version: int = 0


@dataclass(frozen=True, slots=True)
class UserHead:
    """The root row of a user. ``gen`` makes replacements atomic for readers; ``incarnation`` is raised by an erasure.
    ``replaced_new``: the new ids of the last replacement, which a pack build reads by id until ``replaced_until``."""

    gen: int = 1
    incarnation: int = 1
    state: Literal["active", "erasing", "closed"] = "active"
    created_at: str = ""
    replacement_job: str | None = None
    replaced_new: tuple[str, ...] = ()
    replaced_until: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class SessionHead:
    """The append head of a session (row ``SES#``): every append moves it. ``complete_seq``: the last event of the last
    complete turn. ``behind``: the appends since index, vectors and marker were last up to the log, as (last seq,
    epoch second); empty while they are (``usecases/sessions/memory_lag.py``)."""

    session_id: str
    status: Literal["open", "closed", "extracted"]
    started_at: str
    last_event_at: str | None = None
    title: str | None = None
    user_meta: dict[str, str] = field(default_factory=dict)
    last_seq: int = 0
    last_event_type: EventType | None = None
    complete_seq: int = 0
    total_tokens: int = 0
    behind: tuple[tuple[int, int], ...] = ()
    write_id: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class LiveRow:
    """One of the session's live rows, in the order they were written."""

    id: str
    kind: Kind
    tokens: int


@dataclass(frozen=True, slots=True)
class RefusedEvent:
    """An event that the observer refused to read although it stood alone."""

    seq: int
    reason: str


@dataclass(frozen=True, slots=True)
class SessionMarker:
    """Marker, lease and live rows of a session (row ``SESM#``): only passes and session-scoped writes move it.
    ``lease_token`` is the fencing token: it grows by one with every lease taken. ``last_pass``: the id that the last
    committed pass gave itself, by which it recognises its own write. ``pass_limit``: how many events a pass may hold up
    to ``limit_to``, because the observer refused more of them at once. ``refused``: the events directly behind the
    marker that were refused alone and that no commit has noted yet."""

    session_id: str
    observed_seq: int = 0
    offered_seq: int = 0
    empty_offers: int = 0
    live: tuple[LiveRow, ...] = ()
    lease_token: int = 0
    lease_until: str | None = None
    last_pass: str | None = None
    current_task: str | None = None
    suggested_continuation: str | None = None
    thread_title: str | None = None
    pass_limit: int | None = None
    limit_to: int | None = None
    refused: tuple[RefusedEvent, ...] = ()
    version: int = 0


@dataclass(frozen=True, slots=True)
class PackPointer:
    """Which pack version a session serves. ``sha256`` is the text's; ``inputs_sha`` names what it was built from."""

    pack_version: int
    sha256: str
    trigger: Trigger
    built_at: str
    tokens: int
    inputs_sha: str


@dataclass(frozen=True, slots=True)
class PackEntry:
    """One item as a pack version holds it."""

    id: str
    rev: int
    fingerprint: str
    tokens: int
    kind: str


@dataclass(frozen=True, slots=True)
class PackManifest:
    """What one immutable pack version is made of. ``layers``: always, profile, global, local, each in rendered
    order."""

    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    sha256: str
    tokens: int
    inputs_sha: str
    layers: dict[str, tuple[PackEntry, ...]]


@dataclass(frozen=True, slots=True)
class SessionEpoch:
    """Epoch, horizon and pack pointer of a session (row ``SESE#``). ``compacted_by``: the job that moved the horizon
    last."""

    session_id: str
    epoch: int = 0
    covers_from: int | None = None
    covers_to: int | None = None
    pack: PackPointer | None = None
    rebuild_due: Trigger | None = None
    rebuild_failed_at: str | None = None
    compacted_by: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of asynchronous work that a caller may poll. ``result`` is what the API shows."""

    id: str
    kind: str
    status: Literal["queued", "running", "done", "failed"]
    created_at: str
    user_id: str | None = None
    session_id: str | None = None
    finished_at: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    version: int = 0
