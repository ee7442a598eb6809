"""Queue the passes again whose message was lost: an outbox that gave up, a queue that was emptied."""

from __future__ import annotations

from datetime import timedelta

from neve.ports import Ports, QueueName
from neve.store import rows
from neve.store.keys import SessionKeys
from neve.usecases.indexing.requeue import logs_behind, waiting_for
from neve.usecases.observe.job import observation_message


def requeue_passes(ports: Ports, older_than: timedelta) -> int:
    """Of sessions that were not observed up to their last complete turn for so long. Those whose job has failed wait
    for somebody to ask, or to say more. How many were sent. Raises StoreUnavailable."""
    messages = []
    for keys, progress in waiting_for(older_than, ports.clock.now(), logs_behind(ports.table)):
        if progress.lag(ports.clock.now()).unobserved:
            incarnation = rows.read_head(ports.table.get(keys.head)).incarnation
            message = observation_message(keys, incarnation, progress.head.last_seq)
            if not _failed(ports, keys, message.body["job_id"]):
                messages.append(message)
    if messages:
        ports.queue.send(QueueName.EXTRACT, messages)
    return len(messages)


def _failed(ports: Ports, keys: SessionKeys, job_id: str) -> bool:
    row = ports.table.get(keys.job(job_id))
    return row is not None and rows.read_job(row).status == "failed"
