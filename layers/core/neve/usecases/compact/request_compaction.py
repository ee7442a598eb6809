"""E4: ask for a compaction."""

from __future__ import annotations

from neve.domain.errors import not_found
from neve.domain.records.epochs import Verbosity
from neve.domain.records.jobs import Job
from neve.ports.errors import Conflict
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.jobs.messages.compaction import Reason, compact_message, compaction_job
from neve.usecases.jobs.read_jobs import find_job, wait_for_job


def request_compaction(scope: SessionScope, reason: Reason, wait: bool, verbosity: Verbosity | None = None) -> Job:
    """A queued job; with ``wait`` polled up to 20 s. Raises session_not_found, erasing, user_closed, StoreUnavailable;
    a call that could not be sent leaves no job."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head])
    if keys.session_head not in found:
        raise not_found("session", scope.session)
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    job = compaction_job(scope, reason, verbosity)
    # the message first: a row without one would stay queued for as long as it is kept, while a worker makes the row of
    # a message that has none
    scope.ports.queue.send(QueueName.COMPACT, [compact_message(keys, head.incarnation, job)])
    try:
        scope.ports.table.write([rows.put_job(keys, job)])
    except Conflict:  # that worker was faster
        job = find_job(scope, job.id) or job
    return wait_for_job(scope, job) if wait else job
