"""Queue the passes that no append has asked for, or whose message was lost: of a session that fell silent, of an outbox
that gave up, of a queue that was emptied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from neve.domain.observe.due import Due, pass_due
from neve.domain.tenants.observe_after import idle_s
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.ports.table import Key, Table
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.lag.memory_lag import Progress
from neve.usecases.core.tenants.policy_in_force import tenant_scope

Waiting = tuple[SessionKeys, Progress, Due]
"""A session whose pass is due, and why."""


def passes_due(
    ports: Ports, logs: Iterable[tuple[SessionKeys, Progress]], now: datetime, on_failure: Callable[[Exception], object]
) -> Iterator[Waiting]:
    """Yield those of the logs whose pass is due under their tenant's policy. ``on_failure`` hears of a tenant whose
    policy cannot be read, which keeps no other waiting."""
    for keys, progress in logs:
        if progress.unobserved:
            try:
                silence = idle_s(tenant_scope(ports, keys.tenant).policy.observe_after)
            except Exception as error:
                on_failure(error)
                continue
            if due := pass_due(progress.head, progress.read_to, silence, now):
                yield keys, progress, due


def requeue_passes(ports: Ports, waiting: Iterable[Waiting]) -> Counter[Due]:
    """Queue the passes, and return how many were sent, by why. Where the job has failed, it waits until a caller asks,
    or says more, or for the session's end, which is tried again until it works. Raises StoreUnavailable."""
    messages, sent = [], Counter[Due]()
    for keys, progress, due in waiting:
        incarnation = rows.read_head(ports.table.get(keys.head)).incarnation
        message = observation_message(keys, incarnation, progress.head.last_seq)
        if not _failed(ports.table, keys.job(message.body["job_id"])):
            messages.append(message)
            sent[due] += 1
    if messages:
        ports.queue.send(QueueName.EXTRACT, messages)
    return sent


def _failed(table: Table, job: Key) -> bool:
    row = table.get(job)
    return row is not None and rows.read_job(row).status == "failed"
