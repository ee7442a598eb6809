"""The two legs of a recall: BM25, and the query's vector followed by its neighbours. A leg completes or contributes
nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from neve.caching import CacheSpec
from neve.domain.recall.fusion import calibrate
from neve.ports.engines import Ports
from neve.ports.errors import DeadlineExceeded, EmbeddingRetryable, EmbeddingUnavailable, StoreUnavailable
from neve.ports.models import Calibration
from neve.ports.runtime import Task
from neve.ports.search import Candidate, Owner, SearchFilter
from neve.usecases.recall.command import ResolvedRequest
from neve.usecases.recall.time_budget import TimeBudget

QUERY_VECTORS: CacheSpec[tuple[str, str, str], bytes] = CacheSpec("query vectors", size=500)
"""By model, tenant and text: the same question asked again costs no embedding (docs/rules/recall.md#legs). Keyed by
tenant as well: that a question is known already must not tell one tenant what another one asked. 0.75 MB at 384
dimensions."""

Status = Literal["complete", "skipped", "error", "timeout"]

DEADLINE = "deadline"
LEXICAL_ERROR = "lexical:error"
VECTOR_ERROR = "vector:error"
EMBED_TIMEOUT = "vector:embed_timeout"
EMBED_ERROR = "vector:embed_error"
OTHER_MODEL = "vector:dimension_mismatch"


@dataclass(slots=True)
class LegReport:
    """``started_ms``: after the recall's own start. ``ms`` includes the embedding of the query, ``embed_ms`` is its
    part. ``embed_cache``: whether the query's vector was remembered."""

    status: Status = "skipped"
    depth: int = 0
    ms: float = 0.0
    started_ms: float = 0.0
    embed_cache: Literal["hit", "miss"] | None = None
    embed_ms: float | None = None


class _OtherModel(Exception):
    """The index holds vectors of another model than the embedder makes."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What a search returned, and when it began."""

    candidates: list[Candidate]
    started_ms: float


@dataclass(frozen=True, slots=True)
class _QueryVector:
    vector: bytes
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Reading:
    """``lexical`` and ``vector`` are the candidates of a leg that completed, best first; None for one that did not or
    was not asked for. ``depth``: how many were asked of the index. ``calibration``: of the model whose vectors were
    compared. ``late``: MaxSim by id of the candidates whose token vectors were."""

    lexical: list[Candidate] | None
    vector: list[Candidate] | None
    depth: int
    calibration: Calibration | None
    late: Mapping[str, float] = field(default_factory=dict)

    def similarity(self, candidate: Candidate) -> float:
        """Of the vector leg: 0.3 for the median random pair of the model, 0.9 for the median paraphrase, in [0, 1]."""
        return calibrate(candidate.score, self._medians)

    @property
    def _medians(self) -> Calibration:
        if self.calibration is None:
            raise RuntimeError("no vectors were compared")
        return self.calibration


@dataclass
class Legs:
    ports: Ports
    owner: Owner
    request: ResolvedRequest
    budget: TimeBudget
    degraded: list[str] = field(default_factory=list)
    reports: dict[str, LegReport] = field(default_factory=lambda: {"lexical": LegReport(), "vector": LegReport()})
    _query: _QueryVector | None = None
    _embedding: Task[_QueryVector] | None = None
    _words: Task[_Found] | None = None

    # --- the first reading ----------------------------------------------------------------------

    def start(self) -> None:
        """With the embedding of the query, which takes longest."""
        if self.request.vector and self.ports.embedder.model.dimensions:
            self._embedding = self._start_embedding()

    def start_words(self, where: SearchFilter, depth: int) -> None:
        """BM25, which need not wait for the embedding."""
        if self.request.lexical:
            self.reports["lexical"].depth = self.request.depth
            self._words = self.ports.tasks.start(lambda: self._search_text(where, depth))

    def by_words(self) -> list[Candidate]:
        """What BM25 found; for a task that goes on from there. Raises StoreUnavailable."""
        return self._words.result().candidates if self._words else []

    def read(self, where: SearchFilter, depth: int) -> Reading:
        """The search for the neighbours of the query, once that is embedded, and what BM25 found meanwhile; both are
        waited for until the legs' time is over."""
        neighbours = lexical = vector = None
        if self._embedding is not None:
            self._query = self._embedded(self._embedding)
        if self._query is not None:
            neighbours = self.ports.tasks.start(lambda: self._search_vector(where, depth))
        if self._words is not None:
            lexical = self._result("lexical", self._words, LEXICAL_ERROR)
        if neighbours is not None:
            vector = self._result("vector", neighbours, VECTOR_ERROR)
        return Reading(lexical, vector, depth, self._query.calibration if self._query else None)

    @property
    def searched(self) -> bool:
        """False when something was to be searched and no leg completed."""
        states = {report.status for report in self.reports.values()}
        return "complete" in states or states == {"skipped"}

    # --- another reading ------------------------------------------------------------------------

    def read_again(self, before: Reading, where: SearchFilter) -> Reading | None:
        """The completed legs once more, with more left out. None when one does not complete."""
        depth, tasks = self.request.index_depth, self.ports.tasks
        text = None if before.lexical is None else tasks.start(lambda: self._search_text(where, depth))
        neighbours = None if before.vector is None else tasks.start(lambda: self._search_vector(where, depth))
        try:
            lexical = text.result(self.budget.legs_end_ms).candidates if text else None
            vector = neighbours.result(self.budget.legs_end_ms).candidates if neighbours else None
        except (DeadlineExceeded, StoreUnavailable):
            return None
        return Reading(lexical, vector, depth, before.calibration)

    # --- parts ----------------------------------------------------------------------------------

    def _start_embedding(self) -> Task[_QueryVector]:
        embedder, report = self.ports.embedder, self.reports["vector"]
        text = self.request.vector_text
        remembered = self.ports.caches.of(QUERY_VECTORS).get((embedder.model.tag, self.owner.tenant, text))
        report.depth, report.started_ms = self.request.depth, self.budget.elapsed_ms
        report.embed_cache = "miss" if remembered is None else "hit"

        def embed() -> _QueryVector:
            vector = embedder.embed_query(text) if remembered is None else remembered
            return _QueryVector(vector, embedder.calibration)

        return self.ports.tasks.start(embed)

    def _embedded(self, embedding: Task[_QueryVector]) -> _QueryVector | None:
        report = self.reports["vector"]
        try:
            query = embedding.result(self.budget.legs_end_ms)
        except DeadlineExceeded:
            self._fail("vector", "timeout", EMBED_TIMEOUT)
            return None
        except (EmbeddingUnavailable, EmbeddingRetryable):
            self._fail("vector", "error", EMBED_ERROR)
            return None
        finally:
            report.ms = report.embed_ms = embedding.elapsed_ms
        key = (self.ports.embedder.model.tag, self.owner.tenant, self.request.vector_text)
        self.ports.caches.of(QUERY_VECTORS).put(key, query.vector)
        return query

    def _search_text(self, where: SearchFilter, depth: int) -> _Found:
        started_ms = self.budget.elapsed_ms
        query = self.request.shaped.text_query
        return _Found(self.ports.search.search_text(self.owner, query, where, depth), started_ms)

    def _search_vector(self, where: SearchFilter, depth: int) -> _Found:
        started_ms = self.budget.elapsed_ms
        if self._query is None or self.ports.search.model() != self.ports.embedder.model:
            raise _OtherModel
        return _Found(self.ports.search.search_vector(self.owner, self._query.vector, where, depth), started_ms)

    def _result(self, leg: Literal["lexical", "vector"], task: Task[_Found], flag: str) -> list[Candidate] | None:
        report = self.reports[leg]
        try:
            found = task.result(self.budget.legs_end_ms)
        except DeadlineExceeded:
            self._fail(leg, "timeout", DEADLINE)
        except StoreUnavailable:
            self._fail(leg, "error", flag)
        except _OtherModel:
            self._fail(leg, "error", OTHER_MODEL)
        else:
            report.status = "complete"
            if leg == "lexical":
                report.started_ms = found.started_ms
            return found.candidates
        finally:
            report.ms += task.elapsed_ms
        return None

    def _fail(self, leg: str, status: Status, flag: str) -> None:
        self.reports[leg].status = status
        if flag not in self.degraded:
            self.degraded.append(flag)
