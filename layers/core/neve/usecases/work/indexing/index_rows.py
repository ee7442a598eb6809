"""Run the worker behind the index queue: words, as soon as they are said. It has no encoder, and what it has done goes
on to the embed queue: a backlog there delays no word (docs/rules/indexing.md#words)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neve.correlation import correlated
from neve.domain.records.sessions import Span
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.scope import SessionData, UserData
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.core.jobs.messages.indexing import memory_message
from neve.usecases.core.tenants.own_encoder import worker_ports
from neve.usecases.work.indexing.by_kind import Failures, IndexMessage, Work, by_kind, put_off
from neve.usecases.work.indexing.changed_events import forget_retracted
from neve.usecases.work.indexing.index_events import EmbedAgain, IndexingOutOfTime, index_words
from neve.usecases.work.indexing.index_memories import index_memory_words
from neve.usecases.work.indexing.indexed_collections import IndexedCollection
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S


def index_rows(ports: Ports, received: Sequence[IndexMessage], seconds_left: SecondsLeft = for_ever) -> Failures:
    """Index one batch; each message succeeds or fails by itself, and messages that there was no time for are sent
    again."""

    def memories(
        keys: UserKeys, collection: IndexedCollection[Any], revs: Mapping[str, int], newest: IndexMessage
    ) -> Mapping[str, EmbedAgain]:
        if seconds_left() < RESERVE_S:
            return dict.fromkeys(revs, IndexingOutOfTime())
        with correlated(newest.body):
            done, late = index_memory_words(
                UserData(worker_ports(ports, keys.tenant), keys),
                revs,
                again=newest.again,
                collection=collection,
                left=seconds_left,
            )
            messages = [memory_message(keys, newest.body["incarnation"], i, rev, collection.kind) for i, rev in done]
            if messages:
                ports.queue.send(QueueName.EMBED, messages)
        return late

    def events(keys: SessionKeys, spans: Sequence[Span], newest: IndexMessage) -> None:
        body, log = newest.body, SessionData(worker_ports(ports, keys.tenant), keys)
        with correlated(body):
            if "retraction" in body:
                forget_retracted(log, body["incarnation"], body["retraction"], left=seconds_left)
            else:
                index_words(log, body["incarnation"], spans[-1][1], again=newest.again, left=seconds_left)

    return put_off(ports.queue, QueueName.INDEX, received, by_kind(received, Work(memories, events)))
