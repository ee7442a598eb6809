"""Handles the batch of the function behind the reflect queue: one user or one tenant a message, failures reported
one by one, and a message whose work is not done sent again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neve import observability
from neve.correlation import FIELD
from neve.domain.jobs.time_limits import DELIVERIES
from neve.domain.reflect.night_limits import NO_PROGRESS_FOR, POSTPONED_S
from neve.domain.times import iso, parse
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.usecases.core.jobs.again import again
from neve.usecases.core.jobs.messages.reflection import ReflectionRequest
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.work.reflect.night_job import UserBusy, give_up
from neve.usecases.work.reflect.reflect_user import UserReport, reflect_user
from neve.usecases.work.reflect.run import give_up_run, queue_users
from neve.workers.cut_off import telling_if_cut_off
from neve.workers.one_by_one import process_one_by_one

QUEUE = QueueName.REFLECT
BUSY_SINCE = "busy_since"
"""The field of a message that was put off: since when its user has been busy."""
METRICS = {
    "replaced": "RowsCondensed",
    "written": "RowsWritten",
    "kept": "RowsUnchanged",
    "refused": "RowsRefused",
    "changed": "RowConflicts",
    "reflection_left_out": "ReflectionRowsLeftOut",
    "reflection_cut": "ReflectionRowsTruncated",
}


def process_nightly(ports: Ports, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Handle a batch and give the partial batch answer. ``context``: Lambda's, which knows how long the worker may
    still run; None: for ever."""
    with telling_if_cut_off(ports, QUEUE, context):
        return process_one_by_one(event, context, QUEUE, partial(_work, ports), given_up=partial(_give_up, ports))


def _work(ports: Ports, body: dict[str, Any], seconds_left: SecondsLeft) -> None:
    tenant, asked = tenant_scope(ports, body["tenant"]), ReflectionRequest.of(body)
    if body["work"] == "tenant":
        if not queue_users(tenant, asked):
            _send_again(ports, body)
        return
    report = UserReport()
    try:
        done = reflect_user(tenant.of_user(body["user"]), asked, report, seconds_left)
    except (UserBusy, ReplacementBusy) as held:
        now = iso(ports.clock.now())
        since = now if _got_somewhere(report) else body.get(BUSY_SINCE, now)
        if ports.clock.now() - parse(since) > NO_PROGRESS_FOR:
            raise
        _postpone(ports, {**body, BUSY_SINCE: since}, held)
        return
    finally:
        _report(_correlation_id(body), report)
    if not done:  # it got somewhere: a user who is busy next is so from then on
        _send_again(ports, {name: value for name, value in body.items() if name != BUSY_SINCE})


def _give_up(ports: Ports, body: dict[str, Any], error: Exception) -> None:
    """End the job whose message is a dead letter: no job may be without an end."""
    tenant, asked = tenant_scope(ports, body["tenant"]), ReflectionRequest.of(body)
    why = str(error) if getattr(error, "text_is_logged", False) else type(error).__name__
    reason = f"its message was given up after {DELIVERIES} deliveries: {why}"
    if body["work"] == "tenant":
        give_up_run(tenant, asked, reason)
    else:
        give_up(tenant.of_user(body["user"]), asked, reason)


def _got_somewhere(report: UserReport) -> bool:
    return any(report.counts.get(name) for name in ("replaced", "kept"))


def _postpone(ports: Ports, body: dict[str, Any], held: Exception) -> None:
    ports.clock.sleep(POSTPONED_S)
    _send_again(ports, body)
    observability.message_postponed(QUEUE, _correlation_id(body), held)


def _send_again(ports: Ports, body: dict[str, Any]) -> None:
    """Send a message again. Its group is the tenant: the queue is fair between tenants."""
    ports.queue.send(QUEUE, [again(body, body["tenant"])])


def _correlation_id(body: Mapping[str, Any]) -> str:
    return str(body.get(FIELD, body["job_id"]))


def _report(correlation_id: str, report: UserReport) -> None:
    """Tell of all that was not done: kept, refused and changed rows are counted, and so is a failure; what an answer
    had no room for is logged, too."""
    for count, cut in report.no_room:
        observability.reflection_left_out(QUEUE, correlation_id, count, cut)
    counts: dict[str, float] = {METRICS[name]: n for name, n in report.counts.items() if name in METRICS and n}
    observability.emit_metrics(QUEUE, counts | ({"ReflectionsFailed": 1} if report.failed else {}))
