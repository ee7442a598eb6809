"""The answers of the tenant's own jobs, and of what its memory has cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neve import observability
from neve.domain.languages import not_observed
from neve.domain.tenants.policy import Policy
from neve.http.answers.job import job_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, again_at_its_rev, once, once_within
from neve.http.schemas.erase.users import EraseQuery
from neve.http.schemas.jobs.jobs import DrainBody
from neve.http.schemas.reflect.reflections import ReflectBody, ReflectPlanOut
from neve.http.schemas.tenants.admin import PolicyChange, PolicyOut, StatsOut, TenantUsageOut
from neve.http.schemas.tenants.usage import DaysQuery
from neve.store.idempotency import Beside
from neve.usecases.ask.tenants.read_policy import PolicyAt, read_policy
from neve.usecases.ask.tenants.tenant_usage import TIME_LIMIT_MS, tenant_usage
from neve.usecases.ask.tenants.user_stats import user_stats
from neve.usecases.core.tenants.policy_in_force import forget_policy
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.requests.request_export import request_export
from neve.usecases.tell.tenants.write_policy import change_policy, write_policy
from neve.usecases.work.indexing.drain_embeddings import drain_embeddings
from neve.usecases.work.reflect.request_reflection import plan_reflection, request_reflection

USAGE_TIMEOUT, STATS_TIMEOUT = "usage:timeout", "stats:timeout"


def drain_answer(call: Call[Nothing, DrainBody]) -> Answer:
    user, wait_s = call.body.user_id, call.body.seconds()
    return once(call, lambda: job_answer(drain_embeddings(call.tenant, user, wait_s)))


def erasure_answer(call: Call[EraseQuery, Nothing]) -> Answer:
    close = call.query.close
    return once_within(call, lambda beside: request_erasure(call.user, close=close, beside=beside), job_answer)


def export_answer(call: Call[Nothing, Nothing]) -> Answer:
    return once_within(call, lambda beside: request_export(call.user, beside), job_answer)


def reflection_answer(call: Call[Nothing, ReflectBody]) -> Answer:
    """Start a job that reflects, or say what it would do."""
    asked = (call.tenant, call.body.user_id, call.body.min_age_days)
    if call.body.dry_run:
        return Answer(body=ReflectPlanOut.of(plan_reflection(*asked), dry_run=True))
    return once(call, lambda: job_answer(request_reflection(*asked)))


def policy_answer(call: Call[Nothing, Nothing]) -> Answer:
    return _policy(read_policy(call.tenant))


def written_policy(call: Call[Nothing, Policy]) -> Answer:
    return _written(call, lambda beside: write_policy(call.tenant, call.body, call.if_match, beside))


def patched_policy(call: Call[Nothing, PolicyChange]) -> Answer:
    change = call.body.made_of
    return _written(call, lambda beside: change_policy(call.tenant, change, call.if_match, beside))


def _written(call: Call[Nothing, Any], write: Callable[[Beside[PolicyAt]], PolicyAt]) -> Answer:
    def written(beside: Beside[PolicyAt]) -> PolicyAt:
        found = write(beside)
        forget_policy(call.tenant)
        return found

    return once_within(call, written, _policy, again=again_at_its_rev)


def _policy(found: PolicyAt) -> Answer:
    return Answer(body=PolicyOut.of(found), headers={"ETag": f'"{found.rev}"'})


def tenant_usage_answer(call: Call[DaysQuery, Nothing]) -> Answer:
    """Answer E16 with the tenant's usage. What one call cannot add up is named in the answer, in a metric and, as a
    degradation, in the log."""
    found = tenant_usage(call.tenant, call.query.days, call.began_ms + TIME_LIMIT_MS)
    if not found.complete:
        observability.emit_metrics("admin", {"UsageIncomplete": 1})
    return Answer(body=TenantUsageOut.of(found), degraded=() if found.complete else (USAGE_TIMEOUT,))


def stats_answer(call: Call[DaysQuery, Nothing]) -> Answer:
    """Answer E16 with the user's counts. What one call cannot count is named in the answer and, as a degradation, in
    the log."""
    found = user_stats(call.user, call.query.days, call.began_ms + TIME_LIMIT_MS)
    degraded = (*(() if found.complete else (STATS_TIMEOUT,)), *not_observed(found.other_language))
    return Answer(body=StatsOut.of(found, degraded), degraded=degraded)
