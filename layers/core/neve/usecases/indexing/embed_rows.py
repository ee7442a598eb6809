"""The worker behind the embed queue: one batch of messages, each of which succeeds or fails by itself
(docs/rules/indexing.md#embedding)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from neve.ports import IndexingPorts, StoreUnavailable
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.indexing.index_events import EmbedAgain, index_events
from neve.usecases.indexing.index_memories import index_memories

BATCH_SIZE = 50
"""Rows of one user that are embedded together (docs/rules/indexing.md#embedding)."""

Body = Mapping[str, Any]
Failures = dict[int, Exception]
"""Why messages are to be delivered again, by position."""


def embed_rows(ports: IndexingPorts, bodies: Sequence[Body]) -> Failures:
    """Messages may come twice and in any order."""
    failures: Failures = {}
    memories: dict[UserKeys, list[int]] = {}
    logs: dict[tuple[SessionKeys, int], list[int]] = {}
    for position, body in enumerate(bodies):
        keys = UserKeys(body["tenant"], body["user"])
        if body["kind"] == "memory":
            memories.setdefault(keys, []).append(position)
        else:
            logs.setdefault((keys.of_session(body["session"]), body["incarnation"]), []).append(position)
    for keys, positions in memories.items():
        for start in range(0, len(positions), BATCH_SIZE):
            failures |= _apart(positions[start : start + BATCH_SIZE], partial(_memories, ports, keys, bodies))
    for (log, incarnation), positions in logs.items():
        failures |= _apart(positions, partial(_events, ports, log, incarnation, bodies))
    return failures


def _apart(positions: Sequence[int], work: Callable[[Sequence[int]], Failures]) -> Failures:
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
        failures |= _apart([position], work)
    return failures


def _memories(ports: IndexingPorts, keys: UserKeys, bodies: Sequence[Body], positions: Sequence[int]) -> Failures:
    revs: dict[str, int] = {}
    for position in positions:
        body = bodies[position]
        revs[body["id"]] = max(body["rev"], revs.get(body["id"], 0))
    again = index_memories(ports, keys, revs)
    return {position: EmbedAgain() for position in positions if bodies[position]["id"] in again}


def _events(
    ports: IndexingPorts, keys: SessionKeys, incarnation: int, bodies: Sequence[Body], positions: Sequence[int]
) -> Failures:
    told = [(bodies[position]["seq_from"], bodies[position]["seq_to"]) for position in positions]
    seqs = (min(low for low, _ in told), max(high for _, high in told))
    try:
        index_events(ports, keys, incarnation, seqs)
    except EmbedAgain as error:
        return dict.fromkeys(positions, error)
    return {}
