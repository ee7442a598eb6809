"""The worker behind the embed queue: one batch of messages, each of which succeeds or fails by itself (engine.md
§8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neve.ports import StoreUnavailable
from neve.usecases.indexing.embed_texts import Pause
from neve.usecases.indexing.index_events import EmbedAgain, index_events
from neve.usecases.indexing.index_memories import index_memories
from neve.wiring import Ports

ROWS_AT_ONCE = 50
"""Rows of one user that are embedded together (product.md §7)."""

Body = Mapping[str, Any]
Failures = dict[int, Exception]
"""Why messages are to be delivered again, by position."""


def embed_rows(ports: Ports, bodies: Sequence[Body], pause: Pause) -> Failures:
    """Messages may come twice and in any order. ``pause`` waits between attempts of the embedder."""
    failures: Failures = {}
    memories: dict[tuple[str, str], list[int]] = {}
    logs: dict[tuple[str, str, str, int], list[int]] = {}
    for position, body in enumerate(bodies):
        if body["kind"] == "memory":
            memories.setdefault((body["tenant"], body["user"]), []).append(position)
        else:
            log = (body["tenant"], body["user"], body["session"], body["incarnation"])
            logs.setdefault(log, []).append(position)
    for positions in memories.values():
        for start in range(0, len(positions), ROWS_AT_ONCE):
            part = positions[start : start + ROWS_AT_ONCE]
            failures |= _apart(part, lambda part: _memories(ports, bodies, part, pause))
    for positions in logs.values():
        failures |= _apart(positions, lambda part: _events(ports, bodies, part, pause))
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


def _memories(ports: Ports, bodies: Sequence[Body], positions: Sequence[int], pause: Pause) -> Failures:
    first = bodies[positions[0]]
    revs: dict[str, int] = {}
    for position in positions:
        body = bodies[position]
        revs[body["id"]] = max(body["rev"], revs.get(body["id"], 0))
    again = index_memories(ports, first["tenant"], first["user"], revs, pause)
    return {position: EmbedAgain() for position in positions if bodies[position]["id"] in again}


def _events(ports: Ports, bodies: Sequence[Body], positions: Sequence[int], pause: Pause) -> Failures:
    first = bodies[positions[0]]
    told = [(bodies[position]["seq_from"], bodies[position]["seq_to"]) for position in positions]
    seqs = (min(low for low, _ in told), max(high for _, high in told))
    try:
        index_events(ports, first["tenant"], first["user"], first["session"], first["incarnation"], seqs, pause)
    except EmbedAgain as error:
        return dict.fromkeys(positions, error)
    return {}
