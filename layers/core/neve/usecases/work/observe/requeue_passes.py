"""Queue the passes again whose message was lost: an outbox that gave up, a queue that was emptied."""

from __future__ import annotations

from collections.abc import Iterable

from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.ports.table import Key, Table
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.lag.memory_lag import Progress


def requeue_passes(ports: Ports, waiting: Iterable[tuple[SessionKeys, Progress]]) -> int:
    """Queue the passes of the given sessions that are not observed up to their last complete turn, and return how many
    were sent. Where the job has failed, it waits until a caller asks, or says more, or for the session's end, which is
    tried again until it works. Raises StoreUnavailable."""
    messages = []
    for keys, progress in waiting:
        if progress.lag(ports.clock.now()).unobserved:
            incarnation = rows.read_head(ports.table.get(keys.head)).incarnation
            message = observation_message(keys, incarnation, progress.head.last_seq)
            if not _failed(ports.table, keys.job(message.body["job_id"])):
                messages.append(message)
    if messages:
        ports.queue.send(QueueName.EXTRACT, messages)
    return len(messages)


def _failed(table: Table, job: Key) -> bool:
    row = table.get(job)
    return row is not None and rows.read_job(row).status == "failed"
