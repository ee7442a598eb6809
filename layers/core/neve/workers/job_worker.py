"""Handles the batch of the function behind the jobs queue: work on all that is kept of one user or in one log,
failures reported one by one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neve import observability
from neve.correlation import FIELD
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.queued_jobs import WorkerReplaced
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.work.background.steps import steps
from neve.workers.cut_off import telling_if_cut_off
from neve.workers.one_by_one import process_one_by_one

QUEUE = QueueName.JOBS


def process_jobs(ports: Ports, event: Mapping[str, Any], context: Any) -> dict[str, Any]:
    """Handle a batch and give the partial batch answer. ``context``: Lambda's, which knows how long the worker may
    still run; None: for ever."""
    with telling_if_cut_off(ports, QUEUE, context):
        return process_one_by_one(event, context, QUEUE, partial(work, ports))


def work(ports: Ports, body: Mapping[str, Any], seconds_left: SecondsLeft) -> None:
    """Do the work of one message."""
    scope = tenant_scope(ports, body["tenant"]).of_user(body["user"])
    try:
        carry_on(scope, body["work"], body["job_id"], steps(scope)[body["work"]], seconds_left)
    except WorkerReplaced as held:
        observability.message_postponed(QUEUE, body.get(FIELD, ""), held)  # another worker is at it
