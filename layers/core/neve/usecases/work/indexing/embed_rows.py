"""Run the worker behind the embed queue: vectors (docs/rules/indexing.md#embedding)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neve.domain.records.sessions import Span
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.scope import SessionData, UserData
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.core.tenants.own_encoder import worker_ports
from neve.usecases.work.indexing.by_kind import Failures, IndexMessage, Work, by_kind, put_off
from neve.usecases.work.indexing.index_events import EmbedAgain, index_vectors
from neve.usecases.work.indexing.index_memories import index_memories
from neve.usecases.work.indexing.indexed_collections import IndexedCollection
from neve.usecases.work.indexing.vectors.worker_time import PortsWithinTime


def embed_rows(ports: Ports, received: Sequence[IndexMessage], seconds_left: SecondsLeft = for_ever) -> Failures:
    """Embed one batch; each message succeeds or fails by itself. Messages that there was no time for are sent again."""
    failures = by_kind(received, _vectors(ports, seconds_left))
    return put_off(ports.queue, QueueName.EMBED, received, failures)


def _vectors(ports: Ports, seconds_left: SecondsLeft) -> Work:
    def timed(keys: UserKeys) -> PortsWithinTime:
        return PortsWithinTime(worker_ports(ports, keys.tenant), seconds_left)

    def memories(
        keys: UserKeys, collection: IndexedCollection[Any], revs: Mapping[str, int], _: IndexMessage
    ) -> Mapping[str, EmbedAgain]:
        return index_memories(UserData(timed(keys), keys), revs, collection=collection, left=seconds_left)

    def events(keys: SessionKeys, spans: Sequence[Span], newest: IndexMessage) -> None:
        index_vectors(SessionData(timed(keys), keys), newest.body["incarnation"], spans, again=newest.again)

    return Work(memories, events)
