"""Sessions of which documents are taken back are filed again (docs/rules/retract.md#documents)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from neve.domain.records.jobs import Job
from neve.domain.records.retractions import Retraction
from neve.observing import SecondsLeft, for_ever
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.usecases.core.jobs.ask_to_file import ask_to_file
from neve.usecases.core.jobs.messages.filing import filing_message, refiling_job
from neve.usecases.tell.requests.retract_job import ASKED, FILE_AGAIN, ROUND_S, WAITING, note, read_list
from neve.usecases.work.observe.observe_session import OutOfTime

AT_ONCE = 50
"""*Chosen*: sessions, each of which takes two calls of the table, some seconds together."""


def file_again(
    scope: SessionScope, incarnation: int, retraction: Retraction, job: Job, seconds_left: SecondsLeft = for_ever
) -> None:
    """Ask for each of the sessions to be filed again. May be repeated: a librarian finds its cursor moved, and its job
    done. The rows of the jobs are their messages: nothing else would file a session that is over. Raises OutOfTime
    behind some of many, UserErased, JobEnded, StoreUnavailable."""
    sessions, asked = list(read_list(scope, job, FILE_AGAIN)), int(job.state.get(ASKED, 0))
    news = asked < len(sessions) and len(sessions) > AT_ONCE
    while asked < len(sessions):
        some = sessions[asked : asked + AT_ONCE]
        for log in map(scope.of_session, some):
            ask_to_file(log, incarnation, refiling_job(log, retraction.id))
        asked += len(some)
        if asked < len(sessions) and seconds_left() < ROUND_S:
            note(scope, job.id, partial(_with_asked, asked))
            raise OutOfTime
    if news:
        note(scope, job.id, partial(_with_asked, asked))
    messages = [filing_message(scope.keys, incarnation, *one) for one in read_list(scope, job, WAITING)]
    if messages:
        scope.ports.queue.send(QueueName.LIBRARIAN, messages)


def _with_asked(sessions: int, job: Job) -> Job:
    """Note in the job that so many sessions were asked for, so that no worker asks for them again."""
    return replace(job, state={**job.state, ASKED: max(sessions, job.state.get(ASKED, 0))})
