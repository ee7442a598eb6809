"""E7: search everything that is not in the pack. A memory failure degrades the answer, it never becomes an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from neve.domain.times import iso
from neve.ports import Conflict, DeadlineExceeded, StoreUnavailable
from neve.usecases.recall.answer import RecallAnswer, ResultState, degradation_line, fit, injected, transparency
from neve.usecases.recall.command import Asked, RecallCommand, settle
from neve.usecases.recall.legs import DEADLINE, LegReport
from neve.usecases.recall.query_vectors import query_vectors
from neve.usecases.recall.record_recall import RecallRecord, hash_keys, record_recall, recorded_hits, recorded_legs
from neve.usecases.recall.search import Found, nothing_found, search
from neve.usecases.recall.time_budget import TimeBudget
from neve.wiring import Ports, Tenant

LEDGER_ERROR = "ledger:error"
LEDGER_MS = 100.0
"""How much longer than its budget an answer may wait for its ledger row: the recalls that ran out of time are those
somebody will want to look up."""


def recall(ports: Ports, tenant: Tenant, user: str, command: RecallCommand) -> RecallAnswer:
    """Three steps of port calls and the ledger write. Raises 422 (the scope ``session`` without a session),
    session_not_found, user_closed."""
    asked = settle(tenant.policy, command)
    was_warm = query_vectors.warm(ports.embedder.model.tag)
    budget = TimeBudget(ports.clock, asked.budget_ms, ports.clock.monotonic_ms())
    if asked.budget_ms <= 0:
        found = nothing_found({"lexical": LegReport(), "vector": LegReport()}, [DEADLINE], None)
    else:
        found = search(ports, tenant, user, asked, budget)
    hits, unfit = fit(found.ranked, asked.k)
    text, shown = injected(hits)
    answer = RecallAnswer(
        hits=hits,
        result_state=_state(found, bool(hits)),
        legs=found.reports,
        degraded=found.degraded,
        transparency=transparency(shown, found.degraded),
        injection_text=text,
        budget_ms=asked.budget_ms,
        elapsed_ms=round(budget.elapsed_ms, 3),
    )
    found = replace(found, dropped=[*found.dropped, *unfit])
    if command.debug:
        answer = replace(answer, debug=_debug(ports, asked, found, was_warm=was_warm))
    return _recorded(ports, tenant, user, asked, found, answer)


def _state(found: Found, any_hit: bool) -> ResultState:
    if any_hit:
        return "found"
    return "none" if found.searched else "not_searched"


def _recorded(
    ports: Ports, tenant: Tenant, user: str, asked: Asked, found: Found, answer: RecallAnswer
) -> RecallAnswer:
    """With the id of its ledger row, or with the flag that there is none."""
    now = ports.clock.now()
    recall_id = f"rcl_{ports.ids.ulid(now)}"

    def write() -> None:
        record = RecallRecord(
            id=recall_id,
            at=iso(now),
            query_hash=hash_keys.query_hash(ports, tenant, user, asked),
            mode=asked.command.mode,
            scope=asked.command.scope,
            k=asked.k,
            result_state=answer.result_state,
            budget_ms=answer.budget_ms,
            elapsed_ms=answer.elapsed_ms,
            session_id=asked.command.session_id,
            legs=recorded_legs(answer.legs),
            hits=recorded_hits(answer.hits, found.dropped),
            degraded=answer.degraded,
        )
        record_recall(ports, tenant, user, found.head, record)

    deadline_ms = max(answer.budget_ms - answer.elapsed_ms, 0.0) + LEDGER_MS + ports.clock.monotonic_ms()
    try:
        ports.tasks.start(write).result(deadline_ms)
    except (StoreUnavailable, Conflict, DeadlineExceeded):
        degraded, told = [*answer.degraded, LEDGER_ERROR], [*answer.transparency, degradation_line(LEDGER_ERROR)]
        return replace(answer, degraded=degraded, transparency=told)
    return replace(answer, recall_id=recall_id)


def _debug(ports: Ports, asked: Asked, found: Found, *, was_warm: bool) -> Mapping[str, Any]:
    model = ports.embedder.model
    where = {name: value for name, value in asdict(asked.where).items() if value not in (None, ())}
    del where["exclude_fingerprints"]
    shown = {name: value if isinstance(value, str) else sorted(map(str, value)) for name, value in where.items()}
    return {
        "lexical_terms": list(asked.shaped.terms),
        "vector_text": asked.vector_text,
        "threshold": asked.threshold,
        "filters": shown,
        "embedder": {"model": model.tag, "dimension": model.dimensions, "warm": was_warm},
        "dropped": [{"id": one.id, "reason": one.reason} for one in found.dropped],
    }
