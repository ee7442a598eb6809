"""Sessions of which documents are taken back are filed again (docs/rules/retract.md#documents)."""

from __future__ import annotations

from neve.domain.records.jobs import Job
from neve.domain.records.retractions import Retraction
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.usecases.jobs.ask_to_file import ask_to_file
from neve.usecases.jobs.messages.filing import filing_message, refiling_job
from neve.usecases.retract.retract_job import FILE_AGAIN, WAITING, read_list


def file_again(scope: SessionScope, incarnation: int, retraction: Retraction, job: Job) -> None:
    """May be repeated: a librarian finds its cursor moved, and its job done. The rows of the jobs are their messages:
    nothing else would file a session that is over."""
    for session in read_list(scope, job, FILE_AGAIN):
        log = scope.of_session(session)
        ask_to_file(log, incarnation, refiling_job(log, retraction.id))
    messages = [filing_message(scope.keys, incarnation, *one) for one in read_list(scope, job, WAITING)]
    if messages:
        scope.ports.queue.send(QueueName.LIBRARIAN, messages)
