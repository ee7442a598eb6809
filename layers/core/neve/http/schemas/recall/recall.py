"""E7, E12: recall and the ledger of recalls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, Self, cast

from pydantic import Field, JsonValue, SkipValidation
from typing_extensions import TypedDict  # pydantic reads the standard library's from Python 3.12 on

from neve.domain.indexing.passage import Source
from neve.domain.metadata import as_entries, of_entries
from neve.domain.tenants.policy import Rerank
from neve.http.operations import Body, Operation, Parameters, Response, View, record_of, route
from neve.http.pages import Page
from neve.http.schemas import enums
from neve.http.schemas.documents.addresses import DocumentPrefix
from neve.http.schemas.enums import (
    Category,
    EmbedCache,
    HitKind,
    Leg,
    LegStatus,
    MemoryStatus,
    RecallMode,
    RecallScope,
    ResultState,
    Tier,
    Trust,
    WhyNotSource,
)
from neve.http.schemas.fields import About, Cursor, Degraded, Identifier, Label, Limit, Metadata, Time
from neve.http.schemas.lag.memory_lag import MemoryLagOut
from neve.http.schemas.memories.fields import MemoryId
from neve.usecases.ask.recall.answer import Hit, RecallAnswer
from neve.usecases.ask.recall.command import MAX_K, RecallCommand, RecallFilters
from neve.usecases.ask.recall.record_recall import RecallRecord
from neve.usecases.ask.recall.stages.legs import LegReport
from neve.usecases.ask.recall.why_not import WhyNot

MAX_QUERY = 8_000
MAX_EXCLUDED = 100

Query = Annotated[str, Field(max_length=MAX_QUERY)]
Hits = Annotated[int, Field(ge=1, le=MAX_K)]
_EVERY_SOURCE: tuple[enums.Source, ...] = ("memory", "document", "event")
_BOTH_LEGS: tuple[Leg, ...] = ("lexical", "vector")


class FiltersBody(Body):
    group: Label | None = None
    tags: Annotated[list[Label], Field(max_length=32, description="All of them.")] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict, description="All of them, with these values. No document has any.")
    tier: Tier | None = None
    path_prefix: DocumentPrefix | None = None
    category: Category | None = None
    kind: HitKind | None = None
    after: Time | None = Field(default=None, description="Observed at this time or later.")
    before: Time | None = Field(default=None, description="Observed before this time.")
    about: About = Field(default_factory=list, description="Said by any of these participants. No document was.")

    def filters(self) -> RecallFilters:
        return record_of(self, RecallFilters, metadata=as_entries(self.metadata), about=tuple(self.about))


class SearchBody(Body):
    """A search, from a session that may be named elsewhere."""

    query: Query = Field(
        description='The user\'s message or keywords: `"a phrase"` is required, `-word` excludes, `a OR b`. Of more '
        "than 1,200 bytes both ends are read, without operators."
    )
    question: Query | None = Field(default=None, description="What is compared by meaning; default `query`.")
    limit: Hits | None = Field(default=None, description="Default: 5 in mode prompt, 8 in mode tool.")
    mode: RecallMode = "prompt"
    sources: Annotated[list[enums.Source], Field(min_length=1, max_length=3)] = Field(
        default_factory=lambda: list(_EVERY_SOURCE)
    )
    scope: RecallScope = Field(default="all", description="`session` needs a session_id; `global` is all outside it.")
    exclude_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=300)]], Field(max_length=MAX_EXCLUDED)
    ] = Field(default_factory=list)
    filters: FiltersBody = Field(default_factory=FiltersBody)
    legs: Annotated[list[Leg], Field(min_length=1, max_length=2)] = Field(default_factory=lambda: list(_BOTH_LEGS))
    include_inbox: bool = False
    include_superseded: bool = False
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="Least calibrated similarity; vector leg only."
    )
    budget_ms: int | None = Field(default=None, ge=-20_000, le=20_000, description="0 or less: overrun from the start.")
    rerank: Rerank | None = Field(
        default=None, description="Who orders the hits; default the policy's. `deep` is `linear` in the mode `prompt`."
    )
    debug: bool = False
    as_of: Time | None = Field(
        default=None, description="What was in force then, and said by then; default what holds now."
    )

    def command_in(self, session_id: str | None) -> RecallCommand:
        return record_of(
            self,
            RecallCommand,
            k=self.limit,
            sources=tuple(dict.fromkeys(Source(name) for name in self.sources)),
            session_id=session_id,
            exclude_ids=tuple(dict.fromkeys(self.exclude_ids)),
            filters=self.filters.filters(),
            legs=tuple(dict.fromkeys(self.legs)),
        )


class RecallBody(SearchBody):
    session_id: Identifier | None = Field(
        default=None, description="Where the message was said: what this session's pack holds is not repeated."
    )

    def command(self) -> RecallCommand:
        return self.command_in(self.session_id)


class RecallsQuery(Parameters):
    limit: Limit = 50
    cursor: Cursor | None = None


class RecallQuery(Parameters):
    why_not: MemoryId | None = Field(
        default=None, description="A memory's id: the answer says why it was not among the hits."
    )


# --- answers ------------------------------------------------------------------------------------


# The parts of a hit are dicts, which mypy checks, and no models: of twenty hits these would be eighty objects, checked
# one by one, in two and a half times the time of the whole body.


class HitPassageView(TypedDict):
    """The matched part of the item, with its range of the session's log."""

    n: int
    seq_from: int | None
    seq_to: int | None


class ComponentsView(TypedDict):
    sim_raw: NotRequired[Annotated[float, Field(description="Cosine, -1 to 1.")]]
    sim_cal: NotRequired[Annotated[float, Field(description="The same for every model: 0.3 random, 0.9 paraphrase.")]]
    bm25: NotRequired[Annotated[float, Field(description="Absent for rows that are too new for the index.")]]
    rank_vec: NotRequired[int]
    rank_lex: NotRequired[int]
    rrf: float
    recency: float
    importance: float
    kind: float
    prior: Annotated[float, Field(description="Product of the three, at most 1.35.")]
    final: Annotated[float, Field(description="RRF, with what memories lend, times prior.")]
    lent: NotRequired[
        Annotated[
            float,
            Field(
                description="Without rerank, of an utterance: how much more RRF a memory that was made from it has, "
                "and a hundredth of the memory's own."
            ),
        ]
    ]
    rerank: NotRequired[
        Annotated[
            float, Field(description="Log odds by the rerank stage, which orders hits when utterances are among them.")
        ]
    ]
    deep: NotRequired[
        Annotated[
            float,
            Field(description="With `rerank: deep`: how well it answers the question, by a model that read both."),
        ]
    ]
    meaning: NotRequired[
        Annotated[
            float,
            Field(
                description="With the policy's languages `multi`: 0.8 of the similarity and 0.2 of the share of the"
                " query's terms, which orders hits."
            ),
        ]
    ]
    shown_rrf: NotRequired[
        Annotated[
            float,
            Field(
                description="Without rerank, of a memory among utterances: RRF of the leg that found the passage "
                "shown, where the other leg found another one."
            ),
        ]
    ]
    quoted: NotRequired[
        Annotated[float, Field(description="For having the words that a message quotes, in their order.")]
    ]
    corrects: NotRequired[
        Annotated[float, Field(description="What it got to stand before an older statement that it takes back.")]
    ]
    weighted_70_30: Annotated[float, Field(description="For comparison; never used to order.")]


class HitProvenanceView(TypedDict):
    by: str
    session_id: str | None
    seq_from: int | None
    seq_to: int | None
    model: str | None
    trust: Annotated[Trust, Field(description="Whose word the passage is.")]


class FurtherStatementView(TypedDict):
    """Another statement of the memory that a hit is."""

    n: int
    text: str
    seq_from: int | None
    seq_to: int | None
    trust: Annotated[Trust, Field(description="Whose word it is.")]


class HitView(TypedDict):
    id: str
    source: enums.Source
    path: str | None
    kind: str
    tier: str
    text: Annotated[str, Field(description="The matched passage, and behind it the beginning of its item.")]
    session_id: str | None
    speaker: str | None
    seq: int | None
    passage: HitPassageView
    rank: int
    score: Annotated[float, Field(description="What the hits are ordered by: `rerank` where it ran, else `final`.")]
    components: ComponentsView
    provenance: HitProvenanceView
    group: str | None
    tags: list[str] | None
    metadata: dict[str, str] | None
    about: Annotated[list[str] | None, Field(description="The participants of its session who said it.")]
    category: str | None
    created_at: str
    observed_at: str
    status: str
    also: Annotated[
        list[FurtherStatementView] | None,
        Field(
            description="Of a memory, in mode `tool`: up to three other statements of it that hold terms of the query."
        ),
    ]
    said_again: Annotated[
        list[str] | None,
        Field(
            description="When else the same text was said or noted, newest first: of the items that were found, up to "
            "20."
        ),
    ]


def hit_view(hit: Hit) -> HitView:
    origin = hit.provenance
    own = {
        "source": Source(hit.source).value,
        "passage": {"n": hit.n, "seq_from": hit.seq_from, "seq_to": hit.seq_to},
        "provenance": {name: hit.trust if name == "trust" else getattr(origin, name) for name in _PROVENANCE},
        "tags": list(hit.tags) or None,
        "metadata": of_entries(hit.metadata) or None,
        "about": list(hit.about) or None,
        "also": [{name: getattr(one, name) for name in _STATEMENT} for one in hit.also] or None,
        "said_again": list(hit.said_again) or None,
    }
    return cast(HitView, {name: own[name] if name in own else getattr(hit, name) for name in _HIT})


_HIT = tuple(HitView.__annotations__)
_PROVENANCE, _STATEMENT = tuple(HitProvenanceView.__annotations__), tuple(FurtherStatementView.__annotations__)


class LegView(View):
    status: LegStatus
    depth: int
    ms: float
    started_ms: float = Field(description="After the recall's own start.")
    embed_cache: EmbedCache | None = None
    embed_ms: float | None = None
    late: Literal[True] | None = Field(None, description="Its error is that it had no more time.")

    @classmethod
    def of(cls, report: LegReport) -> Self:
        embed_ms = None if report.embed_ms is None else round(report.embed_ms, 3)
        return super().of(report, ms=round(report.ms, 3), started_ms=round(report.started_ms, 3), embed_ms=embed_ms)


class LegsView(View):
    lexical: LegView
    vector: LegView

    @classmethod
    def of(cls, reports: Mapping[str, LegReport]) -> Self:
        return cls(lexical=LegView.of(reports["lexical"]), vector=LegView.of(reports["vector"]))


class RecallView(View):
    result_state: ResultState = Field(
        description="`none`: nothing is there. `not_searched`: nothing is known of what is there."
    )
    hits: SkipValidation[list[HitView]]
    legs: LegsView
    degraded: Degraded
    memory_lag: MemoryLagOut | None = Field(description="With `index:behind`: how much cannot be found yet.")
    transparency: list[str]
    injection_text: str = Field(description="Markdown for the prompt, labelled as candidates; empty without hits.")
    budget_ms: int
    elapsed_ms: float
    cold_start_ms: float | None = Field(
        default=None,
        description="In the first answer of a process: what its start has cost. The budget began behind it.",
    )
    recall_id: str | None
    debug: dict[str, JsonValue] | None

    @classmethod
    def of(cls, answer: RecallAnswer, cold_start_ms: float | None = None) -> Self:
        return super().of(
            answer,
            hits=list(map(hit_view, answer.hits)),
            legs=LegsView.of(answer.legs),
            memory_lag=MemoryLagOut.of(answer.lag) if answer.lag else None,
            cold_start_ms=None if cold_start_ms is None else round(cold_start_ms, 1),
        )


class RecordedHitView(View):
    """A candidate. `outcome`: `returned`, or why it was dropped; then `found` holds its score by leg."""

    id: str
    outcome: str
    rank: int | None = None
    score: float | None = None
    components: ComponentsView | None = None
    reply_to: str | None = Field(default=None, description="The event before a short reply, which a prompt showed too.")
    found: dict[str, float] | None = None


class RecallRecordView(View):
    id: str
    at: str
    query_hash: str = Field(description="Keyed hash. The query itself is not kept.")
    mode: RecallMode
    scope: RecallScope
    session_id: str | None
    as_of: str | None = Field(default=None, description="The time that was asked about, where one was named.")
    limit: int
    result_state: ResultState
    budget_ms: int
    elapsed_ms: float
    legs: dict[str, LegView]
    hits: list[RecordedHitView]
    degraded: Degraded


class LegPlaceView(View):
    """The place of a memory in one leg. Without a rank it was not found, or dropped before the ranking."""

    status: LegStatus
    depth: int
    rank: int | None
    score: float | None = Field(description="BM25 of the lexical leg, cosine of the vector leg.")


class WhyNotView(View):
    id: str
    found: bool = Field(description="It was among the hits: `reason` is `returned`.")
    reason: str = Field(
        description="`returned`; why the candidate was dropped; of what was none: `not_found`, `not_searched`, "
        "`not_looked_for`, `never_recall`, `status`, `validity`, `other_session`, `scope`, `excluded`, `filtered`, "
        "`not_there_yet`, `unknown`, or `not_kept`: the ledger does not say."
    )
    told_by: WhyNotSource | None = Field(
        description="`recall`: what was true then. `memory`: its row, as it is now. Absent with `not_kept`."
    )
    rank: int | None
    score: float | None
    similarity: float | None = Field(description="Calibrated.")
    status: MemoryStatus | None = Field(description="Of the memory now.")
    filters: list[str] | None = Field(
        description="What would not let it pass; with `not_kept` the filters whose values are not kept."
    )
    legs: dict[str, LegPlaceView]

    @classmethod
    def of(cls, told: WhyNot) -> Self:
        return super().of(told, filters=list(told.filters) or None)


class ExplainedRecallView(RecallRecordView):
    why_not: WhyNotView | None = None

    @classmethod
    def explaining(cls, record: RecallRecord, told: WhyNot | None) -> Self:
        return cls.of(record, why_not=WhyNotView.of(told) if told else None)


class RecallPage(Page):
    recalls: list[RecallRecordView]
    next_cursor: str | None


# --- calls --------------------------------------------------------------------------------------

FOUND = {200: Response("Candidates, best first. A memory failure is told in `degraded`.", RecallView)}
REFUSED = ("session_not_found", "user_closed")

RECALL = Operation(
    **route("POST", "/v1/users/{user_id}/recall", "recall", "recall", "chat"),
    summary="Search everything that is not in the session's pack.",
    body=RecallBody,
    responses=FOUND,
    codes=REFUSED,
    answers_without_stores=True,
)

LIST_RECALLS = Operation(
    **route("GET", "/v1/users/{user_id}/recalls", "listRecalls", "recall", "chat"),
    summary="The user's recalls of the last 90 days, newest first.",
    query=RecallsQuery,
    responses={200: Response("A page.", RecallPage)},
)

READ_RECALL = Operation(
    **route("GET", "/v1/users/{user_id}/recalls/{recall_id}", "readRecall", "recall", "chat"),
    summary="One recall with every candidate, its components, and why it was dropped; why a memory was none.",
    query=RecallQuery,
    responses={200: Response("The recall.", ExplainedRecallView)},
    codes=("recall_not_found",),
)
