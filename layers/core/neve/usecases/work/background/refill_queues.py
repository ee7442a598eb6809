"""Finds again from the rows what queues that are lost held (docs/rules/jobs.md#lost-queues).

Nothing but the rows says what is to be done, and every worker is idempotent. So the rows that are behind go once more
through the outbox, as changes, and jobs that did not end are sent again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from neve.domain.records.jobs import Job
from neve.domain.records.markers import SessionMarker
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item, key_of
from neve.scope import SessionData, TenantData, UserData
from neve.store import rows
from neve.store.keys import (
    DELETED_DOCUMENT,
    DELETED_MEMORY,
    DOCUMENT,
    MEMORY,
    NOBODY,
    RETRACTION,
    SESSION,
    Keys,
    deleted_document_id,
    deleted_memory_id,
)
from neve.store.partitions import all_rows
from neve.store.sessions.state import state_rows
from neve.store.stream_records import Change
from neve.store.tenants.directory import all_tenants, users_of
from neve.usecases.ask.documents.list_documents import heads_below
from neve.usecases.core.jobs.messages import filing
from neve.usecases.core.jobs.messages.compaction import COMPACT, RETRACT, compact_message
from neve.usecases.core.jobs.messages.indexing import memory_message
from neve.usecases.core.jobs.messages.observation import observation_job_id, observation_message
from neve.usecases.core.jobs.queued_jobs import KINDS, send_work
from neve.usecases.core.lag.indexed_row import read_indexed
from neve.usecases.core.lag.memory_lag import progress_of
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.indexing.requeue import requeue_logs

BATCH_SIZE = 100
"""Changes that are dispatched together, as in a batch of the stream."""


@dataclass
class Refilled:
    """The counts of a run. ``rows``: memories, documents, deletions and events that were told of again."""

    users: int = 0
    rows: int = 0
    jobs: int = 0


OnProgress = Callable[[Refilled], object]


def refill_queues(ports: Ports, on_progress: OnProgress) -> Refilled:
    """Queue everything that is not indexed, not observed or not done. ``on_progress`` hears of every user. May be
    repeated, and run beside the workers. Raises StoreUnavailable."""
    done = Refilled()
    for tenant in (TenantData(ports, Keys(tenant)) for tenant in all_tenants(ports.table)):
        for user in users_of(ports.table, tenant.keys):
            done.rows += _requeue_user(tenant.of_user(user))
            done.users += 1
            on_progress(done)
        done.jobs += _send_jobs_again(tenant)
    on_progress(done)
    return done


def _requeue_user(data: UserData[Ports]) -> int:
    ports, keys = data.ports, data.keys
    head = rows.read_head(ports.table.get(keys.head))
    if head.state != "active":
        return 0
    queued = _send_vectors_again(data, head.incarnation)
    batch: list[Change] = []
    for change in _changes(data):
        batch.append(change)
        if len(batch) == BATCH_SIZE:
            dispatch_changes(ports, batch)
            queued, batch = queued + len(batch), []
    if batch:
        dispatch_changes(ports, batch)
    return queued + len(batch)


def _send_vectors_again(data: UserData[Ports], incarnation: int) -> int:
    """Send again what is in the index with its words: the outbox has told of it, and the words have handed it on."""
    ports, keys = data.ports, data.keys
    memories = map(rows.read_memory, all_rows(ports.table, keys.partition, prefix=MEMORY))
    messages = [memory_message(keys, incarnation, m.id, m.rev) for m in memories if m.words_at is not None]
    heads = (head for head in heads_below(ports.table, keys, "/") if head.words_at is not None)
    messages += [memory_message(keys, incarnation, str(one.id), one.rev, "document") for one in heads]
    if messages:
        ports.queue.send(QueueName.EMBED, messages)
    sessions = [keys.of_session(item["session_id"]) for item in _rows_of(data, SESSION)]
    logs = ((log, one) for log, one in progress_of(ports.table, sessions) if one.indexed.unembedded(one.head.last_seq))
    return len(messages) + requeue_logs(ports, logs)


def _changes(data: UserData[Ports]) -> Iterator[Change]:
    """Read the rows of one user, as the changes that made them."""
    ports, keys = data.ports, data.keys
    for item in all_rows(ports.table, keys.partition, prefix=MEMORY):
        if rows.read_memory(item).rev_at is not None:
            yield Change("", None, item)
    for item in all_rows(ports.table, keys.partition, prefix=DELETED_MEMORY):
        gone = {"type": "memory", "id": deleted_memory_id(key_of(item)), "rev": item["rev"]}
        yield Change("", gone | {"tenant_id": keys.tenant, "user_id": keys.user}, None)
    for item in all_rows(ports.table, keys.partition, prefix=DOCUMENT):
        if "rev_at" in item:
            yield Change("", None, item)
    for item in all_rows(ports.table, keys.partition, prefix=DELETED_DOCUMENT):
        gone = {"type": "document", "id": deleted_document_id(key_of(item)), "rev": item["rev"]}
        yield Change("", gone | {"tenant_id": keys.tenant, "user_id": keys.user}, None)
    states = state_rows(ports.table, keys, "indexed")
    indexed = {item["session_id"]: read_indexed(item["session_id"], item) for item in states}
    observed = {m.session_id: max(m.observed_seq, m.offered_seq) for m in _markers(data)}
    for item in _rows_of(data, SESSION):
        session = rows.read_session(item)
        known = indexed[session.session_id].indexed_seq if session.session_id in indexed else 0
        first = min(known, observed.get(session.session_id, 0)) + 1
        log = keys.of_session(session.session_id)
        for event in all_rows(ports.table, log.log, between=log.events(first, session.last_seq)):
            yield Change("", None, event)
        for retraction in all_rows(ports.table, log.log, prefix=RETRACTION) if session.retracted else ():
            yield Change("", None, retraction)


def _rows_of(data: UserData[Ports], prefix: str) -> list[Item]:
    return list(all_rows(data.ports.table, data.keys.partition, prefix=prefix))


def _markers(data: UserData[Ports]) -> Iterator[SessionMarker]:
    return map(rows.read_marker, state_rows(data.ports.table, data.keys, "marker"))


def _send_jobs_again(data: TenantData[Ports]) -> int:
    """Send again the jobs that did not end, and give how many."""
    ports, keys = data.ports, data.keys
    now = ports.clock.now()
    live = (item for item in all_rows(ports.table, keys.jobs) if rows.live(item, now))
    open_jobs = [job for job in map(rows.read_job, live) if not job.ended]
    observe = _messages(data, [job for job in open_jobs if job.kind == "observe"], _observation_of)
    compact = _messages(data, [job for job in open_jobs if job.kind in (COMPACT, RETRACT)], _work_of)
    files = _messages(data, [job for job in open_jobs if job.kind == filing.KIND], _filing_of)
    lasting = [job for job in open_jobs if job.kind in KINDS]
    for job in lasting:
        send_work(ports, keys.of_user(job.user_id or NOBODY), job.kind, job.id)
    queued = {
        QueueName.EXTRACT: observe,
        QueueName.COMPACT: compact,
        QueueName.LIBRARIAN: files,
    }
    for queue, messages in queued.items():
        if messages:
            ports.queue.send(queue, messages)
    return len(lasting) + sum(map(len, queued.values()))


Again = Callable[[SessionData[Ports], int, Job], Message | None]


def _messages(data: TenantData[Ports], jobs: Sequence[Job], again: Again) -> list[Message]:
    found = []
    for job in jobs:
        if job.user_id is not None and job.session_id is not None:
            log = data.of_user(job.user_id).of_session(job.session_id)
            head = rows.read_head(data.ports.table.get(log.keys.head))
            if head.state == "active" and (message := again(log, head.incarnation, job)):
                found.append(message)
    return found


def _observation_of(data: SessionData[Ports], incarnation: int, job: Job) -> Message | None:
    """Make the message of a pass: the id of the job is made of the seq up to which it observes. None for a job of
    another incarnation."""
    log = data.keys
    item = data.ports.table.get(log.session_head)
    last = rows.read_session(item).last_seq if item else 0
    seqs = (seq for seq in range(last, -1, -1) if observation_job_id(log, incarnation, seq) == job.id)
    seq = next(seqs, None)
    return None if seq is None else observation_message(log, incarnation, seq)


def _work_of(data: SessionData[Ports], incarnation: int, job: Job) -> Message:
    return compact_message(data.keys, incarnation, job)


def _filing_of(data: SessionData[Ports], incarnation: int, job: Job) -> Message:
    return filing.filing_message(data.keys, incarnation, job.id, job.kind)
