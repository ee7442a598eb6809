"""The worker behind the embed queue: vectors, and behind them token vectors (docs/rules/indexing.md#embedding)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neve.correlation import correlated
from neve.domain.ids import event_id
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import common
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import IndexingPorts, Ports
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.scope import SessionData, TenantData, UserData
from neve.store.keys import Keys, SessionKeys, UserKeys, tenant_row
from neve.store.tenants.tenant_rows import read_tenant
from neve.usecases.indexing.by_kind import Failures, IndexMessage, Work, by_kind, put_off
from neve.usecases.indexing.index_events import EmbedAgain, index_vectors
from neve.usecases.indexing.index_memories import index_memories
from neve.usecases.indexing.indexed_collections import IndexedCollection
from neve.usecases.indexing.late.encode_items import ITEMS, encode_items
from neve.usecases.indexing.late.encode_user import encode_user
from neve.usecases.indexing.late.look_again import look_again
from neve.usecases.indexing.vectors.worker_time import WithinTime
from neve.usecases.jobs.begin_encoding import begin_tenant
from neve.usecases.jobs.messages.indexing import tokens_message

ROWS = ("memory", "document", "events")
ENCODED = ("memory", "events")
"""Documents are ranked without token vectors (docs/rules/documents.md#passages)."""
ENCODING_MS = 5_000
"""What is not encoded token by token within this time of a batch is sent again, and stands behind the vectors that have
come in meanwhile."""


def embed_rows(ports: Ports, received: Sequence[IndexMessage], seconds_left: SecondsLeft = for_ever) -> Failures:
    """One batch; each message succeeds or fails by itself. Vectors come first, and what there was no time for is sent
    again; then, of tenants that rerank late, what got them is queued for its token vectors; then those that were queued
    before."""
    at = [position for position, one in enumerate(received) if one.body["kind"] in ROWS]
    failed = by_kind([received[position] for position in at], _vectors(ports, seconds_left))
    failures: Failures = {at[n]: error for n, error in failed.items()}
    embedded = {n: ids for n in at if (ids := _embedded(received[n].body, failures.get(n)))}
    failures = put_off(ports.queue, QueueName.EMBED, received, failures)
    try:
        _queue_tokens(ports, [(received[position].body, ids) for position, ids in embedded.items()])
    except StoreUnavailable as error:
        failures |= dict.fromkeys(embedded, error)
    ends_ms = ports.clock.monotonic_ms() + ENCODING_MS
    for position, one in enumerate(received):
        if one.body["kind"] not in ROWS:
            try:
                _encode(ports, one.body, ends_ms)
            except Exception as error:  # each fails by itself, like the rows
                failures[position] = error
    return failures


def _vectors(ports: IndexingPorts, seconds_left: SecondsLeft) -> Work:
    timed = WithinTime(ports, seconds_left)

    def memories(
        keys: UserKeys, collection: IndexedCollection[Any], revs: Mapping[str, int], _: IndexMessage
    ) -> Mapping[str, EmbedAgain]:
        return index_memories(UserData(timed, keys), revs, collection=collection, left=seconds_left)

    def events(keys: SessionKeys, spans: Sequence[Span], newest: IndexMessage) -> None:
        index_vectors(SessionData(timed, keys), newest.body["incarnation"], spans)

    return Work(memories, events)


# --- token vectors --------------------------------------------------------------------------------


def _embedded(body: Mapping[str, Any], failure: Exception | None) -> list[str]:
    """What a message names and has its vectors. A message that comes again for some of its events may never succeed:
    the others do not wait for it."""
    if body["kind"] == "events":
        named = [(body["seq_from"], body["seq_to"])]
        if failure is not None:
            named = list(common(named, failure.embedded)) if isinstance(failure, EmbedAgain) else []
        return [event_id(body["session"], seq) for first, last in named for seq in range(first, last + 1)]
    return [body["id"]] if failure is None and body["kind"] in ENCODED else []


def _queue_tokens(ports: Ports, embedded: Sequence[tuple[Mapping[str, Any], list[str]]]) -> None:
    """Raises StoreUnavailable."""
    if ports.token_encoder is None or not embedded:
        return
    late = _late_tenants(ports, {body["tenant"] for body, _ in embedded})
    messages = [m for body, ids in embedded if body["tenant"] in late for m in _tokens_messages(body, ids)]
    if messages:
        ports.queue.send(QueueName.EMBED, messages)


def _late_tenants(ports: Ports, tenants: set[str]) -> set[str]:
    """Read and not remembered: whoever goes through all that a tenant has, because its policy has just become late,
    leaves to this what comes in behind it."""
    found = ports.table.get_many([tenant_row(tenant) for tenant in sorted(tenants)])
    return {row.id for row in map(read_tenant, found.values()) if row.policy.rerank == "late"}


def _tokens_messages(body: Mapping[str, Any], ids: list[str]) -> list[Message]:
    keys = UserKeys(body["tenant"], body["user"])
    with correlated(body):
        parts = (ids[start : start + ITEMS] for start in range(0, len(ids), ITEMS))
        return [tokens_message(keys, body["incarnation"], part) for part in parts]


def _encode(ports: Ports, body: Mapping[str, Any], ends_ms: float) -> None:
    """Raises EmbedAgain, 409 ``conflict``, StoreUnavailable."""
    with correlated(body):
        rest = _encoded(ports, body, ends_ms)
        if rest is not None:
            ports.queue.send(QueueName.EMBED, [rest])


def _encoded(ports: Ports, body: Mapping[str, Any], ends_ms: float) -> Message | None:
    """What to send when there was no time for all of it."""
    if body["kind"] == "late_tenant":
        return begin_tenant(TenantData(ports, Keys(body["tenant"])), body["round"], body["after"], ends_ms)
    data = UserData(ports, UserKeys(body["tenant"], body["user"]))
    if body["kind"] == "late_user":
        return encode_user(data, ends_ms)
    left = encode_items(data, body["ids"], body["incarnation"], ends_ms)
    if left is None:
        look_again(data, body["incarnation"])
    return tokens_message(data.keys, body["incarnation"], left) if left else None
