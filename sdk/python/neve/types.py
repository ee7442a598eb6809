"""Requests and answers of the service as types, made of docs/openapi.json by ``make sdk-generate``.

An answer may hold more than its type says."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AnswerData(TypedDict):
    """Further members are kept as they are."""

    thinking: NotRequired[list[dict[str, Any]]]
    """What the model thought before it, as its provider's blocks; `content` may hold them as well."""


class AnswerEvent(TypedDict):
    client_id: NotRequired[str]
    """The same id again returns the first seq; with other content it is a 409."""
    name: NotRequired[str]
    """The speaker. White space, line breaks included, becomes single spaces."""
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; nothing that is made of the event has them."""
    created_at: NotRequired[str]
    """When it was said; now when absent or more than a day ahead. RFC 3339 with an offset."""
    event_type: Literal["assistant_response"]
    content: str | list[TextBlock | ImageBlock | ThinkingBlock]
    event_data: NotRequired[AnswerData]


class AppendBody(TypedDict):
    events: list[MessageEvent | AnswerEvent | ToolCallEvent | ToolResultEvent | BoundaryEvent | NeutralEvent]
    """In order. Each has at most 256 KiB as JSON in UTF-8 and 20 images, all together 48 images."""


class AppendedMessagesOut(TypedDict):
    session_id: str
    created: bool
    """The session was not there before."""
    messages: list[MessageState]
    """In the order of the request."""
    last_seq: int
    dropped: list[DroppedPart]
    """Parts that memory has no place for: kept as neutral events, or left out; `why` says which."""
    observation: Observation
    """`queued`: a pass reads these events now. `waiting`: they completed a turn, which waits for more or for
    silence, as `observe_after` of the policy says. `none`: they completed none."""
    compaction: Queued
    """`queued`: these events are a reason for one."""
    compaction_job_id: NotRequired[str]
    """Its job, when one was queued."""
    redacted: NotRequired[dict[str, int]]
    """How many of each class of personal data were taken out; absent when none were."""
    other_language: NotRequired[OtherLanguage]
    degraded: NotRequired[Degraded]
    retracted: NotRequired[Literal[True]]
    """Some were taken back since: `retracted_seqs`. They stay so."""
    retracted_seqs: NotRequired[list[int]]


class AppendedOut(TypedDict):
    seqs: list[int]
    """In the order of the request."""
    observation: Observation
    """`queued`: a pass reads these events now. `waiting`: they completed a turn, which waits for more or for
    silence, as `observe_after` of the policy says. `none`: they completed none."""
    compaction: Queued
    """`queued`: these events are a reason for one."""
    compaction_job_id: NotRequired[str]
    """Its job, when one was queued."""
    redacted: NotRequired[dict[str, int]]
    """How many of each class of personal data were taken out of these events; absent when none were."""
    other_language: NotRequired[OtherLanguage]
    degraded: NotRequired[Degraded]
    retracted: NotRequired[Literal[True]]
    """Some of the events were appended before and taken back since: `retracted_seqs`. They stay so."""
    retracted_seqs: NotRequired[list[int]]


ApproveBody: TypeAlias = "dict[str, Any]"


class AttemptOut(TypedDict):
    delivered: bool
    status: NotRequired[int]
    """Left out where there was no answer."""
    failure: NotRequired[DeliveryFailure]
    """Left out where it arrived."""
    duration_ms: int


Audience: TypeAlias = "Literal['session']"


class BoundaryData(TypedDict):
    """Further members are kept as they are."""

    kind: NotRequired[BoundaryKind]
    """A task is done, or the conversation turns to another topic."""


class BoundaryEvent(TypedDict):
    """Asks for a compaction of what lies behind."""

    client_id: NotRequired[str]
    """The same id again returns the first seq; with other content it is a 409."""
    name: NotRequired[str]
    """The speaker. White space, line breaks included, becomes single spaces."""
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; nothing that is made of the event has them."""
    created_at: NotRequired[str]
    """When it was said; now when absent or more than a day ahead. RFC 3339 with an offset."""
    event_type: Literal["task_boundary"]
    content: str | list[TextBlock | ImageBlock]
    event_data: NotRequired[BoundaryData]


BoundaryKind: TypeAlias = "Literal['task', 'topic']"


class BreakpointOut(TypedDict):
    at: BreakpointPlace
    tokens: int
    """Of the prefix that ends there."""
    minimum: int
    """The fewest that the model's provider caches."""
    cacheable: bool
    marked: bool
    why_not: NotRequired[str]
    """Why it is not marked."""


BreakpointPlace: TypeAlias = "Literal['static', 'system', 'previous', 'history']"


class BudgetOut(TypedDict):
    profile: str
    total: int
    output: int
    input: int
    system: int
    memories: int
    """The pack and what is retrieved."""
    pack: NotRequired[int]
    retrieved: NotRequired[int]
    history: int
    """Without the message where that has a number of its own."""
    message: NotRequired[int]
    task: int


BudgetProfile: TypeAlias = "Literal['compact_8k', 'window_200k', 'agentic']"


class CacheControlBody(TypedDict):
    """A cache breakpoint, as Anthropic takes it."""

    type: Literal["ephemeral"]
    ttl: NotRequired[CacheTtl]


CacheTtl: TypeAlias = "Literal['5m', '1h']"


class CarriedView(TypedDict):
    """A frozen pack version that holds the memory."""

    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    layer: PackLayer
    rev: int
    """Of the memory, as that pack shows it."""


Category: TypeAlias = "Literal['PERSON', 'PLACE', 'EVENT', 'PREFERENCE', 'BIOGRAPHY']"

Certainty: TypeAlias = "Literal['high', 'medium', 'low']"


class ChangedEntry(TypedDict):
    layer: PackLayer
    before: PackEntryOut
    after: PackEntryOut


class ChangedView(TypedDict):
    """``also_in`` is there where the text is another one."""

    id: str
    kind: str
    tier: str
    scope: str
    session_id: NotRequired[str]
    text: str
    category: NotRequired[str]
    outcome: NotRequired[str]
    emotional_tone: NotRequired[str]
    key_topics: NotRequired[list[str]]
    judged: NotRequired[JudgedView]
    passages: NotRequired[list[PassageView]]
    priority: str
    importance: int
    confidence: float
    status: str
    label: NotRequired[str]
    group: NotRequired[str]
    tags: list[str]
    metadata: NotRequired[dict[str, str]]
    never_recall: bool
    """Neither packed nor recalled, whatever its status."""
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    holds: bool
    """Whether now is between the two: what does not hold is neither packed nor recalled."""
    written_by: NotRequired[WrittenBy]
    """`model`: a model wrote it with a tool."""
    about: NotRequired[list[str]]
    """The participants of its session who said it."""
    audience: NotRequired[Audience]
    """`session`: no other session is told of it."""
    fingerprint: str
    occurrences: int
    supersedes: list[str]
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    superseded_reason: NotRequired[str]
    provenance: ProvenanceView
    observed_date: NotRequired[str]
    time_of_day: NotRequired[str]
    referenced_date: NotRequired[str]
    relative_date: NotRequired[str]
    created_at: str
    observed_at: str
    last_used_at: str
    last_accessed_at: NotRequired[str]
    tokens: int
    embedding_state: str
    embedding_model: NotRequired[str]
    rev: int
    also_in: NotRequired[list[CopyView]]
    """Where else what it said before may still stand: at most 50 places, the log first."""
    also_in_complete: NotRequired[bool]
    """Whether everything was looked at, and everything found is named."""


class ChunkView(TypedDict):
    n: int
    text: str
    tokens: int
    """By the estimate, whatever counter the policy names."""


class CollapseOut(TypedDict):
    at: str
    reason: CollapseReason
    expected: int
    """Tokens that the cache held after the report before."""
    cache_read: int
    pack_version: NotRequired[int]
    """With another pack than the report before."""
    trigger: NotRequired[Trigger]


CollapseReason: TypeAlias = "Literal['pack_changed', 'compacted', 'ttl_expired', 'prefix_changed', 'unknown']"


class CollapsesOut(TypedDict):
    """Reports in which the cache gave less than half of what it held, by reason."""

    pack_changed: int
    compacted: int
    ttl_expired: int
    prefix_changed: int
    unknown: int


class CompactBody(TypedDict):
    reason: NotRequired[CompactionReason]
    verbosity: NotRequired[Verbosity]
    """How long the summary may be; the policy's when absent."""
    wait: NotRequired[bool]
    """Poll up to 20 s for the end of the job."""


CompactionReason: TypeAlias = "Literal['tokens', 'task', 'topic', 'end', 'manual']"


class CompileBody(TypedDict):
    message: NotRequired[str | list[TextBlock | ImageBlock]]
    """What the user says now: text or blocks. It is not stored. Where the log ends with it already, it is not
    repeated, and may be left out."""
    task_state: NotRequired[str | TaskStateBody]
    instructions: NotRequired[list[str]]
    """Behind the static prefix. Another list is another prefix to the provider."""
    retrieval: NotRequired[Retrieval]
    """`auto`: the 5 best passages, and on to 600 tokens. `tools`: the model is offered the search. `both`, `none`."""
    tools: NotRequired[list[dict[str, JsonValue]] | dict[str, JsonValue]]
    """The caller's own, as the provider takes them (with `ai_sdk` by name). They stand in front of Neve's. Without
    any, a tool that the shown history calls is declared by a stand-in."""
    system: NotRequired[str | list[SystemBlockBody]]
    """Text or text blocks, one block behind the static prefix. The same on every day: no date, time, e-mail address,
    id or placeholder. Another text is another prefix to the provider."""
    max_breakpoints: NotRequired[int]
    """Marks of what the provider is to cache, at most."""
    format: NotRequired[PromptFormat]
    """Whose arguments `request` holds."""
    budget_profile: NotRequired[BudgetProfile | CustomBudget]
    """Default: the policy's."""
    history_window: NotRequired[int]
    """Turns: at least so many are shown, and at most twice as many."""
    dry_run: NotRequired[bool]
    """The report only. Nothing is written."""
    with_request: NotRequired[bool]
    """Also of a dry run `request`; and `parts`, where each part stands in it."""
    images: NotRequired[ImagesShown]
    """Of this prompt. `recent`: of what waits for an answer only, `none`: none; each other one is a line of text."""
    images_refused: NotRequired[list[int]]
    """Events whose images the provider has refused: `image_events` of the prompt that it would not take. This prompt
    and all later ones show a line of text in their place."""
    session_id: str


class CompileOptions(TypedDict):
    task_state: NotRequired[str | TaskStateBody]
    instructions: NotRequired[list[str]]
    """Behind the static prefix. Another list is another prefix to the provider."""
    retrieval: NotRequired[Retrieval]
    """`auto`: the 5 best passages, and on to 600 tokens. `tools`: the model is offered the search. `both`, `none`."""
    tools: NotRequired[list[Any] | dict[str, Any]]
    """The caller's own, as the provider takes them (with `ai_sdk` by name). They stand in front of Neve's. Without
    any, a tool that the shown history calls is declared by a stand-in."""
    system: NotRequired[str | list[Any]]
    """Text or text blocks, one block behind the static prefix. The same on every day: no date, time, e-mail address,
    id or placeholder. Another text is another prefix to the provider."""
    max_breakpoints: NotRequired[int]
    """Marks of what the provider is to cache, at most."""
    budget_profile: NotRequired[BudgetProfile | CustomBudget]
    """Default: the policy's."""
    history_window: NotRequired[int]
    """Turns: at least so many are shown, and at most twice as many."""
    with_request: NotRequired[bool]
    """Also of a dry run `request`; and `parts`, where each part stands in it."""
    images: NotRequired[ImagesShown]
    """Of this prompt. `recent`: of what waits for an answer only, `none`: none; each other one is a line of text."""
    images_refused: NotRequired[list[int]]
    """Events whose images the provider has refused: `image_events` of the prompt that it would not take. This prompt
    and all later ones show a line of text in their place."""


class ComponentsView(TypedDict):
    sim_raw: NotRequired[float]
    """Cosine, -1 to 1."""
    sim_cal: NotRequired[float]
    """The same for every model: 0.3 random, 0.9 paraphrase."""
    bm25: NotRequired[float]
    """Absent for rows that are too new for the index."""
    rank_vec: NotRequired[int]
    rank_lex: NotRequired[int]
    rrf: float
    recency: float
    importance: float
    kind: float
    prior: float
    """Product of the three, at most 1.35."""
    final: float
    """RRF, with what memories lend, times prior."""
    lent: NotRequired[float]
    """Without rerank, of an utterance: how much more RRF a memory that was made from it has, and a hundredth of the
    memory's own."""
    rerank: NotRequired[float]
    """Log odds by the rerank stage, which orders hits when utterances are among them."""
    deep: NotRequired[float]
    """With `rerank: deep`: how well it answers the question, by a model that read both."""
    meaning: NotRequired[float]
    """With the policy's languages `multi`: 0.8 of the similarity and 0.2 of the share of the query's terms, which
    orders hits."""
    shown_rrf: NotRequired[float]
    """Without rerank, of a memory among utterances: RRF of the leg that found the passage shown, where the other leg
    found another one."""
    quoted: NotRequired[float]
    """For having the words that a message quotes, in their order."""
    corrects: NotRequired[float]
    """What it got to stand before an older statement that it takes back."""
    weighted_70_30: float
    """For comparison; never used to order."""


class ContextOut(TypedDict):
    format: PromptFormat
    request: NotRequired[dict[str, JsonValue]]
    """Arguments for the provider's call, less model and length of the answer. Absent from a dry run without
    `with_request`."""
    parts: NotRequired[list[PartOut]]
    """With `with_request`."""
    tool_names: NotRequired[dict[str, str]]
    """Names of tools in the request that the provider would not take as the log has them: what is sent, and what it
    stands for."""
    report: ReportOut
    session: NotRequired[SessionNote]
    degraded: Degraded
    transparency: list[str]
    memory_lag: NotRequired[MemoryLagOut]
    recall_id: NotRequired[str]
    """In a round of tool calls that of the turn's first prompt."""
    prompt_id: NotRequired[str]
    """What a report of its usage names. Ids and hashes are kept of it for seven days, and no words."""
    elapsed_ms: float
    cold_start_ms: NotRequired[float]


class ConversationView(TypedDict):
    session_id: str
    last_seq: int
    """Up to here it would be taken back; what is said later stays."""


CopyPlace: TypeAlias = "Literal['events', 'summary', 'document', 'memory']"

CopyReason: TypeAlias = "Literal['same_words', 'same_events']"


class CopyView(TypedDict):
    """Fields that do not apply are absent."""

    where: CopyPlace
    """`events` of the log, the `summary` that stands for them in prompts, a `document`, or a `memory`."""
    because: CopyReason
    """It says the same words, or it was made of the same events."""
    id: NotRequired[str]
    """Of a memory or a document."""
    path: NotRequired[str]
    """Of a document."""
    status: NotRequired[MemoryStatus]
    """Of a memory or a document."""
    session_id: NotRequired[str]
    """Of events, and of a summary."""
    seq_from: NotRequired[int]
    """The first event."""
    seq_to: NotRequired[int]
    """The last event."""


class CorrectArguments(TypedDict):
    id: str
    text: str
    """What holds now."""
    reason: str
    """Why, for the trace."""


class CorrectBody(TypedDict):
    session_id: NotRequired[str]
    """Where the tool was called."""
    tool_use_id: NotRequired[str]
    """The provider's id of the call: a repeat in its session changes nothing."""
    arguments: CorrectArguments


CorrectOrMistake: TypeAlias = "CorrectView | MistakeView"


class CorrectView(TypedDict):
    content: str
    """What belongs into the `tool_result`: nothing else has to be made of this answer."""
    is_error: bool
    """True: `content` says what did not work."""
    id: NotRequired[str]
    """Of what holds now, or waits; absent where it is not kept."""
    corrects: str
    """The memory whose place it takes, or would take."""
    status: NotRequired[str]
    written_by: NotRequired[WrittenBy]


Covers = TypedDict("Covers", {"from": "int", "to": "int"})


class CreateBody(TypedDict):
    """A `fact` needs a `category`, a `session_summary` an `outcome` and a `session_id`; no other kind has those two
    fields."""

    text: str
    kind: NotRequired[MemoryKind]
    category: NotRequired[Category]
    by: NotRequired[SaidBy]
    """Of a fact: whose word it is; default human_edit."""
    outcome: NotRequired[Outcome]
    emotional_tone: NotRequired[str]
    key_topics: NotRequired[list[str]]
    session_id: NotRequired[str]
    """Its session; without one the memory is global."""
    scope: NotRequired[MemoryScope]
    """Default: session with a session_id, else global."""
    priority: NotRequired[Priority]
    """Default: high for manual, medium for others."""
    importance: NotRequired[int]
    confidence: NotRequired[float]
    """Kept to six places."""
    label: NotRequired[str]
    """The caller's project or channel."""
    group: NotRequired[str]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own."""
    never_recall: NotRequired[bool]
    """Listed, but neither packed nor recalled."""
    valid_from: NotRequired[str]
    """From when on it holds; default always."""
    valid_until: NotRequired[str]
    """Until when it holds, that moment not included; behind `valid_from`. Default always."""
    observed_at: NotRequired[str]
    """When it was said or true; default now."""


class CreateKeyBody(TypedDict):
    scopes: list[KeyScope]
    """`documents`: calls of documents, and the tools that search and read them, alone. `tokens`: making access
    tokens of users."""
    label: NotRequired[str]


class CreateTokenBody(TypedDict):
    ttl_s: NotRequired[int]
    """Seconds until it ends."""
    label: NotRequired[str]
    """For whoever holds the token: it stands in it, and nowhere else."""
    scopes: list[TenantTokenScope]
    """Some of those that the API key has."""


class CreateUserTokenBody(TypedDict):
    ttl_s: NotRequired[int]
    """Seconds until it ends."""
    label: NotRequired[str]
    """For whoever holds the token: it stands in it, and nowhere else."""
    scopes: list[UserTokenScope]
    """`self`: the user's own export and erasure, and their jobs."""


class CriteriaView(TypedDict):
    """The criteria that the storage decision looked at."""

    pii: PiiFinding
    provenance: bool
    """Whether the source may state facts."""
    importance: bool
    """Whether it reaches the policy's minimum, or was to be remembered."""
    novelty: bool
    """Whether nothing that is kept says the same."""
    contradiction: FactRelation


class CustomBudget(TypedDict):
    """A budget of the caller's own. What the sections leave of the input goes to memories, history and task by need,
    in this order."""

    total: int
    output: int
    """Kept free for the answer."""
    system: int
    """Tools, static prefix, boundaries, instructions."""
    memories: int
    """The pack and what is retrieved."""
    history: int
    """With the message."""
    task: NotRequired[int]


Degraded: TypeAlias = "list[str]"


class DeletedDocumentsView(TypedDict):
    deleted: list[str]
    """The paths of what was deleted."""
    more: bool
    """Whether documents are left below the prefix: call again."""


class DeletedView(TypedDict):
    """Name what went and where it still stands; with `dry_run` what would go, and nothing is gone."""

    id: str
    dry_run: NotRequired[Literal[True]]
    in_packs: list[PackVersionRef]
    """Frozen pack versions that still hold the text."""
    derived: list[str]
    """Reflections and copies that were made from it and are still there."""
    purged_packs: list[PackVersionRef]
    """Pack versions that held it and went with it."""
    packs_complete: bool
    """False: of very many pack versions not all are named, or with `purge_packs` not all had time to go. The same
    call without an `Idempotency-Key` goes on, until it is true or 404."""
    deleted_derived: list[str]
    """What was made from it and went with it."""
    also_in: list[CopyView]
    """Where else what it said may still stand: at most 50 places, the log first."""
    also_in_complete: bool
    """Whether everything was looked at, and everything found is named."""


class DeliveriesOut(TypedDict):
    deliveries: list[DeliveryOut]


DeliveryFailure: TypeAlias = "Literal['status', 'timeout', 'name', 'address', 'connection', 'tls', 'resting']"


class DeliveryOut(TypedDict):
    event_id: str
    event_type: str
    """`webhook.test` of a test."""
    at: str
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    outcome: DeliveryOutcome
    """`failed`: it is tried again. `given_up`: it is not, after 24 hours. `disabled`: the receiver wants nothing
    more."""
    attempt: int
    duration_ms: int
    status: NotRequired[int]
    """Left out where there was no answer."""
    failure: NotRequired[DeliveryFailure]
    """Left out where it arrived."""


DeliveryOutcome: TypeAlias = "Literal['delivered', 'failed', 'given_up', 'disabled']"


class DocumentHeadView(TypedDict):
    path: str
    id: NotRequired[str]
    """Stays when the document moves. An artifact has none."""
    rev: int
    name: str
    summary: str
    tags: list[str]
    group: NotRequired[str]
    kind: str
    always_include: bool
    include_priority: IncludePriority
    prompt_label: NotRequired[str]
    prompt_hint: NotRequired[str]
    prompt_order: NotRequired[int]
    editable: bool
    source_type: NotRequired[str]
    source_id: NotRequired[str]
    extracted_at: NotRequired[str]
    """When it was last drawn from a conversation."""
    importance: int
    status: str
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    holds: bool
    """Whether now is between the two: what does not hold is neither packed nor recalled."""
    supersedes: list[str]
    """Paths."""
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    superseded_reason: NotRequired[str]
    provenance: ProvenanceView
    fingerprint: str
    tokens: int
    bytes: NotRequired[int]
    """Of the text in UTF-8. Not of an artifact."""
    embedding_state: str
    embedding_model: NotRequired[str]
    session_id: NotRequired[str]
    """Of an artifact: where a tool said it."""
    seq: NotRequired[int]
    created_at: str
    updated_at: NotRequired[str]
    """When `rev` last moved."""


class DocumentPage(TypedDict):
    documents: list[DocumentHeadView]
    """By path, without their texts."""
    next_cursor: NotRequired[str]


DocumentStatus: TypeAlias = "Literal['active', 'resolved', 'inbox', 'archived']"


class DocumentView(TypedDict):
    path: str
    id: NotRequired[str]
    """Stays when the document moves. An artifact has none."""
    rev: int
    name: str
    summary: str
    tags: list[str]
    group: NotRequired[str]
    kind: str
    always_include: bool
    include_priority: IncludePriority
    prompt_label: NotRequired[str]
    prompt_hint: NotRequired[str]
    prompt_order: NotRequired[int]
    editable: bool
    source_type: NotRequired[str]
    source_id: NotRequired[str]
    extracted_at: NotRequired[str]
    """When it was last drawn from a conversation."""
    importance: int
    status: str
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    holds: bool
    """Whether now is between the two: what does not hold is neither packed nor recalled."""
    supersedes: list[str]
    """Paths."""
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    superseded_reason: NotRequired[str]
    provenance: ProvenanceView
    fingerprint: str
    tokens: int
    bytes: NotRequired[int]
    """Of the text in UTF-8. Not of an artifact."""
    embedding_state: str
    embedding_model: NotRequired[str]
    session_id: NotRequired[str]
    """Of an artifact: where a tool said it."""
    seq: NotRequired[int]
    created_at: str
    updated_at: NotRequired[str]
    """When `rev` last moved."""
    text: str
    chunks: NotRequired[list[ChunkView]]
    chunks_left_out: NotRequired[int]
    """Passages behind `chunks` for which the answer has no room: it has 6 MB."""


class DrainBody(TypedDict):
    user_id: NotRequired[str]
    """Only this user; all users of the tenant when absent."""
    wait: NotRequired[bool]
    """As ``wait_s: 20``."""
    wait_s: NotRequired[float]
    """Seconds to wait until nothing is pending any more."""


class DroppedPart(TypedDict):
    index: int
    """Of the message in the list."""
    part: str
    """Where it stands in the message."""
    why: str


class DryFactOut(TypedDict):
    """The fate of a statement. Only a row that there is has an id; what is rejected has no text."""

    decision: str
    reason: str
    id: NotRequired[str]
    text: NotRequired[str]
    category: NotRequired[Category]
    status: NotRequired[MemoryStatus]
    tokens: NotRequired[int]
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]
    supersedes: NotRequired[list[str]]


class DryObservationOut(TypedDict):
    """A new memory of a pass."""

    text: str
    priority: Priority
    tokens: int
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]
    about: NotRequired[list[str]]


class DryRunOut(TypedDict):
    dry_run: Literal[True]
    passes: int
    """How often the observer was asked with success."""
    observed_seq: int
    """How far the session would be observed."""
    observations: list[DryObservationOut]
    facts: list[DryFactOut]
    superseded: list[str]
    """Ids of memories that would be superseded."""
    reinforced: list[str]
    """Ids of memories that would be cited, or stated again."""
    tokens: int
    """Of what would be new."""
    model: NotRequired[dict[str, int]]
    """What it has cost, which is counted: calls and tokens of a model."""
    complete: bool
    """False: not all that is unobserved was looked at, `reason` says why."""
    reason: NotRequired[str]


class EditBody(TypedDict):
    """The fields to edit, at least one. `path`: of a document; `category`, `importance`: of a fact."""

    text: NotRequired[str]
    path: NotRequired[str]
    """Where the document is to be."""
    category: NotRequired[Category]
    importance: NotRequired[int]


EmbedCache: TypeAlias = "Literal['hit', 'miss']"


class EmbedderOut(TypedDict):
    model: str
    dimensions: int
    state: EmbedderState
    """`off`: keyword search only, by configuration. `loading`: the process has just started."""
    reason: NotRequired[str]


EmbedderState: TypeAlias = "Literal['ready', 'loading', 'unavailable', 'off']"


class EmbeddingsOut(TypedDict):
    """Memories by embedding state; `vectors` are the stored (text, model) pairs, events included."""

    pending: int
    ready: int
    failed: int
    skipped: int
    vectors: int


class EndBody(TypedDict):
    outcome: NotRequired[Outcome]
    """How the conversation ended."""


EventImageType: TypeAlias = "Literal['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/*']"

EventOrder: TypeAlias = "Literal['asc', 'desc']"


class EventOut(TypedDict):
    seq: int
    client_id: NotRequired[str]
    event_type: str
    name: NotRequired[str]
    content: str | list[dict[str, Any]]
    """Text, or blocks. Images and texts that Neve holds are named by `upload_id`, which a new event may use again."""
    event_data: NotRequired[dict[str, Any]]
    metadata: NotRequired[dict[str, str]]
    participant: NotRequired[str]
    """Who of the session's participants said it."""
    audience: NotRequired[Audience]
    """`session`: no other session is told of it."""
    original_tokens: int
    pruned: bool
    artifact_path: NotRequired[str]
    archived: bool
    """A compaction has summarised it."""
    retracted: bool
    """It was taken back: no prompt shows it and no recall finds it."""
    erased: NotRequired[Literal[True]]
    """It was deleted, and nothing of what it said is kept any more."""
    unobservable: NotRequired[Unobservable]
    """The observer would not read it, or gave no usable answer; the passes went on without."""
    created_at: str


class EventTextBlock(TypedDict):
    """A text by exactly one of `text`, `upload_id`. What was uploaded is read below `/artifacts/`, and the log,
    prompts and the observer hold a line that says where."""

    type: Literal["text"]
    text: NotRequired[str]
    upload_id: NotRequired[str]
    """From `createUpload`, of `text/plain`."""


class EventsPage(TypedDict):
    events: list[EventOut]
    removed: NotRequired[RemovedOut]
    """Archived events that are gone for good, because the policy's `retention_days` are over."""
    next_from_seq: NotRequired[int]
    """`from_seq` of the next page; absent on the last one."""


class EvolveDocumentBody(TypedDict):
    """A new document in the place of an old one; what is not named is as in the old document."""

    name: NotRequired[str]
    """Default: the first heading, else the path's last segment; again when empty."""
    summary: NotRequired[str]
    """Default: the first lines; again when empty."""
    tags: NotRequired[list[str]]
    group: NotRequired[str]
    """Empty: none."""
    kind: NotRequired[str]
    """The caller's own; default `document`."""
    always_include: NotRequired[bool]
    """In every pack. Always true below `/always-load/`."""
    include_priority: NotRequired[IncludePriority]
    prompt_label: NotRequired[str]
    """What a prompt calls it. Empty: none."""
    prompt_hint: NotRequired[str]
    """Empty: none."""
    prompt_order: NotRequired[int]
    editable: NotRequired[bool]
    """False: changed by people only, never by a model."""
    importance: NotRequired[int]
    status: NotRequired[DocumentStatus]
    valid_from: NotRequired[Any]
    """From when on it holds. Empty: always."""
    valid_until: NotRequired[Any]
    """Until when it holds. Empty: always."""
    path: str
    """Of the document that is superseded."""
    to: str
    """Of the new one."""
    text: str
    reason: str


class EvolveMemoryBody(TypedDict):
    """A field that is absent is as it was, but for the times between which the old one held."""

    text: str
    """What holds now."""
    reason: str
    """Why, for the trace."""
    category: NotRequired[Category]
    importance: NotRequired[int]
    priority: NotRequired[Priority]
    tags: NotRequired[list[str]]
    valid_from: NotRequired[str]
    """From when on the new one holds; default always."""
    valid_until: NotRequired[str]
    """Until when the new one holds; default always."""


class ExplainedRecallView(TypedDict):
    id: str
    at: str
    query_hash: str
    """Keyed hash. The query itself is not kept."""
    mode: RecallMode
    scope: RecallScope
    session_id: NotRequired[str]
    as_of: NotRequired[str]
    """The time that was asked about, where one was named."""
    limit: int
    result_state: ResultState
    budget_ms: int
    elapsed_ms: float
    legs: dict[str, LegView]
    hits: list[RecordedHitView]
    degraded: Degraded
    why_not: NotRequired[WhyNotView]


FactDecision: TypeAlias = "Literal['stored', 'reinforced', 'superseded', 'inbox']"

FactRelation: TypeAlias = "Literal['not_checked', 'new', 'reinforces', 'updates', 'contradicts']"


class FactView(TypedDict):
    """The row of a fact, and why it is kept as it is. `reinforced`: it was there already."""

    id: str
    kind: str
    tier: str
    scope: str
    session_id: NotRequired[str]
    text: str
    category: NotRequired[str]
    outcome: NotRequired[str]
    emotional_tone: NotRequired[str]
    key_topics: NotRequired[list[str]]
    judged: NotRequired[JudgedView]
    passages: NotRequired[list[PassageView]]
    priority: str
    importance: int
    confidence: float
    status: str
    label: NotRequired[str]
    group: NotRequired[str]
    tags: list[str]
    metadata: NotRequired[dict[str, str]]
    never_recall: bool
    """Neither packed nor recalled, whatever its status."""
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    holds: bool
    """Whether now is between the two: what does not hold is neither packed nor recalled."""
    written_by: NotRequired[WrittenBy]
    """`model`: a model wrote it with a tool."""
    about: NotRequired[list[str]]
    """The participants of its session who said it."""
    audience: NotRequired[Audience]
    """`session`: no other session is told of it."""
    fingerprint: str
    occurrences: int
    supersedes: list[str]
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    superseded_reason: NotRequired[str]
    provenance: ProvenanceView
    observed_date: NotRequired[str]
    time_of_day: NotRequired[str]
    referenced_date: NotRequired[str]
    relative_date: NotRequired[str]
    created_at: str
    observed_at: str
    last_used_at: str
    last_accessed_at: NotRequired[str]
    tokens: int
    embedding_state: str
    embedding_model: NotRequired[str]
    rev: int
    decision: FactDecision
    """`superseded`: stored, in the place of what it corrects."""
    criteria: CriteriaView
    reason: str


class FactsView(TypedDict):
    """The decisions on the statements of a text, with `split`: one for each."""

    facts: list[FactView | RejectedFactView]


class FailingWebhookOut(TypedDict):
    id: str
    failed: int
    """Of the last 20 attempts."""
    at: str
    """Of the newest that failed."""
    outcome: DeliveryOutcome
    status: NotRequired[int]
    failure: NotRequired[DeliveryFailure]
    disabled: bool


class FeedOut(TypedDict):
    events: list[OutgoingEventOut]
    cursor: str
    """Where the next call goes on, also when there is nothing more by now."""
    more: bool
    """There is something behind it already."""
    missed: bool
    """Events behind `after` were removed before this call, or may have been: they are kept for 7 days."""


class FieldProblem(TypedDict):
    field: str
    """Where: `events[3].content`, `query.limit`, `path.user_id`, `header.If-Match`."""
    message: str
    """Why, for a person."""


FilingAction: TypeAlias = "Literal['create', 'update', 'append', 'move']"


class FiltersBody(TypedDict):
    group: NotRequired[str]
    tags: NotRequired[list[str]]
    """All of them."""
    metadata: NotRequired[dict[str, Any]]
    """All of them, with these values. No document has any."""
    tier: NotRequired[Tier]
    path_prefix: NotRequired[str]
    """`/`, or a path; whole segments below it."""
    category: NotRequired[Category]
    kind: NotRequired[HitKind]
    after: NotRequired[str]
    """Observed at this time or later."""
    before: NotRequired[str]
    """Observed before this time."""
    about: NotRequired[list[str]]
    """Said by any of these participants. No document was."""


class ForgetArguments(TypedDict):
    id: NotRequired[str]
    query: NotRequired[str]
    """What a recall finds for it, at most 20 memories."""
    dry_run: NotRequired[bool]
    """Only list; false, with `id`: forget it in one call."""
    confirm: NotRequired[str]
    """That of a list, at most an hour old."""


class ForgetBody(TypedDict):
    """`filters`, `query` or `sessions` list what would be forgotten; `confirm` has exactly that forgotten."""

    filters: NotRequired[MemoryFilters]
    query: NotRequired[str]
    """What a recall in mode `tool` finds for it, at most 20 memories."""
    sessions: NotRequired[list[str]]
    """What was made of these conversations and of no others, whatever its status."""
    events: NotRequired[bool]
    """With `sessions`: the conversations themselves, too."""
    dry_run: NotRequired[bool]
    """Only list; false without `confirm`: list and forget what was found in one call."""
    confirm: NotRequired[str]
    """That of a list, at most an hour old."""
    purge_packs: NotRequired[bool]
    """Take the frozen pack versions that hold any of it away, too, when it is forgotten."""


class ForgetListView(TypedDict):
    """The list of what would be forgotten. Nothing is, yet."""

    dry_run: bool
    count: int
    """Memories."""
    memories: list[ToForgetView]
    """The first 100 of them."""
    conversations: NotRequired[list[ConversationView]]
    """With `events`."""
    complete: bool
    """False: there is more, which a further list has when this is forgotten."""
    confirm: NotRequired[str]
    """Has exactly these forgotten, as long as they are as they were listed."""
    expires_in_s: NotRequired[int]
    """How long the `confirm` is good for."""
    degraded: NotRequired[Degraded]
    """What the search for the `query` had to do without."""


ForgetOrMistake: TypeAlias = "ForgetView | MistakeView"


class ForgetToolBody(TypedDict):
    session_id: NotRequired[str]
    """Where the tool was called."""
    tool_use_id: NotRequired[str]
    """The provider's id of the call: a repeat in its session changes nothing."""
    arguments: ForgetArguments


class ForgetView(TypedDict):
    """A list, or the job that forgets one."""

    content: str
    """What belongs into the `tool_result`: nothing else has to be made of this answer."""
    is_error: bool
    """True: `content` says what did not work."""
    dry_run: bool
    count: NotRequired[int]
    """Memories that the list has."""
    memories: NotRequired[list[ToForgetView]]
    """The first 100 of them."""
    confirm: NotRequired[str]
    """Has exactly these forgotten, as they were listed."""
    expires_in_s: NotRequired[int]
    """How long the `confirm` is good for."""
    degraded: NotRequired[Degraded]
    """What the search had to do without."""
    job_id: NotRequired[str]
    """Of the job that forgets; its result is the receipt."""


ForgottenOrListed: TypeAlias = "ForgetListView | JobOut"

FoundOrMistake: TypeAlias = "FoundView | MistakeView"


class FoundView(TypedDict):
    content: str
    """What belongs into the `tool_result`: nothing else has to be made of this answer."""
    is_error: bool
    """True: `content` says what did not work."""
    result_state: ResultState
    """`none`: nothing is there. `not_searched`: nothing is known of what is there."""
    hits: list[HitView]
    legs: LegsView
    degraded: Degraded
    memory_lag: NotRequired[MemoryLagOut]
    """With `index:behind`: how much cannot be found yet."""
    transparency: list[str]
    injection_text: str
    """Markdown for the prompt, labelled as candidates; empty without hits."""
    budget_ms: int
    elapsed_ms: float
    cold_start_ms: NotRequired[float]
    """In the first answer of a process: what its start has cost. The budget began behind it."""
    recall_id: NotRequired[str]
    debug: NotRequired[dict[str, JsonValue]]


class FurtherStatementView(TypedDict):
    """Another statement of the memory that a hit is."""

    n: int
    text: str
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]
    trust: Trust
    """Whose word it is."""


class HealthOut(TypedDict):
    status: HealthStatus
    version: str
    table: StoreState
    embedder: EmbedderOut
    multi: NotRequired[EmbedderOut]
    """The encoder of tenants whose policy says `languages: multi`; it is loaded when the first of them needs it.
    Absent where the stage's own serves them."""
    index: IndexOut
    observer: str
    """Who observes: a language model, or `extractive` rules."""
    languages: LanguagesOut
    troubles: list[TroubleOut]
    """What fails again and again, is full or is damaged."""


HealthStatus: TypeAlias = "Literal['ok', 'loading', 'degraded']"


class HistoryOut(TypedDict):
    epoch: int
    turns: int
    """That are shown."""
    hidden: NotRequired[dict[str, int]]
    """`from` and `to`: events that are summarised or left out."""
    epoch_changed: bool
    """This call cut the history or took its images out: a new epoch starts."""
    cut_for_message: bool
    """One long message left no room for all of it: the next prompt has the turns again, and its epoch."""
    compaction: Queued


HitKind: TypeAlias = Literal[
    "observation",
    "reflection",
    "fact",
    "session_summary",
    "note",
    "manual",
    "document",
    "event",
]


class HitPassageView(TypedDict):
    """The matched part of the item, with its range of the session's log."""

    n: int
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]


class HitProvenanceView(TypedDict):
    by: str
    session_id: NotRequired[str]
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]
    model: NotRequired[str]
    trust: Trust
    """Whose word the passage is."""


class HitView(TypedDict):
    id: str
    source: Source
    path: NotRequired[str]
    kind: str
    tier: str
    text: str
    """The matched passage, and behind it the beginning of its item."""
    session_id: NotRequired[str]
    speaker: NotRequired[str]
    seq: NotRequired[int]
    passage: HitPassageView
    rank: int
    score: float
    """What the hits are ordered by: `rerank` where it ran, else `final`."""
    components: ComponentsView
    provenance: HitProvenanceView
    group: NotRequired[str]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, str]]
    about: NotRequired[list[str]]
    """The participants of its session who said it."""
    category: NotRequired[str]
    created_at: str
    observed_at: str
    status: str
    also: NotRequired[list[FurtherStatementView]]
    """Of a memory, in mode `tool`: up to three other statements of it that hold terms of the query."""
    said_again: NotRequired[list[str]]
    """When else the same text was said or noted, newest first: of the items that were found, up to 20."""


class ImageBlock(TypedDict):
    """An image by exactly one of `data`, `url`, `upload_id`. Neve never fetches the URL."""

    type: Literal["image"]
    media_type: EventImageType
    """`image/*`: of a `url` that does not say more."""
    data: NotRequired[str]
    """The bytes in base64."""
    url: NotRequired[str]
    upload_id: NotRequired[str]
    """From `createUpload`."""


class ImagesOut(TypedDict):
    """Counts of the prompt's images, those by `url` included."""

    shown: int
    left_out: int
    """A line of text stands in their place; `pruned` says of which events and why. Of what waits for an answer:
    `images:left_out`."""


ImagesShown: TypeAlias = "Literal['all', 'recent', 'none']"


class ImportLine(TypedDict):
    type: NotRequired[Literal["memory"]]
    id: NotRequired[str]
    """Its own. Without one it follows from the line, so that a repeat adds nothing."""
    text: str
    kind: NotRequired[MemoryKind]
    session_id: NotRequired[str]
    scope: NotRequired[MemoryScope]
    priority: NotRequired[Priority]
    importance: NotRequired[int]
    confidence: NotRequired[float]
    """Kept to six places."""
    status: NotRequired[MemoryStatus]
    category: NotRequired[Category]
    outcome: NotRequired[Outcome]
    emotional_tone: NotRequired[str]
    key_topics: NotRequired[list[str]]
    occurrences: NotRequired[int]
    supersedes: NotRequired[list[str]]
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    superseded_reason: NotRequired[str]
    label: NotRequired[str]
    group: NotRequired[str]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    never_recall: NotRequired[bool]
    valid_from: NotRequired[str]
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    valid_until: NotRequired[str]
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    written_by: NotRequired[WrittenBy]
    about: NotRequired[list[str]]
    audience: NotRequired[Audience]
    """`session`: told in its `session_id` alone."""
    passages: NotRequired[list[PassageLine]]
    provenance: NotRequired[ProvenanceLine]
    created_at: NotRequired[str]
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    observed_at: NotRequired[str]
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    observed_date: NotRequired[str]
    """Local to whoever said it; default the day in UTC."""
    time_of_day: NotRequired[TimeOfDay]
    last_used_at: NotRequired[str]
    """RFC 3339 with an offset; kept in UTC with milliseconds."""


class ImportView(TypedDict):
    imported: list[str]
    unchanged: list[str]
    """Ids that were here already with the same text."""
    conflicting: list[str]
    """Ids that were here already with another text, which stays."""
    repeated: list[str]
    """Ids of facts that another memory here states, in these words or others."""
    rejected: list[RejectedLineView]
    """Lines that were not accepted; the others were."""
    also_rejected: NotRequired[list[int]]
    """Further lines that were not accepted, whose reasons have no room in the answer."""
    skipped: dict[str, int]
    """Lines of an export that are no memories, by type."""
    next_line: NotRequired[int]
    """Where to go on: there was no time for this line and those behind it, of which nothing is said here. Send them
    in another call."""


class InboxItem(TypedDict):
    """Exactly one of `memory` and `document`."""

    id: str
    status: InboxStatus
    reason: str
    """Why a person decides."""
    session_id: NotRequired[str]
    created_at: str
    memory: NotRequired[MemoryView]
    document: NotRequired[ProposalView]


class InboxPage(TypedDict):
    items: list[InboxItem]
    next_cursor: NotRequired[str]


InboxStatus: TypeAlias = "Literal['inbox', 'approved', 'rejected']"

IncludePriority: TypeAlias = "Literal['high', 'normal', 'low']"


class IndexOut(TypedDict):
    state: StoreState
    model: NotRequired[str]
    dimensions: NotRequired[int]
    match: NotRequired[bool]
    """False: the vectors are of another model and are not compared."""


class JobOut(TypedDict):
    id: str
    kind: str
    status: JobStatus
    user_id: NotRequired[str]
    session_id: NotRequired[str]
    created_at: str
    finished_at: NotRequired[str]
    result: NotRequired[dict[str, Any]]
    """What was done, or why nothing was."""
    degraded: NotRequired[Degraded]
    """Of a pass that has not ended: `extract:queued` while the language model gives no answer; of a call that asks
    for one: `observer:language`."""
    other_language: NotRequired[OtherLanguage]
    stages: NotRequired[list[StageOut]]
    """Of work on a session, when the job is read: from what was said to what can be found."""


JobStage: TypeAlias = "Literal['analyse', 'extract', 'embed', 'upsert', 'ready']"

JobStatus: TypeAlias = "Literal['queued', 'running', 'done', 'failed']"

JsonValue: TypeAlias = "Any"


class JudgedView(TypedDict):
    """The reasons why a fact is kept as it is."""

    criteria: CriteriaView
    route: Plainness
    reason: str
    via: ProposedBy
    target_id: NotRequired[str]
    """The memory that it reinforces or corrects."""


KeptView: TypeAlias = "FactView | RejectedFactView | FactsView | MemoryView"


class KeyOut(TypedDict):
    key_id: str
    key: NotRequired[str]
    """The key's text. Shown once: a repeat with the same `Idempotency-Key` names the key without it."""
    scopes: list[str]
    label: NotRequired[str]
    created_at: str


class KeyPage(TypedDict):
    keys: list[ListedKeyOut]
    next_cursor: NotRequired[str]


KeyScope: TypeAlias = "Literal['chat', 'records', 'admin', 'documents', 'tokens']"

KnowledgeOrMistake: TypeAlias = "SearchKnowledgeView | MistakeView"


class KnowledgeView(TypedDict):
    """One document or memory, in a line: `read_document` has the text of a path."""

    path: NotRequired[str]
    """Of a document."""
    id: str
    source: str
    title: str
    """The document's name, or the memory's beginning."""
    summary: str
    score: float
    tags: list[str]
    observed_at: str
    """When the document last changed, or the memory was observed."""


Languages: TypeAlias = "Literal['en', 'multi']"


class LanguagesOut(TypedDict):
    """ISO 639-1 codes; `*` is any."""

    words: list[str]
    """Whose inflections the keyword leg knows. Of others, words as written."""
    meaning: list[str]
    """Whose meaning the embedder knows."""
    observer: list[str]
    """In which the observer recognises what to remember."""


class LayerEntry(TypedDict):
    layer: PackLayer
    entry: PackEntryOut


Leg: TypeAlias = "Literal['lexical', 'vector']"


class LegPlaceView(TypedDict):
    """The place of a memory in one leg. Without a rank it was not found, or dropped before the ranking."""

    status: LegStatus
    depth: int
    rank: NotRequired[int]
    score: NotRequired[float]
    """BM25 of the lexical leg, cosine of the vector leg."""


LegStatus: TypeAlias = "Literal['complete', 'skipped', 'error']"


class LegView(TypedDict):
    status: LegStatus
    depth: int
    ms: float
    started_ms: float
    """After the recall's own start."""
    embed_cache: NotRequired[EmbedCache]
    embed_ms: NotRequired[float]
    late: NotRequired[Literal[True]]
    """Its error is that it had no more time."""


class LegsView(TypedDict):
    lexical: LegView
    vector: LegView


class ListedKeyOut(TypedDict):
    key_id: str
    label: NotRequired[str]
    scopes: list[KeyScope]
    created_at: str
    last_used_day: NotRequired[str]
    """In UTC; absent where no use is known."""
    revoked_at: NotRequired[str]


class MemoriesOut(TypedDict):
    total: int
    kind: dict[str, int]
    tier: dict[str, int]
    status: dict[str, int]


class MemoryFilters(TypedDict):
    """The filters of the list of memories and those of a recall. A document has other calls, so that there is no
    `path_prefix`."""

    kind: NotRequired[MemoryKind]
    tier: NotRequired[Tier]
    category: NotRequired[Category]
    status: NotRequired[MemoryStatus]
    """Default: active, resolved and inbox."""
    scope: NotRequired[MemoryScope]
    session_id: NotRequired[str]
    group: NotRequired[str]
    tags: NotRequired[list[str]]
    """All of them."""
    metadata: NotRequired[dict[str, Any]]
    """All of them, with these values."""
    never_recall: NotRequired[bool]
    written_by: NotRequired[WrittenBy]
    """`model`: what a model wrote with a tool."""
    after: NotRequired[str]
    """Observed at this time or later."""
    before: NotRequired[str]
    """Observed before this time."""
    about: NotRequired[list[str]]
    """Said by any of these participants."""


MemoryKind: TypeAlias = "Literal['observation', 'reflection', 'fact', 'session_summary', 'note', 'manual']"


class MemoryLagOut(TypedDict):
    """The lag of memory behind what was said. All zero: everything can be recalled, by words and by meaning."""

    events: int
    """Events whose words are not in the search index yet."""
    unindexed: int
    """Those, and memories that are not in it as they are now."""
    unembedded: int
    """Events and memories that cannot be found by meaning yet."""
    unobserved: int
    """Events up to the last complete turn that no pass has read."""
    seconds: int
    """How long the oldest of all these has waited."""
    at_least: NotRequired[bool]
    """true: not everything was counted, so each number may be larger. Else absent."""


class MemoryPage(TypedDict):
    memories: list[MemoryView]
    next_cursor: NotRequired[str]


MemoryScope: TypeAlias = "Literal['session', 'global']"

MemoryStatus: TypeAlias = "Literal['active', 'resolved', 'inbox', 'superseded', 'archived']"

MemoryStatusChange: TypeAlias = "Literal['active', 'resolved', 'archived']"


class MemoryView(TypedDict):
    id: str
    kind: str
    tier: str
    scope: str
    session_id: NotRequired[str]
    text: str
    category: NotRequired[str]
    outcome: NotRequired[str]
    emotional_tone: NotRequired[str]
    key_topics: NotRequired[list[str]]
    judged: NotRequired[JudgedView]
    passages: NotRequired[list[PassageView]]
    priority: str
    importance: int
    confidence: float
    status: str
    label: NotRequired[str]
    group: NotRequired[str]
    tags: list[str]
    metadata: NotRequired[dict[str, str]]
    never_recall: bool
    """Neither packed nor recalled, whatever its status."""
    valid_from: NotRequired[str]
    valid_until: NotRequired[str]
    holds: bool
    """Whether now is between the two: what does not hold is neither packed nor recalled."""
    written_by: NotRequired[WrittenBy]
    """`model`: a model wrote it with a tool."""
    about: NotRequired[list[str]]
    """The participants of its session who said it."""
    audience: NotRequired[Audience]
    """`session`: no other session is told of it."""
    fingerprint: str
    occurrences: int
    supersedes: list[str]
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    superseded_reason: NotRequired[str]
    provenance: ProvenanceView
    observed_date: NotRequired[str]
    time_of_day: NotRequired[str]
    referenced_date: NotRequired[str]
    relative_date: NotRequired[str]
    created_at: str
    observed_at: str
    last_used_at: str
    last_accessed_at: NotRequired[str]
    tokens: int
    embedding_state: str
    embedding_model: NotRequired[str]
    rev: int


class MessageEvent(TypedDict):
    client_id: NotRequired[str]
    """The same id again returns the first seq; with other content it is a 409."""
    name: NotRequired[str]
    """The speaker. White space, line breaks included, becomes single spaces."""
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; nothing that is made of the event has them."""
    created_at: NotRequired[str]
    """When it was said; now when absent or more than a day ahead. RFC 3339 with an offset."""
    event_type: Literal["user_message"]
    content: str | list[EventTextBlock | ImageBlock]
    participant: NotRequired[str]
    """Who of the session's `participants` said it."""
    event_data: NotRequired[dict[str, Any]]


MessageFormat: TypeAlias = "Literal['anthropic', 'openai', 'openai_responses', 'ai_sdk']"

MessageOutcome: TypeAlias = "Literal['appended', 'known', 'dropped']"


class MessageState(TypedDict):
    id: str
    """Its own, else made of what it says and how often that was said before."""
    state: MessageOutcome
    """`known`: the session has it already. `dropped`: it says nothing; see `dropped`."""
    seqs: list[int]
    """Of its events in the log."""


class MessagesBody(TypedDict):
    """The whole chat, or its end, or what is new: what the session has already is not appended again."""

    messages: list[dict[str, Any]]
    """In order; at most 48 events are new in one call."""
    format: NotRequired[MessageFormat]
    """Whose messages these are; found for each when left out."""
    title: NotRequired[str]
    """Of the session, when it is new."""
    user_meta: NotRequired[UserMeta]
    """Of the session, when it is new."""
    metadata: NotRequired[dict[str, Any]]
    """Of the session, when it is new."""
    participants: NotRequired[list[ParticipantBody]]
    """Of the session, when it is new."""
    room: NotRequired[bool]
    """Of the session, when it is new."""
    created_at: NotRequired[str]
    """When those were said that do not say it themselves."""


class MistakeView(TypedDict):
    """The model's mistake. Nothing was looked for."""

    content: str
    """A sentence for the model, which belongs into the `tool_result`."""
    is_error: Literal[True]


class ModelPrice(TypedDict):
    """USD for a million tokens. ``input``: neither read from the cache nor written to it. ``cache_ttl_s``: how long
    the cache keeps a prompt that no call reads. The tokens of a prompt that has more than ``long_from`` cost
    ``long_input`` times as much, and those of its answer ``long_output`` times as much. ``as_of``: when it was
    read."""

    input: float
    cache_read: float
    cache_write: float
    output: float
    cache_ttl_s: NotRequired[int]
    long_from: NotRequired[int]
    long_input: NotRequired[float]
    long_output: NotRequired[float]
    as_of: NotRequired[str]


class MoneyOut(TypedDict):
    """USD by the prices in force when it was reported. What is saved may be negative."""

    cost_usd: float
    saved_usd_no_cache: float
    """Against the same prompts without a cache."""
    saved_usd_rebuilt_pack: float
    """Against a pack that is rebuilt every turn: only what stands before it would have been read."""


class MoveBody(TypedDict):
    path: str
    """A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs,
    none of them blank, . or .. alone, together at most 900 bytes in UTF-8."""
    to: str
    """A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs,
    none of them blank, . or .. alone, together at most 900 bytes in UTF-8."""
    prefix: NotRequired[bool]
    """With everything below `path`, up to 2,000 documents, which come to stand below `to`."""


class MovedDocumentView(TypedDict):
    path: str
    """Where it was."""
    to: str
    id: str
    rev: int


class MovedDocumentsView(TypedDict):
    moved: list[MovedDocumentView]
    """By the paths where they were."""
    more: bool
    """Whether some are left for want of time: call again."""


MovedView: TypeAlias = "DocumentView | MovedDocumentsView"


class NeutralEvent(TypedDict):
    """Kept, paged, exported and given back as it is, and read by nothing else: never observed, indexed, recalled or
    shown in a prompt, and no part of a turn. `event_data` takes any JSON object."""

    client_id: NotRequired[str]
    """The same id again returns the first seq; with other content it is a 409."""
    name: NotRequired[str]
    """The speaker. White space, line breaks included, becomes single spaces."""
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; nothing that is made of the event has them."""
    created_at: NotRequired[str]
    """When it was said; now when absent or more than a day ahead. RFC 3339 with an offset."""
    event_type: Literal["neutral"]
    content: NotRequired[str]
    event_data: NotRequired[dict[str, Any]]


class NightOut(TypedDict):
    job_id: str
    began: str
    status: JobStatus
    finished_at: NotRequired[str]
    users: int
    """Whose rows it condenses, as far as it has told them."""
    ended: int
    failed: int
    reason: NotRequired[str]


NightlyModel: TypeAlias = "Literal['direct', 'batch']"

Observation: TypeAlias = "Literal['queued', 'waiting', 'none']"


class ObserveAfter(TypedDict):
    """Says when the observer reads what was said. A call of observe, a session's end, a compaction and another
    session of the user do not wait for it."""

    tokens: NotRequired[int]
    """New tokens of complete turns that are read together; 0: after every turn. By default 2,000 where a language
    model observes, else 0."""
    idle_s: NotRequired[int]
    """Seconds without an event behind which fewer are read, too; the sweep looks every ten minutes. By default 600."""


class ObserveBody(TypedDict):
    wait: NotRequired[bool]
    """Poll up to 20 s for the end of the job."""
    dry_run: NotRequired[bool]
    """Say what a pass would write, and write nothing."""


ObservedOut: TypeAlias = "DryRunOut | JobOut"


class OpenJobOut(TypedDict):
    id: str
    kind: str
    user_id: NotRequired[str]
    session_id: NotRequired[str]
    status: JobStatus
    created_at: str
    due_at: NotRequired[str]
    """When the sweep sends it again, unless it has ended by then."""


class OpenSessionBody(TypedDict):
    session_id: NotRequired[str]
    """Repeat a call with the same id for the same session."""
    title: NotRequired[str]
    user_meta: NotRequired[UserMeta]
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; sent again, they take the place of those that are there."""
    participants: NotRequired[list[ParticipantBody]]
    """Who speaks beside an assistant; sent again, they join those who are there. What others than the user of the
    path say is told in no other session."""
    room: NotRequired[bool]
    """The user of the path is no person but a room: what is said in it is the room's."""
    budget_ms: NotRequired[int]
    """How long the pack may take; the policy's session start budget when absent. 0 or less: no pack."""


class OpenedOut(TypedDict):
    session: SessionOut
    pack: PackOut
    transparency: list[str]
    """Lines for the person at the screen."""
    degraded: NotRequired[Degraded]
    """What is missing from the pack, and why; `extract:queued` while what was said waits for a language model that
    gives no answer. Absent when nothing is."""
    created: bool
    elapsed_ms: int


OtherLanguage: TypeAlias = "int"

Outcome: TypeAlias = "Literal['SUCCESS', 'PARTIAL', 'INTERRUPTED']"


class OutgoingEventOut(TypedDict):
    id: str
    """The same in every repeat."""
    type: OutgoingType
    at: str
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    tenant: str
    user_id: NotRequired[str]
    """Left out where it is about the tenant as a whole."""
    subject: str
    """The id of what changed: a memory, a session, a job, a proposal."""
    data: dict[str, Any]
    """Ids and counts, by type: docs/rules/events.md#types."""


OutgoingType: TypeAlias = Literal[
    "memory.written",
    "memory.superseded",
    "memory.forgotten",
    "pack.version",
    "reflection.done",
    "session.extracted",
    "erasure.done",
    "export.done",
    "job.failed",
    "inbox.waiting",
]


class PackChangeOut(TypedDict):
    at: str
    pack_version: int
    trigger: NotRequired[Trigger]
    """Why that version was built."""
    cache_writes: int
    """Tokens that were written because of it."""
    cost_usd: NotRequired[float]
    """What they cost more than reading them."""


class PackChangesOut(TypedDict):
    """Reports with another pack than the one before."""

    count: int
    cache_writes: int
    """Tokens that were written because of it."""
    cost_usd: NotRequired[float]
    """What they cost more than reading them."""


class PackDiffOut(TypedDict):
    added: list[LayerEntry]
    removed: list[LayerEntry]
    changed: list[ChangedEntry]
    unified: str
    """Unified diff of the two texts."""
    unified_complete: bool
    """False: it is longer than an answer may be, and ends behind the last line that fits."""


class PackEntryOut(TypedDict):
    id: str
    rev: int
    fingerprint: str
    tokens: int
    """In the text; 0 of a fact that another line of the pack says."""
    kind: str
    """A memory's kind; `document`, or `excerpt` of one that is shown in part; `event` of what was just said in
    another conversation."""
    path: NotRequired[str]
    """Of a document."""


PackFormat: TypeAlias = "Literal['json', 'text']"

PackLayer: TypeAlias = "Literal['always', 'profile', 'global', 'local']"

PackLayersOut = TypedDict(
    "PackLayersOut",
    {
        "always": "list[PackEntryOut]",
        "profile": "list[PackEntryOut]",
        "global": "list[PackEntryOut]",
        "local": "list[PackEntryOut]",
    },
)


class PackOut(TypedDict):
    """A `ready` pack is a version and its JSON never changes: whether it is stale says `X-Neve-Degraded` alone.
    `preview` and `partial` have text but no version; `unavailable` has no text, so that the caller keeps its last
    pack."""

    state: PackState
    session_id: NotRequired[str]
    pack_version: NotRequired[int]
    trigger: NotRequired[Trigger]
    built_at: NotRequired[str]
    sha256: NotRequired[str]
    tokens: NotRequired[int]
    layers: NotRequired[PackLayersOut]
    left_out: NotRequired[list[PackEntryOut]]
    also_left_out: NotRequired[int]
    text: NotRequired[str]
    degraded: NotRequired[Degraded]


PackState: TypeAlias = "Literal['ready', 'partial', 'unavailable', 'preview']"


class PackVersionOut(TypedDict):
    session_id: str
    pack_version: int
    trigger: Trigger
    built_at: str
    sha256: str
    """Of the text in UTF-8."""
    tokens: int
    """Of the text."""
    layers: PackLayersOut
    left_out: NotRequired[list[PackEntryOut]]
    """What had no room: documents of the always and profile layers, and observations and reflections of the session
    while these are waiting to be folded; and rows of any kind of a pack that would be too large for an answer.
    Recall finds them."""
    also_left_out: NotRequired[int]
    """How many more had no room, whose names have none here."""


class PackVersionRef(TypedDict):
    session_id: str
    version: int


class PackVersions(TypedDict):
    versions: list[PackVersionOut]
    next_cursor: NotRequired[str]


PageOrMistake: TypeAlias = "ReadDocumentView | MistakeView"


class PartOut(TypedDict):
    """A part of the request, in its order."""

    name: str
    """`tools`, `static`, `system`, `instructions`, `pack`, `history`, `updates`, `retrieved`, `task_state`,
    `session` or `message`."""
    tokens: int
    at: NotRequired[str]
    """JSON pointer into `request`: to the text that holds the part, or to the first of tools or history."""
    start: NotRequired[int]
    """Its place in that text, in characters."""
    end: NotRequired[int]


class ParticipantBody(TypedDict):
    id: str
    """By which events name them; unique in the session."""
    name: str
    """How prompts and memory call them."""
    user_id: NotRequired[str]
    """Their own user, where they have one; that of the path, or such an `id`: it is theirs."""
    share: NotRequired[bool]
    """What they say from now on goes into the memory of their `user_id`, too."""


class ParticipantOut(TypedDict):
    id: str
    name: str
    user_id: NotRequired[str]
    share: bool


class PassageLine(TypedDict):
    text: str
    seq_from: NotRequired[int]
    """A position in the log."""
    seq_to: NotRequired[int]
    """A position in the log."""
    trust: NotRequired[Trust]


class PassageView(TypedDict):
    text: str
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]
    trust: NotRequired[Trust]


PiiAction: TypeAlias = "Literal['block', 'redact', 'allow']"


class PiiActions(TypedDict):
    """The actions on each class of personal data that is found (docs/rules/privacy.md#classes). Names, places and
    relatives are what a memory of a person is made of: the gate does not look for them."""

    card_number: NotRequired[PiiAction]
    ssn: NotRequired[PiiAction]
    password: NotRequired[PiiAction]
    api_key: NotRequired[PiiAction]
    medical_record_number: NotRequired[PiiAction]
    phone: NotRequired[PiiAction]
    email: NotRequired[PiiAction]
    iban: NotRequired[PiiAction]
    address: NotRequired[PiiAction]


PiiFinding: TypeAlias = "Literal['clear', 'redacted', 'blocked']"

Plainness: TypeAlias = "Literal['high', 'medium', 'low']"


class PlannedBatchOut(TypedDict):
    user_id: str
    ids: list[str]
    tokens: int


class Policy(TypedDict):
    """The numbers that the tenant set, as they are stored. The properties give the numbers in force."""

    window: NotRequired[int]
    """Tokens of the effective context window; what is not set follows it."""
    session_reflection_trigger: NotRequired[int]
    """Tokens at which a session's observations are folded; 0.325 of the window."""
    session_reflection_target: NotRequired[int]
    """Tokens that a folding may leave; half of its trigger."""
    compaction_trigger: NotRequired[int]
    """Tokens of turns at which a session is compacted; half of the window."""
    global_budget: NotRequired[int]
    """Tokens of the pack for what holds in every session; 0.075 of the window."""
    local_rows_budget: NotRequired[int]
    """Tokens of the pack for notes and facts of the session itself; 0.05 of the window."""
    always_budget: NotRequired[int]
    """Tokens of the pack for documents that are always in it; 0.02 of the window."""
    profile_budget: NotRequired[int]
    """Tokens of the pack for the profile, people included; 0.025 of the window."""
    observer_transcript_cap: NotRequired[int]
    """Tokens of events that the observer reads at a time."""
    observer_output_cap: NotRequired[int]
    """Tokens that the observer may answer with."""
    prior_memory_cap: NotRequired[int]
    """Tokens of earlier memories that the observer is shown."""
    observe_after: NotRequired[ObserveAfter]
    """When the observer reads what was said; what waits is found by its words meanwhile."""
    token_counter: NotRequired[TokenCounter]
    """How tokens are counted."""
    recall_limit: NotRequired[int]
    """Hits of a recall in a prompt."""
    recall_tool_limit: NotRequired[int]
    """Hits of the tool `recall_memory`."""
    recall_threshold: NotRequired[float]
    """Calibrated similarity below which a hit is no hit."""
    prompt_share: NotRequired[float]
    """Share of a prompt's words that makes up for some similarity; 0 lets everything through."""
    rerank: NotRequired[Rerank]
    """Who orders the hits again: nobody, a linear model, or for tools a model that reads them."""
    languages: NotRequired[Languages]
    """Whose meaning recall knows; a change makes every vector anew."""
    summary_verbosity: NotRequired[Verbosity]
    """How long a summary is."""
    prompt_budget_ms: NotRequired[int]
    """Milliseconds of a recall in a prompt."""
    session_start_budget_ms: NotRequired[int]
    """Milliseconds of the pack when a session is opened."""
    manual_search_budget_ms: NotRequired[int]
    """Milliseconds of a search by a tool."""
    prices: NotRequired[dict[str, ModelPrice]]
    """By model: what corrects the list prices or adds to them."""
    timezone: NotRequired[str]
    """The IANA time zone whose 03:00 is the tenant's night."""
    retention_days: NotRequired[int]
    """Days until an archived event is removed; without it never."""
    reflection_min_age_days: NotRequired[int]
    """Days until a memory is old enough for a night."""
    reflection_min_rows: NotRequired[int]
    """Memories that are worth a night's run."""
    reflection_min_tokens: NotRequired[int]
    """Or so many tokens of them."""
    nightly_model: NotRequired[NightlyModel]
    """How nights, and filings of sessions that nobody ended, ask a model: at once, or in batches at half the price
    where its provider has them."""
    min_importance: NotRequired[int]
    """A fact of less importance is kept only if somebody asked for it."""
    review_mode: NotRequired[ReviewMode]
    """`interactive`: facts that were not said plainly wait in the inbox."""
    write_tools: NotRequired[WriteTools]
    """What a model may write: nothing, proposals for the inbox, or memories."""
    budget_profile: NotRequired[BudgetProfile | CustomBudget]
    """How a prompt and its pack are shared out."""
    static_prefix: NotRequired[StaticPrefix]
    """The part of every prompt that is the tenant's own."""
    pii: NotRequired[PiiActions]
    """What is done with personal data that is found."""
    chat_model: NotRequired[str]
    """The model that prompts are for, by its provider's name."""
    cacheable_tokens: NotRequired[dict[str, int]]
    """By model: from how many tokens on it caches, where the table is wrong."""


PolicyChange: TypeAlias = "Policy"


class PolicyOut(TypedDict):
    policy: dict[str, Any]
    """What was set, as it would be sent to set it again."""
    in_force: dict[str, Any]
    """Every number after defaults and ratios of `window`."""
    rev: int
    """For `If-Match`."""
    reindex_job: NotRequired[str]
    """The job that makes every vector anew because `languages` changed; until it is absent, recall works by keyword
    only."""


Priority: TypeAlias = "Literal['high', 'medium', 'low']"


class Problem(TypedDict):
    """RFC 9457 problem details."""

    type: str
    """`urn:neve:problem:<code>`."""
    title: str
    """What the code means, the same for every occurrence."""
    status: int
    """The HTTP status."""
    detail: str
    """What happened this time."""
    code: str
    """Stable, for programs."""
    request_id: str
    """Also in `X-Request-Id`; quote it when asking for help."""
    errors: NotRequired[list[FieldProblem]]
    """The fields at fault, where there are any."""


class PromptBody(TypedDict):
    """The parts that a prompt is compiled from, of a session that is named elsewhere."""

    message: NotRequired[str | list[TextBlock | ImageBlock]]
    """What the user says now: text or blocks. It is not stored. Where the log ends with it already, it is not
    repeated, and may be left out."""
    task_state: NotRequired[str | TaskStateBody]
    instructions: NotRequired[list[str]]
    """Behind the static prefix. Another list is another prefix to the provider."""
    retrieval: NotRequired[Retrieval]
    """`auto`: the 5 best passages, and on to 600 tokens. `tools`: the model is offered the search. `both`, `none`."""
    tools: NotRequired[list[dict[str, JsonValue]] | dict[str, JsonValue]]
    """The caller's own, as the provider takes them (with `ai_sdk` by name). They stand in front of Neve's. Without
    any, a tool that the shown history calls is declared by a stand-in."""
    system: NotRequired[str | list[SystemBlockBody]]
    """Text or text blocks, one block behind the static prefix. The same on every day: no date, time, e-mail address,
    id or placeholder. Another text is another prefix to the provider."""
    max_breakpoints: NotRequired[int]
    """Marks of what the provider is to cache, at most."""
    format: NotRequired[PromptFormat]
    """Whose arguments `request` holds."""
    budget_profile: NotRequired[BudgetProfile | CustomBudget]
    """Default: the policy's."""
    history_window: NotRequired[int]
    """Turns: at least so many are shown, and at most twice as many."""
    dry_run: NotRequired[bool]
    """The report only. Nothing is written."""
    with_request: NotRequired[bool]
    """Also of a dry run `request`; and `parts`, where each part stands in it."""
    images: NotRequired[ImagesShown]
    """Of this prompt. `recent`: of what waits for an answer only, `none`: none; each other one is a line of text."""
    images_refused: NotRequired[list[int]]
    """Events whose images the provider has refused: `image_events` of the prompt that it would not take. This prompt
    and all later ones show a line of text in their place."""


class PromptCacheOut(TypedDict):
    """Sums over the reports of prompts."""

    reports: int
    hit_rate: NotRequired[float]
    """The share of the prompts' tokens that the cache gave."""
    tokens: TokensOut
    money: NotRequired[MoneyOut]
    """Of the reports whose model has a price; absent when none has."""
    unpriced_reports: int
    """Reports of models without a price: in no sum of money."""
    pack_changes: PackChangesOut
    collapses: CollapsesOut


class PromptDayOut(TypedDict):
    date: str
    """UTC."""
    prompt_cache: PromptCacheOut


PromptFormat: TypeAlias = "Literal['anthropic', 'openai', 'openai_responses', 'ai_sdk', 'gemini']"


class ProposalView(TypedDict):
    """A proposal: what the librarian would do to a document. `decided_path` and `rev`: of the document that came of
    it."""

    action: FilingAction
    path: str
    """As it was proposed; a path that no document may have is changed with `edit`."""
    to_path: NotRequired[str]
    title: NotRequired[str]
    text: str
    base_rev: NotRequired[int]
    """The rev that the text was made from."""
    tags: list[str]
    importance: int
    certainty: Certainty
    trust: str
    model: str
    seqs: list[int]
    decided_path: NotRequired[str]
    rev: NotRequired[int]


ProposedBy: TypeAlias = "Literal['api', 'observer', 'librarian', 'model']"


class ProvenanceLine(TypedDict):
    """The origin that an exported row names; ``by`` becomes ``import``, and so does ``trust`` unless it is lower."""

    by: NotRequired[str]
    session_id: NotRequired[str]
    seq_from: NotRequired[int]
    """A position in the log."""
    seq_to: NotRequired[int]
    """A position in the log."""
    model: NotRequired[str]
    trust: NotRequired[Trust]


class ProvenanceView(TypedDict):
    by: str
    session_id: NotRequired[str]
    seq_from: NotRequired[int]
    seq_to: NotRequired[int]
    model: NotRequired[str]
    trust: Trust
    """Whose word it is at the least: that of its lowest passage, or of its lowest source."""


class PrunedOut(TypedDict):
    section: str
    items: list[str]
    why: str


class PutBody(TypedDict):
    """A document to write; the text alone may be sent as `text/markdown` instead."""

    name: NotRequired[str]
    """Default: the first heading, else the path's last segment; again when empty."""
    summary: NotRequired[str]
    """Default: the first lines; again when empty."""
    tags: NotRequired[list[str]]
    group: NotRequired[str]
    """Empty: none."""
    kind: NotRequired[str]
    """The caller's own; default `document`."""
    always_include: NotRequired[bool]
    """In every pack. Always true below `/always-load/`."""
    include_priority: NotRequired[IncludePriority]
    prompt_label: NotRequired[str]
    """What a prompt calls it. Empty: none."""
    prompt_hint: NotRequired[str]
    """Empty: none."""
    prompt_order: NotRequired[int]
    editable: NotRequired[bool]
    """False: changed by people only, never by a model."""
    importance: NotRequired[int]
    status: NotRequired[DocumentStatus]
    valid_from: NotRequired[Any]
    """From when on it holds. Empty: always."""
    valid_until: NotRequired[Any]
    """Until when it holds. Empty: always."""
    text: NotRequired[str]
    """Required for a new document."""
    source_type: NotRequired[str]
    """The outside system that it comes from."""
    source_id: NotRequired[str]
    """What it is called there: sent again, wherever to, it is the next rev."""


Queued: TypeAlias = "Literal['queued', 'none']"


class ReadDocumentArguments(TypedDict):
    path: str
    """A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs,
    none of them blank, . or .. alone, together at most 900 bytes in UTF-8."""
    offset: NotRequired[int]
    """In characters: the `next_offset` of the page before."""


class ReadDocumentBody(TypedDict):
    session_id: NotRequired[str]
    """Where the tool was called; it decides nothing."""
    arguments: ReadDocumentArguments


class ReadDocumentView(TypedDict):
    content: str
    """What belongs into the `tool_result`: nothing else has to be made of this answer."""
    is_error: bool
    """True: `content` says what did not work."""
    found: bool
    """False with `degraded`: nobody could look."""
    path: str
    text: NotRequired[str]
    """At most 4,000 tokens of it."""
    offset: NotRequired[int]
    next_offset: NotRequired[int]
    """Where the next page starts; absent behind the last one."""
    characters: NotRequired[int]
    """Of the whole document."""
    tokens: NotRequired[int]
    """Of the whole document."""
    rev: NotRequired[int]
    name: NotRequired[str]
    tags: NotRequired[list[str]]
    session_id: NotRequired[str]
    """Of an artifact: where the tool was called that said it."""
    seq: NotRequired[int]
    degraded: NotRequired[Degraded]


class RecallBody(TypedDict):
    query: str
    """The user's message or keywords: `"a phrase"` is required, `-word` excludes, `a OR b`. Of more than 1,200 bytes
    both ends are read, without operators."""
    question: NotRequired[str]
    """What is compared by meaning; default `query`."""
    limit: NotRequired[int]
    """Default: 5 in mode prompt, 8 in mode tool."""
    mode: NotRequired[RecallMode]
    sources: NotRequired[list[Source]]
    scope: NotRequired[RecallScope]
    """`session` needs a session_id; `global` is all outside it."""
    exclude_ids: NotRequired[list[str]]
    filters: NotRequired[FiltersBody]
    legs: NotRequired[list[Leg]]
    include_inbox: NotRequired[bool]
    include_superseded: NotRequired[bool]
    threshold: NotRequired[float]
    """Least calibrated similarity; vector leg only."""
    budget_ms: NotRequired[int]
    """0 or less: overrun from the start."""
    rerank: NotRequired[Rerank]
    """Who orders the hits; default the policy's. `deep` is `linear` in the mode `prompt`."""
    debug: NotRequired[bool]
    as_of: NotRequired[str]
    """What was in force then, and said by then; default what holds now."""
    session_id: NotRequired[str]
    """Where the message was said: what this session's pack holds is not repeated."""


class RecallMemoryArguments(TypedDict):
    query: str
    limit: NotRequired[int]
    """Default 8."""
    scope: NotRequired[RecallScope]


class RecallMemoryBody(TypedDict):
    session_id: NotRequired[str]
    arguments: RecallMemoryArguments


RecallMode: TypeAlias = "Literal['prompt', 'tool']"


class RecallOptions(TypedDict):
    question: NotRequired[str]
    """What is compared by meaning; default `query`."""
    limit: NotRequired[int]
    """Default: 5 in mode prompt, 8 in mode tool."""
    mode: NotRequired[RecallMode]
    sources: NotRequired[list[Source]]
    scope: NotRequired[RecallScope]
    """`session` needs a session_id; `global` is all outside it."""
    exclude_ids: NotRequired[list[str]]
    filters: NotRequired[FiltersBody]
    legs: NotRequired[list[Leg]]
    include_inbox: NotRequired[bool]
    include_superseded: NotRequired[bool]
    threshold: NotRequired[float]
    """Least calibrated similarity; vector leg only."""
    budget_ms: NotRequired[int]
    """0 or less: overrun from the start."""
    rerank: NotRequired[Rerank]
    """Who orders the hits; default the policy's. `deep` is `linear` in the mode `prompt`."""
    debug: NotRequired[bool]
    as_of: NotRequired[str]
    """What was in force then, and said by then; default what holds now."""


class RecallPage(TypedDict):
    recalls: list[RecallRecordView]
    next_cursor: NotRequired[str]


class RecallRecordView(TypedDict):
    id: str
    at: str
    query_hash: str
    """Keyed hash. The query itself is not kept."""
    mode: RecallMode
    scope: RecallScope
    session_id: NotRequired[str]
    as_of: NotRequired[str]
    """The time that was asked about, where one was named."""
    limit: int
    result_state: ResultState
    budget_ms: int
    elapsed_ms: float
    legs: dict[str, LegView]
    hits: list[RecordedHitView]
    degraded: Degraded


RecallScope: TypeAlias = "Literal['all', 'session', 'global']"


class RecallView(TypedDict):
    result_state: ResultState
    """`none`: nothing is there. `not_searched`: nothing is known of what is there."""
    hits: list[HitView]
    legs: LegsView
    degraded: Degraded
    memory_lag: NotRequired[MemoryLagOut]
    """With `index:behind`: how much cannot be found yet."""
    transparency: list[str]
    injection_text: str
    """Markdown for the prompt, labelled as candidates; empty without hits."""
    budget_ms: int
    elapsed_ms: float
    cold_start_ms: NotRequired[float]
    """In the first answer of a process: what its start has cost. The budget began behind it."""
    recall_id: NotRequired[str]
    debug: NotRequired[dict[str, JsonValue]]


class RecordedHitView(TypedDict):
    """A candidate. `outcome`: `returned`, or why it was dropped; then `found` holds its score by leg."""

    id: str
    outcome: str
    rank: NotRequired[int]
    score: NotRequired[float]
    components: NotRequired[ComponentsView]
    reply_to: NotRequired[str]
    """The event before a short reply, which a prompt showed too."""
    found: NotRequired[dict[str, float]]


class ReflectBody(TypedDict):
    user_id: NotRequired[str]
    """Only this user; all users of the tenant when absent."""
    dry_run: NotRequired[bool]
    """Say what would be condensed, and write nothing."""
    min_age_days: NotRequired[float]
    """Instead of the policy's `reflection_min_age_days`."""


class ReflectPlanOut(TypedDict):
    dry_run: Literal[True]
    eligible: list[str]
    """Ids of the rows that would be condensed, oldest first, by user."""
    batches: list[PlannedBatchOut]
    """What the model would be asked about together."""
    not_worth: list[str]
    """Users with so few rows that a night would wait for more."""
    users: int
    """How many users were looked at."""
    complete: bool
    """False: there are more users than one call can look at."""


ReflectedOut: TypeAlias = "ReflectPlanOut | JobOut"

RejectBody: TypeAlias = "dict[str, Any]"


class RejectedFactView(TypedDict):
    """A fact that is not kept."""

    decision: Literal["rejected"]
    criteria: CriteriaView
    reason: str


class RejectedLineView(TypedDict):
    line: int
    detail: str
    """Why, for a person."""
    errors: NotRequired[list[FieldProblem]]
    """The fields at fault, where there are any."""


class RememberArguments(TypedDict):
    text: str
    """One statement about the user."""
    category: NotRequired[Category]
    importance: NotRequired[int]
    seq: NotRequired[int]
    """The user's message in the session that says it: then it is the user's word."""


class RememberBody(TypedDict):
    session_id: NotRequired[str]
    """Where the tool was called."""
    tool_use_id: NotRequired[str]
    """The provider's id of the call: a repeat in its session changes nothing."""
    arguments: RememberArguments


RememberOrMistake: TypeAlias = "RememberView | MistakeView"


class RememberView(TypedDict):
    content: str
    """What belongs into the `tool_result`: nothing else has to be made of this answer."""
    is_error: bool
    """True: `content` says what did not work."""
    decision: FactDecision | Literal["rejected"]
    """That of the storage decision."""
    reason: str
    id: NotRequired[str]
    """Of the memory; absent where it is not kept."""
    status: NotRequired[str]
    trust: NotRequired[Trust]
    """`user`: the message says all of it."""
    written_by: NotRequired[WrittenBy]
    """Absent where somebody else wrote the memory."""


class RemovedOut(TypedDict):
    seq_from: int
    seq_to: int


class ReportOut(TypedDict):
    budget: BudgetOut
    sections: list[SectionOut]
    """By priority."""
    pruned: list[PrunedOut]
    """In the order in which sections give way."""
    used: int
    limit: int
    """Tokens of the input."""
    pct: float
    warn_at: float
    warning: bool
    breakpoints: list[BreakpointOut]
    stable_prefix_tokens: int
    """Of everything before the user's last message; in a round of tool calls of its results, too."""
    prefix_sha256: dict[str, str]
    """Of tools, static prefix, the caller's `system` and instructions, where there are any."""
    prefix_changed: bool
    """Those are others than in the session's prompt before."""
    history: NotRequired[HistoryOut]
    images: ImagesOut
    image_events: list[int]
    """The events whose images are shown: what `images_refused` takes."""
    tiers: TiersOut
    pack_version: NotRequired[int]
    pack_layers: NotRequired[dict[str, int]]
    """Tokens of the items of `always`, `profile`, `global` and `local` in the pack."""
    pack_left_out: NotRequired[list[str]]
    """Paths of documents that had no room in `always` and `profile`, and ids of observations and reflections that
    had none in `local`; and ids of rows that had none in a pack that is as large as an answer."""
    pack_also_left_out: NotRequired[int]
    """How many more had no room, whose names have none here."""


class ReportUsageBody(TypedDict):
    prompt_id: NotRequired[str]
    """Of the prompt, as it was compiled. It says the session and the pack, and counts once."""
    session_id: NotRequired[str]
    """Required without `prompt_id`."""
    pack_version: NotRequired[int]
    """Required without `prompt_id`: of the pack in the prompt; 0 for a prompt without one."""
    model: NotRequired[str]
    """As the provider names it: its price is looked up by it. Required without `prompt_id`; with it the policy's
    `chat_model` unless said."""
    usage: dict[str, JsonValue]
    """The provider's own object as it is: Anthropic's (input_tokens, cache_read_input_tokens,
    cache_creation_input_tokens, output_tokens), OpenAI's of chats (prompt_tokens, completion_tokens) and of
    responses (input_tokens, input_tokens_details, output_tokens), the AI SDK's (inputTokens, outputTokens),
    Gemini's (promptTokenCount, candidatesTokenCount), or input, cache_read, cache_write, output."""
    prefix_sha256: NotRequired[dict[str, str]]
    """Of the parts that stand before the pack, by name: two reports that differ in a part that both name have
    another prefix. With `prompt_id` they are known."""


class ReportedUsageOut(TypedDict):
    hit_rate: NotRequired[float]
    """Of this prompt."""
    money: NotRequired[MoneyOut]
    """Of this prompt; absent when the model has no price."""
    unpriced: NotRequired[str]
    """Why there is no money."""
    pack_change: NotRequired[PackChangeOut]
    collapse: NotRequired[CollapseOut]
    session: PromptCacheOut
    """The session's sums, with this report."""


Rerank: TypeAlias = "Literal['off', 'linear', 'deep']"


class RestoreBody(TypedDict):
    rev: int
    """As which the document is to be again."""


ResultState: TypeAlias = "Literal['found', 'none', 'not_searched']"


class RetractBody(TypedDict):
    from_seq: int
    """The first event that is taken back."""
    to_seq: NotRequired[int]
    """The last one; left out: to the end of the log as it is. A repeat of the call means the same end."""
    reason: RetractReason
    """`edited` (regenerated answers, too) and `branched` keep the words in the log, marked; `deleted` erases them,
    and what was made of them, for good."""


RetractReason: TypeAlias = "Literal['edited', 'deleted', 'branched']"


class RetractedOut(TypedDict):
    from_seq: int
    to_seq: int
    epoch: int
    """The session's history goes on in this epoch, without the events."""
    job_id: str
    """Of the job that sees to what was made of them."""


Retrieval: TypeAlias = "Literal['auto', 'tools', 'both', 'none']"

ReviewMode: TypeAlias = "Literal['auto', 'interactive']"

SaidBy: TypeAlias = "Literal['user_stated', 'user_confirmed', 'human_edit', 'assistant', 'tool']"


class SearchBody(TypedDict):
    """A search, from a session that may be named elsewhere."""

    query: str
    """The user's message or keywords: `"a phrase"` is required, `-word` excludes, `a OR b`. Of more than 1,200 bytes
    both ends are read, without operators."""
    question: NotRequired[str]
    """What is compared by meaning; default `query`."""
    limit: NotRequired[int]
    """Default: 5 in mode prompt, 8 in mode tool."""
    mode: NotRequired[RecallMode]
    sources: NotRequired[list[Source]]
    scope: NotRequired[RecallScope]
    """`session` needs a session_id; `global` is all outside it."""
    exclude_ids: NotRequired[list[str]]
    filters: NotRequired[FiltersBody]
    legs: NotRequired[list[Leg]]
    include_inbox: NotRequired[bool]
    include_superseded: NotRequired[bool]
    threshold: NotRequired[float]
    """Least calibrated similarity; vector leg only."""
    budget_ms: NotRequired[int]
    """0 or less: overrun from the start."""
    rerank: NotRequired[Rerank]
    """Who orders the hits; default the policy's. `deep` is `linear` in the mode `prompt`."""
    debug: NotRequired[bool]
    as_of: NotRequired[str]
    """What was in force then, and said by then; default what holds now."""


class SearchConversationArguments(TypedDict):
    query: str
    conversation_id: NotRequired[str]
    """The id of the session to search; without one, that of the call."""


class SearchConversationBody(TypedDict):
    session_id: NotRequired[str]
    """Where the tool was called."""
    arguments: SearchConversationArguments


class SearchKnowledgeArguments(TypedDict):
    query: str
    path_filter: NotRequired[str]
    """`/`, or a path; whole segments below it."""
    tags: NotRequired[list[str]]
    """All of them."""
    top_k: NotRequired[int]
    """Default 5."""


class SearchKnowledgeBody(TypedDict):
    session_id: NotRequired[str]
    """Where the tool was called."""
    arguments: SearchKnowledgeArguments


class SearchKnowledgeView(TypedDict):
    content: str
    """What belongs into the `tool_result`: nothing else has to be made of this answer."""
    is_error: bool
    """True: `content` says what did not work."""
    results: list[KnowledgeView]
    """Best first."""
    result_state: ResultState
    degraded: Degraded
    recall_id: NotRequired[str]


class SectionOut(TypedDict):
    section: str
    priority: int
    """1 to 6; 6 gives way first."""
    need: int
    granted: int
    used: int


class SessionDeletedOut(TypedDict):
    id: str
    job_id: NotRequired[str]
    """Of the job that erases the events and what was made of them; absent where there were none."""


class SessionNote(TypedDict):
    thread_title: NotRequired[str]
    current_task: NotRequired[str]
    suggested_continuation: NotRequired[str]


class SessionOut(TypedDict):
    id: str
    status: SessionStatus
    title: NotRequired[str]
    user_meta: dict[str, str]
    metadata: NotRequired[dict[str, str]]
    """Absent without any."""
    participants: NotRequired[list[ParticipantOut]]
    """Absent without any."""
    room: NotRequired[Literal[True]]
    outcome: NotRequired[str]
    """What the caller said of it when it was ended."""
    started_at: str
    last_event_at: NotRequired[str]
    last_seq: int
    """Seq of the newest event; 0 before the first."""
    observed_seq: int
    """The marker: events up to here are memory by now."""
    indexed_seq: int
    """Utterances up to here are in the search index."""
    epoch: int
    covers: NotRequired[Covers]
    pack_version: NotRequired[int]
    current_task: NotRequired[str]
    suggested_continuation: NotRequired[str]
    thread_title: NotRequired[str]
    """What the observer would call the conversation."""
    total_tokens: int
    """Sum of `original_tokens` over all events."""
    memory_lag: MemoryLagOut
    """Of this session; in the answer to opening it, over all that its user has."""
    usage: NotRequired[SessionPromptsOut]
    """What was reported of its prompts; absent before the first report and in the answer to its opening."""


class SessionPage(TypedDict):
    sessions: list[SessionOut]
    next_cursor: NotRequired[str]


class SessionPromptsOut(TypedDict):
    """Sums over the reports of a session's prompts, with the last 20 pack changes and collapses, oldest first."""

    reports: int
    hit_rate: NotRequired[float]
    """The share of the prompts' tokens that the cache gave."""
    tokens: TokensOut
    money: NotRequired[MoneyOut]
    """Of the reports whose model has a price; absent when none has."""
    unpriced_reports: int
    """Reports of models without a price: in no sum of money."""
    pack_changes: PackChangesOut
    collapses: CollapsesOut
    last_pack_changes: list[PackChangeOut]
    last_collapses: list[CollapseOut]


SessionStatus: TypeAlias = "Literal['open', 'closed', 'extracted']"


class ShortTermOut(TypedDict):
    sessions: int
    events: int


Source: TypeAlias = "Literal['memory', 'document', 'event']"


class StageOut(TypedDict):
    stage: JobStage
    state: StageState


StageState: TypeAlias = "Literal['done', 'running', 'waiting', 'failed']"


class StaticPrefix(TypedDict):
    """The texts that say who the assistant is, what it can do, what it must not; and the version that all three have
    together."""

    version: str
    """Semantic: `1.2.0`. A changed text needs a higher one; else 409."""
    identity: NotRequired[str]
    capabilities: NotRequired[str]
    boundaries: NotRequired[str]
    """Safety and wellbeing. Never left out."""


class StatsOut(TypedDict):
    working: Literal["per_request"]
    """A request's `task_state` lives as long as the request."""
    short_term: ShortTermOut
    semantic: TierOut
    episodic: TierOut
    memories: MemoriesOut
    embeddings: EmbeddingsOut
    usage: UsageOut
    prompt_cache: PromptCacheOut
    prompt_cache_days: list[PromptDayOut]
    """Days with reports, oldest first."""
    memory_lag: MemoryLagOut
    """Over all sessions and memories of the user."""
    other_language: NotRequired[OtherLanguage]
    degraded: NotRequired[Degraded]
    complete: bool
    """False: there is more than one call can count. Every number of rows is the least then."""


StoreState: TypeAlias = "Literal['ready', 'unavailable']"


class SupersedeBody(TypedDict):
    """A fact takes the place of `target_id`; a document's text is replaced, whatever its rev."""

    target_id: NotRequired[str]
    """The memory that no longer holds; the one it contradicts when absent."""
    reason: NotRequired[str]
    """For the trace."""
    text: NotRequired[str]
    path: NotRequired[str]
    """Where the document is to be."""


class SurfacedView(TypedDict):
    recall_id: str
    at: str
    mode: str
    rank: int
    score: float


class SystemBlockBody(TypedDict):
    type: Literal["text"]
    text: str
    cache_control: NotRequired[CacheControlBody]
    """The caller's own mark. Neve sets one less of its own."""


class TaskStateBody(TypedDict):
    """Working memory of one step. Never stored."""

    notes: NotRequired[str]
    goal: NotRequired[str]
    variables: NotRequired[dict[str, JsonValue]]
    observations: NotRequired[list[str]]
    """Oldest first."""
    tool_outputs: NotRequired[list[ToolOutputBody]]


TenantTokenScope: TypeAlias = "Literal['chat', 'records', 'admin', 'documents']"


class TenantUsageOut(TypedDict):
    users: int
    """Users that have cost anything."""
    usage: UsageOut
    prompt_cache: PromptCacheOut
    prompt_cache_days: list[PromptDayOut]
    """Days with reports, oldest first."""
    complete: bool
    """False: there are more users than one call can add up. Every number is the least then, and the newest days were
    added up first."""


class TextBlock(TypedDict):
    type: Literal["text"]
    text: str


class ThinkingBlock(TypedDict):
    """The thinking of a model, as its provider sent it. Kept as it is while the turn is open, shown to the model
    alone, and erased with the next `user_message`."""

    type: ThinkingType


ThinkingType: TypeAlias = "Literal['thinking', 'redacted_thinking', 'reasoning']"

Tier: TypeAlias = "Literal['semantic', 'episodic']"


class TierOut(TypedDict):
    memories: int
    active: int


class TiersOut(TypedDict):
    """Items of each memory tier that are in the prompt."""

    working: int
    short_term: int
    """Events of the log."""
    semantic: int
    episodic: int


TimeOfDay: TypeAlias = "Literal['morning', 'afternoon', 'evening', 'night']"


class ToForgetView(TypedDict):
    """One memory, as it is now."""

    id: str
    rev: int
    kind: str
    status: str
    text: str


TokenCounter: TypeAlias = "Literal['estimate', 'o200k_base']"


class TokenOut(TypedDict):
    token: str
    """A JWT, sent as `Authorization: Bearer <token>`. It is kept nowhere."""
    expires_at: str
    """RFC 3339 with an offset; kept in UTC with milliseconds."""


class TokensOut(TypedDict):
    input: int
    cache_read: int
    cache_write: int
    output: int


class ToolCallData(TypedDict):
    tool_use_id: str
    name: str
    thinking: NotRequired[list[dict[str, Any]]]
    """What the model thought before it, as its provider's blocks; `content` may hold them as well."""
    args: NotRequired[Any]
    """The call's arguments."""


class ToolCallEvent(TypedDict):
    client_id: NotRequired[str]
    """The same id again returns the first seq; with other content it is a 409."""
    name: NotRequired[str]
    """The speaker. White space, line breaks included, becomes single spaces."""
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; nothing that is made of the event has them."""
    created_at: NotRequired[str]
    """When it was said; now when absent or more than a day ahead. RFC 3339 with an offset."""
    event_type: Literal["tool_call"]
    content: str | list[TextBlock | ImageBlock | ThinkingBlock]
    event_data: ToolCallData


class ToolOutputBody(TypedDict):
    name: str
    content: str


class ToolResultData(TypedDict):
    tool_use_id: str
    name: str
    is_error: NotRequired[bool]


class ToolResultEvent(TypedDict):
    client_id: NotRequired[str]
    """The same id again returns the first seq; with other content it is a 409."""
    name: NotRequired[str]
    """The speaker. White space, line breaks included, becomes single spaces."""
    metadata: NotRequired[dict[str, Any]]
    """Labels of the caller's own; nothing that is made of the event has them."""
    created_at: NotRequired[str]
    """When it was said; now when absent or more than a day ahead. RFC 3339 with an offset."""
    event_type: Literal["tool_result"]
    content: str | list[EventTextBlock | ImageBlock]
    event_data: ToolResultData


class ToolsView(TypedDict):
    """Ready for a provider's `tools`. The same bytes as long as `version` is the same."""

    version: str
    anthropic: list[dict[str, JsonValue]]
    openai: list[dict[str, JsonValue]]


class TraceView(TypedDict):
    memory_id: str
    history: list[TracedStatementView]
    """Every statement linked to it by supersession, itself included, oldest first; at most 100."""
    history_left_out: NotRequired[int]
    """Those of them farthest from it, for which the answer has no room: it has 6 MB."""
    summary: str
    """In words, also when it was never recalled."""
    recalls_examined: int
    """The user's newest recalls, at most 200."""
    surfaced: list[SurfacedView]
    """Newest first."""
    packs: list[CarriedView]
    """Pack versions that hold it, the newest 20, newest first."""
    more_packs: bool
    """There are others, or may be: not all of the user's versions were looked at."""


class TracedStatementView(TypedDict):
    id: str
    text: str
    status: str
    created_at: str
    by: str
    occurrences: int
    supersedes: list[str]
    superseded_by: NotRequired[str]
    superseded_at: NotRequired[str]
    superseded_reason: NotRequired[str]


Trigger: TypeAlias = "Literal['initial', 'reflection', 'horizon']"

TroubleKind: TypeAlias = "Literal['failing', 'full', 'damaged', 'language']"


class TroubleOut(TypedDict):
    what: str
    """A store (`table`, `queue`, `search`, `objects`), `search_large` (a user has more passages than are searched
    well without a search domain; the service is well), a leg (`lexical`, `vector`), `rerank` (the model that
    reads candidates again), the `observer`, the `workers` (one ran out of its time), or on one machine the dead
    letters of a queue (`index-dlq`)."""
    kind: TroubleKind
    """`language`: messages of users are in languages that the `observer` does not know; the service is well."""
    reason: str
    since: str
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    count: NotRequired[int]
    """Of `language`: how many messages, since this trouble stands."""


Trust: TypeAlias = "Literal['user', 'assistant', 'import', 'tool']"


class TurnBody(TypedDict):
    """`messages` or `events` or neither, then `compile` or `recall` or neither."""

    messages: NotRequired[list[dict[str, Any]]]
    """As in `appendMessages`."""
    events: NotRequired[
        list[MessageEvent | AnswerEvent | ToolCallEvent | ToolResultEvent | BoundaryEvent | NeutralEvent]
    ]
    """As in `appendEvents`."""
    format: NotRequired[MessageFormat]
    """As in `appendMessages`."""
    title: NotRequired[str]
    """Of the session, when it is new."""
    user_meta: NotRequired[UserMeta]
    """Of the session, when it is new."""
    metadata: NotRequired[dict[str, Any]]
    """Of the session, when it is new."""
    participants: NotRequired[list[ParticipantBody]]
    """Of the session, when it is new."""
    room: NotRequired[bool]
    """Of the session, when it is new."""
    created_at: NotRequired[str]
    """As in `appendMessages`."""
    compile: NotRequired[PromptBody]
    """The body of `compileContext`, of this session."""
    recall: NotRequired[SearchBody]
    """The body of `recall`, from this session."""


class TurnOut(TypedDict):
    appended: NotRequired[AppendedMessagesOut | AppendedOut]
    """What `appendMessages` or `appendEvents` answers; absent where nothing was sent to be appended."""
    prompt: NotRequired[ContextOut]
    """What `compileContext` answers."""
    recall: NotRequired[RecallView]
    """What `recall` answers."""
    degraded: list[str]
    """Of the prompt or the recall; `compile:<code>` or `recall:<code>` where there is none."""
    problem: NotRequired[Problem]
    """Why there is none. What was appended is durable: ask for the prompt or the recall alone."""


class Unobservable(TypedDict):
    reason: str


class UpdateBody(TypedDict):
    """The fields to change, at least one. A field that is absent stays as it is."""

    text: NotRequired[str]
    priority: NotRequired[Priority]
    importance: NotRequired[int]
    confidence: NotRequired[float]
    """Kept to six places."""
    status: NotRequired[MemoryStatusChange]
    category: NotRequired[Category]
    outcome: NotRequired[Outcome]
    emotional_tone: NotRequired[str]
    """Empty: none."""
    key_topics: NotRequired[list[str]]
    label: NotRequired[str]
    """Empty: none."""
    group: NotRequired[str]
    """Empty: none."""
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    """Takes the place of what is there; `{}` takes all of it away."""
    never_recall: NotRequired[bool]
    """Listed, but neither packed nor recalled."""
    valid_from: NotRequired[Any]
    """From when on it holds. Empty: always."""
    valid_until: NotRequired[Any]
    """Until when it holds. Empty: always."""


class UploadBody(TypedDict):
    media_type: UploadType
    size: NotRequired[int]
    """Exactly how many bytes will be sent, at most 3932160, 4194304 of a text; then signed."""


class UploadOut(TypedDict):
    upload_id: str
    method: Literal["PUT"]
    url: str
    """Send the bytes there once, without the API key."""
    headers: dict[str, str]
    """Send exactly these headers."""
    expires_at: str


UploadType: TypeAlias = "Literal['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'text/plain']"


class UsageOut(TypedDict):
    """Totals since the beginning."""

    embedded_texts: int
    """Texts that were sent to the embedder."""
    reused_vectors: int
    """Texts whose vector was there already."""
    model_calls: int
    model_input_tokens: int
    model_cache_read_tokens: int
    """Of the input: read from the provider's cache, at its price."""
    model_cache_write_tokens: int
    """Of the input: written to the provider's cache."""
    model_output_tokens: int
    model_batch_input_tokens: int
    """Of the input: read in batches of nights, at half the price."""
    model_batch_output_tokens: int
    """Of the output: written in batches, at half the price."""


class UsedBody(TypedDict):
    ids: list[str]


class UsedView(TypedDict):
    used: list[str]
    unknown: list[str]


class UserMeta(TypedDict):
    """Facts that the pack and the observer should know about the user in this session."""

    name: NotRequired[str]
    stage: NotRequired[UserStage]
    """How well the product knows the user."""
    timezone: NotRequired[str]
    """IANA name; the days in prompts, summaries, documents and observations follow it."""


class UserOut(TypedDict):
    user_id: str
    created_at: str
    """When the first thing was kept of them; behind an erasure, the first since."""


class UserPage(TypedDict):
    users: list[UserOut]
    next_cursor: NotRequired[str]


UserStage: TypeAlias = "Literal['NEW', 'DEVELOPING', 'COMFORTABLE', 'TRUSTED']"

UserTokenScope: TypeAlias = "Literal['chat', 'records', 'documents', 'self']"

Verbosity: TypeAlias = "Literal['brief', 'standard', 'detailed']"


class VersionPage(TypedDict):
    versions: list[DocumentHeadView]
    """Newest first, each as it was at its rev, without its text."""
    next_cursor: NotRequired[str]


class WaitingSessionOut(TypedDict):
    user_id: str
    session_id: str


class WebhookBody(TypedDict):
    url: str
    """`https://` and a host with public addresses alone. Redirects are not followed."""
    types: list[OutgoingType]
    """Which events it is sent."""
    include: NotRequired[WebhookText]
    """`text`: events about a memory that is there bring its text in `data.text`."""
    secret: NotRequired[str]
    """`whsec_` and the base64 of 24 to 64 bytes. Left out: the one that there is stays, and a new webhook is given
    one. For 24 h behind a change the one before signs, too."""


class WebhookOut(TypedDict):
    id: str
    url: str
    types: list[OutgoingType]
    include: NotRequired[WebhookText]
    created_at: str
    """RFC 3339 with an offset; kept in UTC with milliseconds."""
    rotating_until: NotRequired[str]
    """Until then the secret before signs, too."""
    disabled_at: NotRequired[str]
    """Since when it is sent nothing, because the receiver answered 410. `PUT` it to go on."""
    secret: NotRequired[str]
    """The one that Neve made, in the answer that made it alone."""


WebhookText: TypeAlias = "Literal['text']"


class WebhooksOut(TypedDict):
    webhooks: list[WebhookOut]


WhyNotSource: TypeAlias = "Literal['recall', 'memory']"


class WhyNotView(TypedDict):
    id: str
    found: bool
    """It was among the hits: `reason` is `returned`."""
    reason: str
    """`returned`; why the candidate was dropped; of what was none: `not_found`, `not_searched`, `not_looked_for`,
    `never_recall`, `status`, `validity`, `other_session`, `scope`, `excluded`, `filtered`, `not_there_yet`,
    `unknown`, or `not_kept`: the ledger does not say."""
    told_by: NotRequired[WhyNotSource]
    """`recall`: what was true then. `memory`: its row, as it is now. Absent with `not_kept`."""
    rank: NotRequired[int]
    score: NotRequired[float]
    similarity: NotRequired[float]
    """Calibrated."""
    status: NotRequired[MemoryStatus]
    """Of the memory now."""
    filters: NotRequired[list[str]]
    """What would not let it pass; with `not_kept` the filters whose values are not kept."""
    legs: dict[str, LegPlaceView]


class WorkOut(TypedDict):
    jobs: list[OpenJobOut]
    """Those that have not ended, newest first, at most 50."""
    jobs_by_kind: dict[str, int]
    """How many of them are of each kind."""
    jobs_complete: bool
    """False: there are more, or older ones that were not looked at."""
    night: NotRequired[NightOut]
    """The last one that was begun, of the last two."""
    waiting: list[WaitingSessionOut]
    """Sessions with words that are not indexed or not observed yet, at most 50."""
    waiting_complete: bool
    webhooks: list[FailingWebhookOut]
    """Those of which one of the last 20 attempts failed."""


WriteTools: TypeAlias = "Literal['off', 'propose', 'on']"

WrittenBy: TypeAlias = "Literal['model']"
