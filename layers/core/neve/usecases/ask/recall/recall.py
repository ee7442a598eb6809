"""E7: search everything that is not in the pack. A memory failure degrades the answer, it never becomes an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from neve.domain.errors import NeveError
from neve.domain.recall.query import query_terms
from neve.domain.times import iso
from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.runtime import Task
from neve.ports.search import IndexModel
from neve.scope import UserScope
from neve.usecases.ask.recall.answer import (
    RecallAnswer,
    ResultState,
    degradation_line,
    fit,
    injected,
    query_lines,
    transparency,
)
from neve.usecases.ask.recall.command import RecallCommand, ResolvedRequest, resolve
from neve.usecases.ask.recall.further_statements import with_further_statements
from neve.usecases.ask.recall.record_recall import (
    RecallRecord,
    query_hash,
    record_recall,
    recorded_filters,
    recorded_hits,
    recorded_legs,
)
from neve.usecases.ask.recall.search import Found, nothing_found, search
from neve.usecases.ask.recall.stages.fill import filled
from neve.usecases.ask.recall.stages.legs import DEADLINE, QUERY_VECTORS, LegReport
from neve.usecases.ask.recall.time_budget import TimeBudget

LEDGER_ERROR = "ledger:error"
LEDGER_MS = 100.0
"""How much longer than its budget an answer may wait for its ledger row: the recalls that ran out of time are those an
operator will want to look up."""


@dataclass(frozen=True, slots=True)
class Recording:
    """An answer, while its ledger row is being written. ``answer`` has the id that the row will have. ``written``:
    False of a user who is being erased. No task for a recall that is not recorded."""

    answer: RecallAnswer
    written: Task[bool] | None = None
    deadline_ms: float | None = None

    def recorded(self) -> RecallAnswer:
        """Wait for the ledger row; return ``answer`` itself where it has its row; else without the id, and with the
        flag that there is none. A user who is being erased has neither."""
        answer = self.answer
        try:
            if self.written is None or self.written.result(self.deadline_ms):
                return answer
        except (StoreUnavailable, NeveError, DeadlineExceeded):
            degraded, lines = [*answer.degraded, LEDGER_ERROR], [*answer.transparency, degradation_line(LEDGER_ERROR)]
            return replace(answer, recall_id=None, degraded=degraded, transparency=lines)
        return replace(answer, recall_id=None)


def recall(scope: UserScope, command: RecallCommand) -> RecallAnswer:
    """Recall in three steps of port calls, and write the ledger. Raises 422 (the scope ``session`` without a session),
    session_not_found, user_closed."""
    return recall_and_record(scope, command).recorded()


def recall_and_record(scope: UserScope, command: RecallCommand) -> Recording:
    """Recall for a caller that has something to do with the answer, and waits for ``recorded`` behind that."""
    request = resolve(scope.policy, command).asked_at(iso(scope.ports.clock.now()))
    request = replace(request, meaning_first=scope.in_many_languages)
    if request.looked_for:
        request = request.for_a_model_of(scope.embedder.languages)
    was_warm = len(scope.ports.caches.of(QUERY_VECTORS)) > 0
    budget = TimeBudget(scope.ports.clock, request.budget_ms, scope.ports.clock.monotonic_ms())
    if request.budget_ms <= 0:
        found = nothing_found({"lexical": LegReport(), "vector": LegReport()}, [DEADLINE])
    else:
        found, request = _search(scope, request, budget)
    found = replace(found, degraded=[*found.degraded, *request.language_flags])
    if command.fills:
        hits, unfit = filled(found, request.k)
    else:
        hits, unfit, tokens = fit(found.ranked, request.k, found.said_again)
    if command.mode == "tool" and not command.fills:
        rows = {one.row.id: one.row for one in found.ranked if one.row.memory}
        hits = with_further_statements(hits, rows, query_terms(request.shaped.text_query), tokens, found.holds)
    text, shown = injected(hits, found.timezone)
    lines = [] if request.small_talk else query_lines(request)
    answer = RecallAnswer(
        hits=hits,
        result_state=_state(found, bool(hits)),
        legs=found.reports,
        degraded=found.degraded,
        transparency=transparency(shown, found.degraded, lines),
        injection_text=text,
        budget_ms=request.budget_ms,
        elapsed_ms=round(budget.elapsed_ms, 3),
        lag=found.lag,
        history=found.history,
        pack_version=found.pack_version,
        query_lines=lines,
        read_again=found.read_again,
    )
    found = replace(found, dropped=[*found.dropped, *unfit])
    if command.debug:
        answer = replace(answer, debug=_debug(scope.embedder.model, request, found, was_warm=was_warm))
    return _recording(scope, request, found, answer) if command.recorded else Recording(answer)


def already_shown(scope: UserScope, command: RecallCommand, answer: RecallAnswer) -> RecallAnswer | None:
    """Search what the prompt itself shows, for a tool that found nothing beside it: a model that asks for what stands
    there has not seen it, and would take an empty result for the answer. Return None where that finds nothing, too."""
    if answer.result_state != "none" or command.session_id is None or command.beside != "history":
        return None
    found = recall(scope, replace(command, beside="question", recorded=False))
    return found if found.hits else None


def _search(scope: UserScope, request: ResolvedRequest, budget: TimeBudget) -> tuple[Found, ResolvedRequest]:
    """Search, and return what was found with the request that found it. Where a tool's query finds nothing with its
    operators, the search is made again in plain words, and the answer says so; then an empty answer holds for the
    words, too."""
    found = search(scope, request, budget)
    if found.ranked or not (request.shaped.text_query.narrow and found.searched):
        return found, request
    plain = request.in_plain_words()
    return search(scope, plain, budget), plain


def _state(found: Found, any_hit: bool) -> ResultState:
    if any_hit:
        return "found"
    return "none" if found.searched else "not_searched"


def _recording(scope: UserScope, request: ResolvedRequest, found: Found, answer: RecallAnswer) -> Recording:
    now = scope.ports.clock.now()
    recall_id = f"rcl_{scope.ports.ids.ulid(now)}"

    def write() -> bool:
        record = RecallRecord(
            id=recall_id,
            at=iso(now),
            query_hash=query_hash(scope, request),
            mode=request.command.mode,
            scope=request.command.scope,
            limit=request.k,
            result_state=answer.result_state,
            budget_ms=answer.budget_ms,
            elapsed_ms=answer.elapsed_ms,
            session_id=request.command.session_id,
            legs=recorded_legs(answer.legs),
            hits=recorded_hits(answer.hits, found.dropped),
            degraded=answer.degraded,
            as_of=request.command.as_of,
            filters=recorded_filters(request.where),
        )
        return record_recall(scope, found.head, record)

    deadline_ms = max(answer.budget_ms - answer.elapsed_ms, 0.0) + LEDGER_MS + scope.ports.clock.monotonic_ms()
    return Recording(replace(answer, recall_id=recall_id), scope.ports.tasks.start_write(write), deadline_ms)


def _debug(model: IndexModel, request: ResolvedRequest, found: Found, *, was_warm: bool) -> Mapping[str, Any]:
    where = {name: value for name, value in asdict(request.where).items() if value not in (None, ())}
    del where["exclude_fingerprints"]
    shown = {name: value if isinstance(value, str) else sorted(map(str, value)) for name, value in where.items()}
    return {
        "lexical_terms": list(request.shaped.terms),
        "vector_text": request.vector_text,
        "threshold": request.threshold,
        "filters": shown,
        "embedder": {"model": model.tag, "dimension": model.dimensions, "warm": was_warm},
        "dropped": [{"id": one.id, "reason": one.reason} for one in found.dropped],
    }
