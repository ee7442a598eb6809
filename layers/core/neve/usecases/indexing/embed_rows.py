"""The worker behind the embed queue: vectors (docs/rules/indexing.md#embedding)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neve.ports import IndexingPorts
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.indexing.by_kind import Failures, Told, Work, by_kind
from neve.usecases.indexing.index_events import index_vectors
from neve.usecases.indexing.index_memories import index_memories
from neve.usecases.indexing.indexed_row import Span


def embed_rows(ports: IndexingPorts, told: Sequence[Told]) -> Failures:
    """One batch; each message succeeds or fails by itself."""

    def memories(keys: UserKeys, revs: Mapping[str, int], _: Told) -> set[str]:
        return index_memories(ports, keys, revs)

    def events(keys: SessionKeys, spans: Sequence[Span], newest: Told) -> None:
        index_vectors(ports, keys, newest.body["incarnation"], spans)

    return by_kind(told, Work(memories, events))
