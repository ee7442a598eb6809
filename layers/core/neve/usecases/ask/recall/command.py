"""The parameters of a recall, and what they mean for the search."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Literal

from neve.domain.errors import invalid
from neve.domain.indexing.passage import Source
from neve.domain.indexing.utterances import EVENT_KIND, EVENT_TIER
from neve.domain.languages import ANY_LANGUAGE, UNSERVED, language_of
from neve.domain.recall.carried_text import hands_over_its_text
from neve.domain.recall.long_message import searched_text
from neve.domain.recall.query import ShapedQuery, shape
from neve.domain.tenants.policy import Policy, Rerank
from neve.ports.search import SearchFilter

Beside = Literal["pack", "history", "question"]
Leg = Literal["lexical", "vector"]
Mode = Literal["prompt", "tool"]
RecallScope = Literal["all", "session", "global"]

UNSUPPORTED = "language:unsupported"
"""The message is in a script that nothing serves."""
VECTOR_LANGUAGE = "vector:language"
"""The embedding model does not know the message's language."""
BOTH_LEGS: tuple[Leg, ...] = ("lexical", "vector")
EVERY_SOURCE = (Source.MEMORY, Source.DOCUMENT, Source.EVENT)
MAX_K = 50
MIN_DEPTH = 30
"""Items of a leg, utterances counted by themselves, however many hits are asked for: the order of the first ten must
not depend on that (docs/rules/recall.md#legs)."""
RERANK_DEPTH = 60
"""The same where utterances are among what was found, which the rerank stage re-orders (docs/rules/recall.md#legs)."""
FURTHER_DEPTH = 2 * MAX_K
"""The depth of every further reading, where the first left fewer than ``k``: what it adds stands behind."""


@dataclass(frozen=True, slots=True)
class RecallFilters:
    """The caller's filters. ``after`` (inclusive) and ``before`` (exclusive) bound ``observed_at``, in stored form.
    ``kind``: a memory kind, ``event`` or ``document``. ``tags``, ``metadata`` (``domain.metadata.entries``): all of
    them. ``about``: said by any of these participants."""

    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    path_prefix: str | None = None
    tier: str | None = None
    category: str | None = None
    kind: str | None = None
    after: str | None = None
    before: str | None = None
    about: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecallCommand:
    """The request of a caller; None in a field takes the policy's number for the mode. ``question``: text that the
    vector leg reads instead of ``query``. ``beside``: what of the session's prompt is left out: what its ``pack``
    holds; that and what its ``history`` shows; or only the ``question`` that is being answered. ``recorded`` False:
    nothing is written. ``fills``: more hits than ``k`` where there is room for them
    (docs/rules/compile.md#retrieved). ``as_of``: what was in force then is searched, in stored form; None: now."""

    query: str
    question: str | None = None
    k: int | None = None
    mode: Mode = "prompt"
    sources: tuple[Source, ...] = EVERY_SOURCE
    scope: RecallScope = "all"
    session_id: str | None = None
    exclude_ids: tuple[str, ...] = ()
    filters: RecallFilters = field(default_factory=RecallFilters)
    legs: tuple[Leg, ...] = BOTH_LEGS
    include_inbox: bool = False
    include_superseded: bool = False
    threshold: float | None = None
    budget_ms: int | None = None
    rerank: Rerank | None = None
    debug: bool = False
    beside: Beside = "pack"
    recorded: bool = True
    fills: bool = False
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """A command with every number filled in. ``least_share``: of the query's terms in one candidate, which makes up for
    a similarity below the threshold (docs/rules/recall.md#off-topic). ``cut``: of a long message only the ends are
    searched (docs/rules/recall.md#long-messages). ``plain``: its operators were given up
    (docs/rules/recall.md#query). ``understood``: False where the embedding model does not know the language
    (docs/rules/recall.md#languages); ``served``: False where neither it nor the keyword leg does. ``meaning_first``:
    the encoder knows many languages, and similarity orders before words do (docs/rules/recall.md#encoders).
    ``rerank_named``: by the call or the policy, and not by default. ``where`` leaves out ``exclude_ids``; what the pack
    holds is not known yet."""

    command: RecallCommand
    k: int
    depth: int
    threshold: float
    least_share: float
    rerank: Rerank
    budget_ms: int
    shaped: ShapedQuery
    vector_text: str
    cut: bool
    where: SearchFilter
    plain: bool = False
    understood: bool = True
    served: bool = True
    meaning_first: bool = False
    rerank_named: bool = False

    @property
    def index_depth(self) -> int:
        """Return how many items of a leg are asked of the index: as a rule ``depth`` utterances are among them,
        whatever stands beside these."""
        beside = Source.EVENT in self.command.sources and len(set(self.command.sources)) > 1
        return 2 * self.depth if beside else self.depth

    def asked_at(self, now: str) -> ResolvedRequest:
        """Return the request with what holds now, or held at the time that it names."""
        return replace(self, where=replace(self.where, holds_at=self.command.as_of or now))

    def further(self, *, answered: bool = False) -> ResolvedRequest:
        """Return the request of another reading, behind the first one. ``answered``: there are hits, so that the
        message is not off topic."""
        return replace(self, depth=FURTHER_DEPTH, least_share=0.0 if answered else self.least_share)

    def for_a_model_of(self, languages: Collection[str]) -> ResolvedRequest:
        """Return the request, marked as not understood where the embedding model does not know the message's language,
        and as not served where nothing does. ``languages``: of the model, none where there is no model."""
        if ANY_LANGUAGE in languages or (language := language_of(self.vector_text)) in languages:
            return self
        return replace(self, understood=not languages, served=language != UNSERVED)

    def in_plain_words(self) -> ResolvedRequest:
        """Return the request with the query's operators read as plain words."""
        shaped = shape(searched_text(self.command.query.strip()).words, operators=False)
        return replace(self, shaped=shaped, plain=True)

    @property
    def language_flags(self) -> tuple[str, ...]:
        """Return what to say in ``degraded`` of the message's language."""
        if not self.served:
            return (UNSUPPORTED,)
        return () if self.understood or not self.vector else (VECTOR_LANGUAGE,)

    @property
    def small_talk(self) -> bool:
        """Say whether a message asks memory for nothing, so that recall keeps quiet. A tool's query is searched
        whatever it says."""
        asked = self.command
        return asked.mode == "prompt" and not (self.shaped.has_content and not hands_over_its_text(asked.query))

    @property
    def lexical(self) -> bool:
        """Say whether the keyword leg has anything to look for."""
        return "lexical" in self.command.legs and bool(self.shaped.text_query.groups) and not self.small_talk

    @property
    def vector(self) -> bool:
        return "vector" in self.command.legs and bool(self.vector_text) and not self.small_talk

    @property
    def time_bound(self) -> bool:
        return self.command.filters.after is not None or self.command.filters.before is not None

    @property
    def looked_for(self) -> bool:
        """Say whether any leg has anything to look for."""
        return self.lexical or self.vector

    @property
    def utterances(self) -> bool:
        """Say whether an utterance may be found: an utterance has no label of any kind."""
        where = self.where
        labelled = where.tags or (where.category, where.group, where.path_prefix) != (None, None, None)
        of_events = where.kinds in ((), (EVENT_KIND,)) and where.tier in (None, EVENT_TIER)
        return self.looked_for and Source.EVENT in where.sources and of_events and not labelled

    @property
    def session_tail(self) -> bool:
        """Say whether the newest events of the session are among what is searched."""
        return self.command.session_id is not None and self.command.scope != "global" and self.utterances


def resolve(policy: Policy, command: RecallCommand) -> ResolvedRequest:
    """Raises 422 for the scope ``session`` without a session, and for times between which there is nothing."""
    if command.scope == "session" and command.session_id is None:
        raise invalid("session_id", "is required with the scope session")
    after, before = command.filters.after, command.filters.before
    if after is not None and before is not None and before <= after:
        raise invalid("filters.before", f"must be later than filters.after ({after})")
    as_tool = command.mode == "tool"
    k = command.k if command.k is not None else (policy.recall_tool_limit if as_tool else policy.recall_limit)
    budget_ms = policy.manual_search_budget_ms if as_tool else policy.prompt_budget_ms
    query = searched_text(command.query.strip())
    question = searched_text((command.question or "").strip())
    wanted = command.rerank if command.rerank is not None else policy.rerank
    if wanted == "deep" and not as_tool:
        wanted = "linear"  # a prompt's time is too short for it
    rerank_them = wanted != "off" and len(command.legs) == len(BOTH_LEGS) and Source.EVENT in command.sources
    return ResolvedRequest(
        command=command,
        k=k,
        depth=RERANK_DEPTH if rerank_them else MIN_DEPTH,
        threshold=command.threshold if command.threshold is not None else policy.recall_threshold,
        least_share=0.0 if as_tool else policy.prompt_share,
        rerank=wanted if rerank_them else "off",
        budget_ms=command.budget_ms if command.budget_ms is not None else budget_ms,
        shaped=shape(query.words, operators=as_tool and not query.cut, last_first=query.cut),
        vector_text=(question.meaning or query.meaning) if query.meaning else "",
        cut=query.cut or question.cut,
        rerank_named=command.rerank is not None or "rerank" in policy.model_fields_set,
        where=_where(command),
    )


def _where(command: RecallCommand) -> SearchFilter:
    filters, session = command.filters, command.session_id
    statuses = ["active"]
    if command.include_inbox:
        statuses.append("inbox")
    if command.include_superseded or command.as_of is not None:
        statuses.append("superseded")
    return SearchFilter(
        sources=command.sources,
        statuses=tuple(statuses),
        kinds=(filters.kind,) if filters.kind else (),
        tier=filters.tier,
        category=filters.category,
        group=filters.group,
        tags=filters.tags,
        metadata=filters.metadata,
        path_prefix=filters.path_prefix,
        session_id=session if command.scope == "session" else None,
        not_session_id=session if command.scope == "global" else None,
        after=filters.after,
        before=filters.before,
        exclude_ids=frozenset(command.exclude_ids),
        in_force_at=command.as_of,
        about=filters.about,
        asked_in=session,
    )
