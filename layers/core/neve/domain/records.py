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

Category = Literal["PERSON", "PLACE", "EVENT", "PREFERENCE", "BIOGRAPHY"]
"""What a fact is about."""
Outcome = Literal["SUCCESS", "PARTIAL", "INTERRUPTED"]
"""How a session ended."""
By = Literal["user_stated", "user_confirmed", "assistant", "tool", "import", "human_edit"]
"""Who said what a memory says."""
Relation = Literal["not_checked", "new", "reinforces", "updates", "contradicts"]
"""How a fact stands to what was known: nobody looked; nothing; says the same; the state has changed; both cannot be
true."""
Pii = Literal["clear", "redacted", "blocked"]
"""What the gate did to a text."""
Route = Literal["high", "medium", "low"]
"""How plainly a fact was said (docs/rules/facts.md#routing)."""
Via = Literal["api", "observer", "librarian"]
"""Who proposed a fact."""
Span = tuple[int, int]
"""First and last seq."""
Spans = tuple[Span, ...]
"""Ascending and apart (``domain/sessions/spans.py``)."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a session's log. ``content`` is text or a list of blocks ``text | image``; image blocks hold
    ``{"type": "image", "media_type", "object" | "url"}``, never bytes. ``unobservable``: ``{"reason"}`` why no observer
    would read it. ``taken_back``: its passages have left the search index, or are about to; whether it is retracted,
    its session says. ``erased``: what it said is gone for good. ``rev``: of its passages; moves when the words beside
    it change, which is when a neighbour is taken back."""

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
    taken_back: bool = False
    erased: bool = False
    rev: int = 1


@dataclass(frozen=True, slots=True)
class Provenance:
    """``trust``: the lowest of the passages' or, for a reflection, of its sources'; ``trusted`` reads it.
    ``left_out``: parts of the range that had been taken back before this was made of the others."""

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


@dataclass(frozen=True, slots=True)
class MemoryPassage:
    """One part of a memory's text with the range of the log it speaks of, and whose word it is."""

    text: str
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """Somebody said a fact: who, where, and when. Without a range it was said in a call, and is in no log. ``text``: in
    which words, None = in those of the row."""

    by: By
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None
    observed_at: str = ""
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Criteria:
    """What the storage decision looked at (docs/rules/facts.md#decision). ``provenance``: the source may state facts.
    ``importance``: it reaches the policy's minimum, or somebody asked to remember it. ``novelty``: nothing that is kept
    says the same."""

    pii: Pii
    provenance: bool
    importance: bool
    novelty: bool
    contradiction: Relation


@dataclass(frozen=True, slots=True)
class Judged:
    """Why a fact is kept as it is. ``target_id``: the memory that ``criteria.contradiction`` is about."""

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
    ``said_again``: statements of a fact beside the one of ``provenance`` (``domain/memories/said_again.py``).
    ``superseded_by``: what replaced it, ``supersedes``: what it replaced, ``superseded_reason``: in whose words ever.
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
    said_again: tuple[Statement, ...] = ()
    confidence: float = 1.0
    category: Category | None = None
    outcome: Outcome | None = None
    emotional_tone: str | None = None
    key_topics: tuple[str, ...] = ()
    judged: Judged | None = None
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
    write_id: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class UserHead:
    """The root row of a user. ``gen`` makes replacements atomic for readers; ``incarnation`` is raised by an erasure.
    ``replaced_by``: the job of the last replacement, whose new rows a pack build reads by id until ``replaced_until``.
    ``foreign_ids``: some memories have ids that they came with. ``erasure_job``: of the erasure under way. ``pinned``:
    documents of the user may stand in packs. ``takes_back``: something was taken back of a session of theirs, so that
    whoever reads events of several asks each session which. ``purges``: how often packs were taken away for good, which
    moves this row so that no build under way points to one that has read what was in them."""

    gen: int = 1
    incarnation: int = 1
    state: Literal["active", "erasing", "closed"] = "active"
    created_at: str = ""
    replacement_job: str | None = None
    replaced_by: str | None = None
    replaced_until: str | None = None
    foreign_ids: bool = False
    erasure_job: str | None = None
    pinned: bool = False
    takes_back: bool = False
    purges: int = 0
    version: int = 0


@dataclass(frozen=True, slots=True)
class SessionHead:
    """The append head of a session (row ``SES#``): every append moves it. ``outcome``: what the caller said of it when
    it was ended; ``corrected``: how often another one was said while it was filed, or behind that. ``complete_seq``:
    the last event of the last complete turn. ``behind``: the appends since index, vectors and marker were last up to
    the log, as (last seq, epoch second); empty while they are (``usecases/lag/memory_lag.py``). ``previous_at``:
    when the user's session that was opened before this one had its last event. ``retracted``: what was taken back (also
    on the two rows below), ``erased``: the part of it that was deleted. ``unwatched``: it was opened, or goes on after
    its end, and nobody has seen since then that somebody will look whether it is idle."""

    session_id: str
    status: Literal["open", "closed", "extracted"]
    started_at: str
    last_event_at: str | None = None
    title: str | None = None
    user_meta: dict[str, str] = field(default_factory=dict)
    outcome: Outcome | None = None
    corrected: int | None = None
    last_seq: int = 0
    last_event_type: EventType | None = None
    complete_seq: int = 0
    total_tokens: int = 0
    behind: tuple[tuple[int, int], ...] = ()
    previous_at: str | None = None
    retracted: Spans = ()
    erased: Spans = ()
    unwatched: bool = False
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
    """Marker, lease and live rows of a session (row ``SESS#s#M``): only passes and session-scoped writes move it.
    ``lease_token`` is the fencing token: it grows by one with every lease taken. ``last_pass``: the id that the last
    committed pass gave itself, by which it recognises its own write. ``pass_limit``: how many events a pass may hold up
    to ``limit_to``, because the observer refused more of them at once. ``refused``: the events directly behind the
    marker that were refused alone and that no commit has noted yet. ``retold``: facts that other logs had stated first
    and this one said again, which are older than the session as a rule (``MAX_REPEATED_FACTS`` of ``said_again.py``).
    ``model_failed_at``: when the language model last gave a pass no answer; None once it has."""

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
    retracted: Spans = ()
    retold: tuple[str, ...] = ()
    model_failed_at: str | None = None
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
    """One item as a pack version holds it. ``tokens``: 0 where another line says what it says. ``path``: of a
    document. ``session_id``: of a session's summary."""

    id: str
    rev: int
    fingerprint: str
    tokens: int
    kind: str
    path: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class PackManifest:
    """What one immutable pack version is made of. ``layers``: always, profile, global, local, each in rendered
    order. ``left_out``: what had no room: documents of the first two, observations and reflections of the session."""

    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    sha256: str
    tokens: int
    inputs_sha: str
    layers: dict[str, tuple[PackEntry, ...]]
    left_out: tuple[PackEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class HistoryCut:
    """Events that the prompts of one ``epoch`` do not show, for want of room (docs/rules/compile.md#cut). ``keeps``: a
    message among them that is shown, because its turn goes on behind the cut."""

    epoch: int
    seq_from: int
    seq_to: int
    keeps: int | None = None


@dataclass(frozen=True, slots=True)
class SessionEpoch:
    """Epoch, horizon and pack pointer of a session (row ``SESS#s#E``). ``compacted_by``: the job that moved the epoch
    last. ``settled_tokens``: of all that was ever said, what a compaction has covered or put away. ``pruned_to``: up to
    here the covered tool results are documents of their own. ``cut``: what this epoch's prompts do not show beyond
    that. ``prefix``: what stood before the pack in the prompt that was compiled last. ``purged_to``: numbers of pack
    versions up to here are not given out again. ``removed_to``: the covered events up to here are gone for good, their
    time being over. ``images_dropped_to``: the histories of prompts show no image of the events up to here."""

    session_id: str
    epoch: int = 0
    covers_from: int | None = None
    covers_to: int | None = None
    pack: PackPointer | None = None
    rebuild_due: Trigger | None = None
    rebuild_failed_at: str | None = None
    compacted_by: str | None = None
    settled_tokens: int = 0
    pruned_to: int = 0
    cut: HistoryCut | None = None
    prefix: str | None = None
    purged_to: int = 0
    removed_to: int = 0
    images_dropped_to: int = 0
    retracted: Spans = ()
    version: int = 0


RetractReason = Literal["edited", "deleted", "branched"]


@dataclass(frozen=True, slots=True)
class Retraction:
    """That events ``seq_from`` to ``seq_to`` of a session were taken back (row ``RET#``), in which ``epoch`` its
    history goes on, and the job that sees to what was made of them. ``to_end``: the call named no end, so that it meant
    what there was. ``fresh``: those of the events that no earlier retraction had taken back. ``forgotten_to``: up to
    here they are out of the search index. ``raised``: seqs of those beside them that got another rev for it.
    ``forgotten``: the passages of these are written, too."""

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
    raised: tuple[int, ...] = ()
    forgotten: bool = False
    version: int = 0

    @property
    def span(self) -> Span:
        return self.seq_from, self.seq_to

    @property
    def erases(self) -> bool:
        return self.reason == "deleted"


Verbosity = Literal["brief", "standard", "detailed"]


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the covered turns of a session from one epoch on, under four headings. It is outside the log, has
    no seq and is never observed. ``by``: a model, or a deterministic extract that stands in until a model wrote it.
    ``model``: whose words they are; ``prompt_version``: of what a model was asked. ``job_id``: of the compaction whose
    result says the same."""

    session_id: str
    epoch: int
    covers_from: int
    covers_to: int
    verbosity: Verbosity
    by: Literal["model", "extract"]
    tokens: int
    created_at: str
    model: str | None = None
    prompt_version: str | None = None
    decisions: tuple[str, ...] = ()
    action_items: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    job_id: str | None = None
    version: int = 0


IncludePriority = Literal["high", "normal", "low"]


@dataclass(frozen=True, slots=True)
class Document:
    """Text under a path (docs/rules/documents.md). ``id`` stays when the document moves; one below ``/artifacts/`` has
    none: the content of a tool result that a compaction took out of the log, of the session and the event it names,
    which no search finds. ``text`` is empty in what a list gives; ``text_object`` names the object of one that is too
    long for a row. ``derived``: which of ``name`` and ``summary`` follow from the text, because nobody gave them.
    ``fingerprint``: of the statement, as a memory's; ``sha256``: of the very text. ``supersedes``, ``superseded_by``:
    paths. ``extracted_at``: when it was last drawn from a conversation; ``updated_at``: when ``rev`` last moved. The
    fields from ``embedding_state`` on are those of a memory."""

    path: str
    text: str
    tokens: int
    rev: int
    created_at: str
    session_id: str | None = None
    seq: int | None = None
    id: str | None = None
    name: str = ""
    summary: str = ""
    derived: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    group: str | None = None
    kind: str = "document"
    always_include: bool = False
    include_priority: IncludePriority = "normal"
    prompt_label: str | None = None
    prompt_hint: str | None = None
    prompt_order: int | None = None
    editable: bool = True
    source_type: str | None = None
    source_id: str | None = None
    extracted_at: str | None = None
    importance: int = 3
    status: Status = Status.ACTIVE
    provenance: Provenance = Provenance("human_edit", trust="user")
    fingerprint: str = ""
    sha256: str = ""
    updated_at: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    text_object: str | None = None
    embedding_state: EmbeddingState = EmbeddingState.PENDING
    embedding_model: str | None = None
    embed_queued_at: str | None = None
    rev_at: str | None = None
    words_at: str | None = None
    write_id: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class ReflectDue:
    """That a night may condense rows of a user: not before those that were created by ``since`` are old enough.
    ``worker``: the token of who is at it, ``lease_until`` at the latest; ``again``: the oldest row that came while it
    was."""

    since: str
    worker: str | None = None
    lease_until: str | None = None
    again: str | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of asynchronous work that a caller may poll. ``result`` is what the API shows. ``due_at``: of a job whose
    row is its message, when the sweep sends it again unless it has ended; ``incarnation``: of its user, as that message
    names it."""

    id: str
    kind: str
    status: Literal["queued", "running", "done", "failed"]
    created_at: str
    user_id: str | None = None
    session_id: str | None = None
    finished_at: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    due_at: str | None = None
    incarnation: int | None = None
    version: int = 0
