"""One batch of messages of the index queue or the embed queue, taken together by user and by session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from neve.domain.records.sessions import Span
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Queue, QueueName
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.core.jobs.again import again
from neve.usecases.core.lag.indexed_row import joined
from neve.usecases.work.indexing.index_events import EmbedAgain, IndexingOutOfTime
from neve.usecases.work.indexing.indexed_collections import DOCUMENTS, MEMORIES, IndexedCollection

BATCH_SIZE = 50
"""Rows of one user that are indexed together (docs/rules/indexing.md#embedding)."""

DOCUMENT_BATCH_SIZE = 8
"""A document may have a thousand times the text of a memory."""
INDEXED_COLLECTIONS: Mapping[str, tuple[IndexedCollection[Any], int]] = {
    MEMORIES.kind: (MEMORIES, BATCH_SIZE),
    DOCUMENTS.kind: (DOCUMENTS, DOCUMENT_BATCH_SIZE),
}
"""By the kind of a message: the rows that it is about, and how many of one user are indexed together."""

Failures = dict[int, Exception]
"""Why messages are to be delivered again, by position."""


@dataclass(frozen=True, slots=True)
class IndexMessage:
    """One message. ``again``: it was delivered before, and the worker that had it did not say that it was done with."""

    body: Mapping[str, Any]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a worker, by kind of message. ``memories``: of one user and one collection, the ids with the highest
    rev that was told of; returns the ids that are to be told again, and why. ``events``: of one session, the spans that
    were told of, ascending and apart: what lies between two of them is another batch's; those that a retraction took
    back come alone. Both get the newest message, and whether one of theirs was delivered before. They may raise
    EmbedAgain, StoreUnavailable."""

    memories: Callable[[UserKeys, IndexedCollection[Any], Mapping[str, int], IndexMessage], Mapping[str, EmbedAgain]]
    events: Callable[[SessionKeys, Sequence[Span], IndexMessage], None]


def by_kind(received: Sequence[IndexMessage], work: Work) -> Failures:
    """Do the work of the messages, those of one user and kind together; return why some failed, by position. Messages
    may come twice and in any order."""
    failures: Failures = {}
    memories: dict[tuple[UserKeys, str], list[int]] = {}
    logs: dict[tuple[SessionKeys, int, str | None], list[int]] = {}
    for position, one in enumerate(received):
        keys = UserKeys(one.body["tenant"], one.body["user"])
        if one.body["kind"] in INDEXED_COLLECTIONS:
            memories.setdefault((keys, one.body["kind"]), []).append(position)
        else:
            log = keys.of_session(one.body["session"])
            logs.setdefault((log, one.body["incarnation"], one.body.get("retraction")), []).append(position)
    for (keys, kind), positions in memories.items():
        collection, size = INDEXED_COLLECTIONS[kind]
        for start in range(0, len(positions), size):
            failures |= _isolate_failures(
                positions[start : start + size], partial(_memories, work, keys, collection, received)
            )
    for (log, _, _), positions in logs.items():
        failures |= _isolate_failures(positions, partial(_events, work, log, received))
    return failures


def put_off(queue: Queue, name: QueueName, received: Sequence[IndexMessage], failures: Failures) -> Failures:
    """Send again the messages that the worker has no time left for: they have not failed. Return the other failures."""
    late = [position for position, error in failures.items() if isinstance(error, IndexingOutOfTime)]
    if not late:
        return failures
    try:
        queue.send(name, [again(received[position].body) for position in late])
    except StoreUnavailable as error:
        return failures | dict.fromkeys(late, error)
    return {position: error for position, error in failures.items() if position not in late}


def _isolate_failures(positions: Sequence[int], work: Callable[[Sequence[int]], Failures]) -> Failures:
    """Do the work for all of them together; should it break on something unforeseen, for each one by itself, so that a
    single bad row does not take the others to the dead-letter queue."""
    try:
        return work(positions)
    except StoreUnavailable as error:
        return dict.fromkeys(positions, error)
    except Exception as error:
        if len(positions) == 1:
            return {positions[0]: error}
    failures: Failures = {}
    for position in positions:
        failures |= _isolate_failures([position], work)
    return failures


def _memories(
    work: Work,
    keys: UserKeys,
    collection: IndexedCollection[Any],
    received: Sequence[IndexMessage],
    positions: Sequence[int],
) -> Failures:
    revs: dict[str, int] = {}
    for body in (received[position].body for position in positions):
        revs[body["id"]] = max(body["rev"], revs.get(body["id"], 0))
    again = work.memories(keys, collection, revs, _merge_messages(received, positions))
    return {position: again[i] for position in positions if (i := received[position].body["id"]) in again}


def _events(work: Work, keys: SessionKeys, received: Sequence[IndexMessage], positions: Sequence[int]) -> Failures:
    bodies = [received[position].body for position in positions]
    spans = joined((body["seq_from"], body["seq_to"]) for body in bodies)
    try:
        work.events(keys, spans, _merge_messages(received, positions))
    except EmbedAgain as error:
        return dict.fromkeys(positions, error)
    return {}


def _merge_messages(received: Sequence[IndexMessage], positions: Sequence[int]) -> IndexMessage:
    return IndexMessage(received[positions[-1]].body, any(received[position].again for position in positions))
