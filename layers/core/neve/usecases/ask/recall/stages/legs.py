"""The two legs of a recall: BM25, and the query's vector followed by its neighbours. A leg completes or contributes
nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from neve.caching import CacheSpec
from neve.domain.recall.fusion import calibrate
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, DeadlineExceeded, EmbeddingRetryable, EmbeddingUnavailable, StoreUnavailable
from neve.ports.models import Calibration
from neve.ports.runtime import Task
from neve.ports.search import Candidate, Owner, SearchFilter
from neve.scope import UserScope
from neve.store.tenants.leg_health import no_leg_trouble, put_leg_trouble
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.stages.rank_candidates import Ranked
from neve.usecases.ask.recall.time_budget import TimeBudget
from neve.usecases.core.tenants.own_encoder import own_model

QUERY_VECTORS: CacheSpec[tuple[str, str, str], bytes] = CacheSpec("query vectors", size=500)
"""By model, tenant and text: the same question asked again costs no embedding (docs/rules/recall.md#legs). Keyed by
tenant as well: that a question is known already must not tell one tenant what another one asked. 0.75 MB at 384
dimensions."""

Status = Literal["complete", "skipped", "error"]

DEADLINE = "deadline"
LEXICAL_ERROR = "lexical:error"
VECTOR_ERROR = "vector:error"
EMBED_TIMEOUT = "vector:embed_timeout"
EMBED_ERROR = "vector:embed_error"
OTHER_MODEL = "vector:dimension_mismatch"


@dataclass(slots=True)
class LegReport:
    """The report on one leg. ``started_ms``: after the recall's own start. ``ms`` includes the embedding of the query,
    ``embed_ms`` is its part. ``embed_cache``: whether the query's vector was remembered. ``late``: its error is that it
    had no more time. ``why``: of another error, for the log and health."""

    status: Status = "skipped"
    depth: int = 0
    ms: float = 0.0
    started_ms: float = 0.0
    embed_cache: Literal["hit", "miss"] | None = None
    embed_ms: float | None = None
    late: Literal[True] | None = None
    why: str | None = None


class _OtherModel(Exception):
    """Raised when the index holds vectors of another model than the embedder makes."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The result of a search, and when it began. ``among``: how many passages it looked through, if it says so."""

    candidates: list[Candidate]
    started_ms: float
    among: int = 0


@dataclass(frozen=True, slots=True)
class _QueryVector:
    vector: bytes
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of one reading of the legs. ``lexical`` and ``vector`` are the candidates of a leg that completed,
    best first; None for one that did not or was not asked for. ``depth``: how many were asked of the index.
    ``calibration``: of the model whose vectors were compared. ``among``: how many passages words were looked for in; 0
    where in none. ``deeper`` puts what the linear model has ordered into its last order."""

    lexical: list[Candidate] | None
    vector: list[Candidate] | None
    depth: int
    calibration: Calibration | None
    among: int = 0
    deeper: Callable[[Sequence[Ranked]], list[Ranked]] = list

    def similarities(self, candidates: Sequence[Candidate]) -> dict[str, float]:
        """Return the similarities of candidates of the vector leg, by id: 0.3 for the median random pair of the model,
        0.9 for the median paraphrase, in [0, 1]."""
        calibrated = calibrate([one.score for one in candidates], self._medians)
        return {one.item_id: value for one, value in zip(candidates, calibrated, strict=True)}

    @property
    def _medians(self) -> Calibration:
        if self.calibration is None:
            raise RuntimeError("no vectors were compared")
        return self.calibration


@dataclass
class Legs:
    scope: UserScope
    request: ResolvedRequest
    budget: TimeBudget
    degraded: list[str] = field(default_factory=list)
    reports: dict[str, LegReport] = field(default_factory=lambda: {"lexical": LegReport(), "vector": LegReport()})
    _query: _QueryVector | None = None
    _embedded_at_ms: float | None = None
    _neighbours: Task[_Found] | None = None
    _words: Task[_Found] | None = None
    _cut_off: bool = False

    @property
    def ports(self) -> Ports:
        return self.scope.ports

    @property
    def owner(self) -> Owner:
        return self.scope.keys.owner

    # --- the first reading ----------------------------------------------------------------------

    def start(self, where: SearchFilter, depth: int) -> None:
        """Start the vector leg, which takes longest: one thread embeds the query and searches for its neighbours, since
        each handing over costs a tenth of a millisecond."""
        if not (self.request.vector and self.scope.embedder.model.dimensions):
            return
        model = self.scope.embedder.model
        report = self.reports["vector"]
        key = (model.tag, self.owner.tenant, self.request.vector_text)
        remembered = self.ports.caches.of(QUERY_VECTORS).get(key)
        report.depth, report.started_ms = self.request.depth, self.budget.elapsed_ms
        report.embed_cache = "miss" if remembered is None else "hit"

        def search() -> _Found:
            self._embed(key, remembered)
            return self._search_vector(where, depth)

        self._neighbours = self.ports.tasks.start(search)

    def start_words(self, where: SearchFilter, depth: int) -> None:
        """Start the keyword leg (BM25), which need not wait for the embedding."""
        if self.request.lexical:
            self.reports["lexical"].depth = self.request.depth
            self._words = self.ports.tasks.start_read(lambda: self._search_text(where, depth))

    def read(self, depth: int) -> Reading:
        """Wait for both legs until their time is over; return what they found. ``depth``: with which they were
        started."""
        words = self._result("lexical", self._words, LEXICAL_ERROR) if self._words is not None else None
        near = self._result("vector", self._neighbours, VECTOR_ERROR) if self._neighbours is not None else None
        return _reading(words, near, depth, self._query.calibration if self._query else None)

    def take(self, depth: int) -> None:
        """Note in the reports how many candidates of each leg go on."""
        for report in self.reports.values():
            report.depth = min(report.depth, depth)

    @property
    def searched(self) -> bool:
        """Say whether the search completed: False when something was to be searched and no leg completed, or one that
        had to be read again did not."""
        states = {report.status for report in self.reports.values()}
        return not self._cut_off and ("complete" in states or states == {"skipped"})

    # --- another reading ------------------------------------------------------------------------

    def read_again(self, before: Reading, where: SearchFilter) -> Reading | None:
        """Read the completed legs once more, deeper, with more left out. None when one does not complete."""
        depth, tasks = self.request.further().index_depth, self.ports.tasks
        text = None if before.lexical is None else tasks.start(lambda: self._search_text(where, depth))
        neighbours = None if before.vector is None else tasks.start(lambda: self._search_vector(where, depth))
        words = self._again(text, LEXICAL_ERROR) if text else None
        near = self._again(neighbours, VECTOR_ERROR) if neighbours else None
        return None if self._cut_off else _reading(words, near, depth, before.calibration)

    def cut_off(self, flag: str) -> None:
        """Note that a leg ended early: what it found is left, what lies behind that is not known."""
        self._cut_off = True
        self._say(flag)

    def _again(self, task: Task[_Found], flag: str) -> _Found | None:
        try:
            return task.result(self.budget.legs_end_ms)
        except DeadlineExceeded:
            self.cut_off(DEADLINE)
        except StoreUnavailable:
            self.cut_off(flag)
        except _OtherModel:
            self.cut_off(OTHER_MODEL)
        return None

    # --- parts ----------------------------------------------------------------------------------

    def _embed(self, key: tuple[str, str, str], remembered: bytes | None) -> None:
        """Embed the query, unless its vector is remembered. Raises EmbeddingUnavailable, EmbeddingRetryable."""
        embedder = self.scope.embedder
        vector = embedder.embed_query(self.request.vector_text) if remembered is None else remembered
        self._embedded_at_ms = self.ports.clock.monotonic_ms()
        self._query = _QueryVector(self.ports.caches.of(QUERY_VECTORS).put(key, vector), embedder.calibration)

    def _search_text(self, where: SearchFilter, depth: int) -> _Found:
        started_ms = self.budget.elapsed_ms
        query = self.request.shaped.text_query
        candidates, among = self.ports.search.search_text(self.owner, query, where, depth)
        return _Found(candidates, started_ms, among)

    def _search_vector(self, where: SearchFilter, depth: int) -> _Found:
        started_ms = self.budget.elapsed_ms
        if self._query is None or not _holds_vectors_of(self.scope):
            raise _OtherModel
        return _Found(self.ports.search.search_vector(self.owner, self._query.vector, where, depth), started_ms)

    def _result(self, leg: Literal["lexical", "vector"], task: Task[_Found], flag: str) -> _Found | None:
        report = self.reports[leg]
        try:
            found = task.result(self.budget.legs_end_ms)
        except DeadlineExceeded:
            report.late = True
            self._fail(leg, DEADLINE if leg == "lexical" or self._embedded_in_time() else EMBED_TIMEOUT)
        except (EmbeddingUnavailable, EmbeddingRetryable) as error:
            report.why = f"{EMBED_ERROR}, {type(error).__name__}"  # its text may quote the query
            self._fail(leg, EMBED_ERROR)
        except StoreUnavailable as error:
            report.why = str(error)
            self._fail(leg, flag)
        except _OtherModel:
            report.why = OTHER_MODEL
            self._fail(leg, OTHER_MODEL)
        else:
            report.status = "complete"
            if leg == "lexical":
                report.started_ms = found.started_ms
            return found
        finally:
            report.ms = task.elapsed_ms
            if leg == "vector":
                report.embed_ms = self._embedding_took(report)
        return None

    def _embedded_in_time(self) -> bool:
        return self._embedded_at_ms is not None and self._embedded_at_ms <= self.budget.legs_end_ms

    def _embedding_took(self, report: LegReport) -> float:
        """Return the time of the embedding: all of the leg's time where it did not come to its end in time."""
        at_ms = self._embedded_at_ms
        if at_ms is None or not self._embedded_in_time():
            return report.ms
        return at_ms - self.budget.started_ms - report.started_ms

    def _fail(self, leg: str, flag: str) -> None:
        self.reports[leg].status = "error"
        self._say(flag)

    def _say(self, flag: str) -> None:
        if flag not in self.degraded:
            self.degraded.append(flag)


def _holds_vectors_of(scope: UserScope) -> bool:
    """Say whether the index holds vectors of the tenant's embedder. Raises StoreUnavailable."""
    model = scope.embedder.model
    return scope.tenant.reindexed and own_model(scope.ports.search.model(), model, scope.ports.multi) == model


def _reading(words: _Found | None, near: _Found | None, depth: int, calibration: Calibration | None) -> Reading:
    return Reading(
        words.candidates if words else None,
        near.candidates if near else None,
        depth,
        calibration,
        among=words.among if words else 0,
    )


def note_legs(ports: Ports, legs: Mapping[str, LegReport]) -> None:
    """Tell health how the legs went, with a write when that changes, and none otherwise. A leg without time is the
    caller's budget, not a failure."""
    troubles = ports.caches.troubles
    for leg, report in legs.items():
        reason = f"{leg} leg of recall: {report.why or 'error'}"
        with suppress(StoreUnavailable, Conflict):  # this process knows, and says so again in five minutes
            if report.status == "error" and not report.late and troubles.failed(leg, reason):
                ports.table.write([put_leg_trouble(leg, reason, ports.clock.now())])
            elif report.status == "complete" and troubles.worked(leg):
                ports.table.write([no_leg_trouble(leg, ports.clock.now())])
