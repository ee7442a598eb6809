"""The worker behind the index queue: words, as soon as they are said. It has no encoder, and what it has done goes on
to the embed queue: a backlog there delays no word (docs/rules/indexing.md#words)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neve.correlation import correlated
from neve.ports import QueueName, WordsPorts
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.indexing.by_kind import Failures, Told, Work, by_kind
from neve.usecases.indexing.index_events import index_words
from neve.usecases.indexing.index_memories import index_memory_words
from neve.usecases.indexing.indexed_row import Span
from neve.usecases.indexing.messages import memory_message


def index_rows(ports: WordsPorts, told: Sequence[Told]) -> Failures:
    """One batch; each message succeeds or fails by itself."""

    def memories(keys: UserKeys, revs: Mapping[str, int], newest: Told) -> set[str]:
        with correlated(newest.body):
            done = index_memory_words(ports, keys, revs, again=newest.again)
            messages = [memory_message(keys, newest.body["incarnation"], memory.id, memory.rev) for memory in done]
            if messages:
                ports.queue.send(QueueName.EMBED, messages)
        return set()

    def events(keys: SessionKeys, spans: Sequence[Span], newest: Told) -> None:
        with correlated(newest.body):
            index_words(ports, keys, newest.body["incarnation"], spans[-1][1], again=newest.again)

    return by_kind(told, Work(memories, events))
