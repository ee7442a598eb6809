"""The two legs of a recall: BM25, and the query's vector followed by its neighbours. A leg completes or contributes
nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from neve.ports import (
    Calibration,
    Candidate,
    DeadlineExceeded,
    EmbeddingRetryable,
    EmbeddingUnavailable,
    Owner,
    SearchFilter,
    StoreUnavailable,
    Task,
)
from neve.usecases.recall.command import Asked
from neve.usecases.recall.query_vectors import query_vectors
from neve.usecases.recall.time_budget import TimeBudget
from neve.wiring import Ports

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


@dataclass
class Legs:
    """``lexical`` and ``vector`` are the candidates of a leg that completed, best first; None for one that did not or
    was not asked for. ``read_depth``: how many were asked of the index."""

    ports: Ports
    owner: Owner
    asked: Asked
    budget: TimeBudget
    lexical: list[Candidate] | None = None
    vector: list[Candidate] | None = None
    read_depth: int = 0
    degraded: list[str] = field(default_factory=list)
    reports: dict[str, LegReport] = field(default_factory=lambda: {"lexical": LegReport(), "vector": LegReport()})
    _query: _QueryVector | None = None
    _embedding: Task[_QueryVector] | None = None
    _text_search: Task[_Found] | None = None
    _neighbours: Task[_Found] | None = None

    # --- the first reading ----------------------------------------------------------------------

    def start(self, where: SearchFilter, depth: int) -> None:
        """BM25 starts at once, beside the embedding of the query."""
        self.read_depth = depth
        if self.asked.lexical:
            self.reports["lexical"].depth = self.asked.depth
            self._text_search = self.ports.tasks.start(lambda: self._search_text(where, depth))
        if self.asked.vector and self.ports.embedder.model.dimensions:
            self._embedding = self._start_embedding()

    def go_on_with_vector(self, where: SearchFilter) -> None:
        """Wait for the query's vector, then look for its neighbours."""
        if self._embedding is None:
            return
        self._query = self._embedded(self._embedding)
        if self._query is not None:
            self._neighbours = self.ports.tasks.start(lambda: self._search_vector(where, self.read_depth))

    def collect(self) -> None:
        """Wait for both searches until the legs' time is over."""
        if self._text_search is not None:
            self.lexical = self._result("lexical", self._text_search, LEXICAL_ERROR)
        if self._neighbours is not None:
            self.vector = self._result("vector", self._neighbours, VECTOR_ERROR)

    @property
    def calibration(self) -> Calibration:
        """Of the model whose vectors were compared. Raises RuntimeError when none were."""
        if self._query is None:
            raise RuntimeError("no vectors were compared")
        return self._query.calibration

    @property
    def searched(self) -> bool:
        """False when something was to be searched and no leg completed."""
        states = {report.status for report in self.reports.values()}
        return "complete" in states or states == {"skipped"}

    # --- another reading ------------------------------------------------------------------------

    def read_again(self, where: SearchFilter) -> bool:
        """The completed legs once more, with more left out. False, and nothing changed, when one does not complete."""
        depth = self.asked.depth
        tasks = self.ports.tasks
        text = None if self.lexical is None else tasks.start(lambda: self._search_text(where, depth))
        neighbours = None if self.vector is None else tasks.start(lambda: self._search_vector(where, depth))
        try:
            lexical = text.result(self.budget.legs_end_ms).candidates if text else None
            vector = neighbours.result(self.budget.legs_end_ms).candidates if neighbours else None
        except (DeadlineExceeded, StoreUnavailable):
            return False
        self.read_depth, self.lexical, self.vector = depth, lexical, vector
        return True

    # --- parts ----------------------------------------------------------------------------------

    def _start_embedding(self) -> Task[_QueryVector]:
        embedder, report = self.ports.embedder, self.reports["vector"]
        text = self.asked.vector_text
        remembered = query_vectors.get(embedder.model.tag, self.owner.tenant, text)
        report.depth, report.started_ms = self.asked.depth, self.budget.elapsed_ms
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
        model = self.ports.embedder.model.tag
        query_vectors.keep(model, self.owner.tenant, self.asked.vector_text, query.vector)
        return query

    def _search_text(self, where: SearchFilter, depth: int) -> _Found:
        started_ms = self.budget.elapsed_ms
        query = self.asked.shaped.text_query
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
