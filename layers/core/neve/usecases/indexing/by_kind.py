"""One batch of messages of the index queue or the embed queue, taken together by user and by session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from neve.ports import StoreUnavailable
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.indexing.index_events import EmbedAgain
from neve.usecases.indexing.indexed_row import Span, joined

BATCH_SIZE = 50
"""Rows of one user that are indexed together (docs/rules/indexing.md#embedding)."""

Failures = dict[int, Exception]
"""Why messages are to be delivered again, by position."""


@dataclass(frozen=True, slots=True)
class Told:
    """One message. ``again``: it was delivered before, and whoever had it did not say that it was done with."""

    body: Mapping[str, Any]
    again: bool = False


@dataclass(frozen=True, slots=True)
class Work:
    """``memories``: of one user, the ids with the highest rev that was told of; returns the ids that are to be told
    again. ``events``: of one session, the spans that were told of, ascending and apart: what lies between two of them
    is another batch's. Both get the newest message, and whether one of theirs was delivered before. They may raise
    EmbedAgain, StoreUnavailable."""

    memories: Callable[[UserKeys, Mapping[str, int], Told], set[str]]
    events: Callable[[SessionKeys, Sequence[Span], Told], None]


def by_kind(told: Sequence[Told], work: Work) -> Failures:
    """Messages may come twice and in any order."""
    failures: Failures = {}
    memories: dict[UserKeys, list[int]] = {}
    logs: dict[tuple[SessionKeys, int], list[int]] = {}
    for position, one in enumerate(told):
        keys = UserKeys(one.body["tenant"], one.body["user"])
        if one.body["kind"] == "memory":
            memories.setdefault(keys, []).append(position)
        else:
            logs.setdefault((keys.of_session(one.body["session"]), one.body["incarnation"]), []).append(position)
    for keys, positions in memories.items():
        for start in range(0, len(positions), BATCH_SIZE):
            failures |= _apart(positions[start : start + BATCH_SIZE], partial(_memories, work, keys, told))
    for (log, _), positions in logs.items():
        failures |= _apart(positions, partial(_events, work, log, told))
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


def _memories(work: Work, keys: UserKeys, told: Sequence[Told], positions: Sequence[int]) -> Failures:
    revs: dict[str, int] = {}
    for body in (told[position].body for position in positions):
        revs[body["id"]] = max(body["rev"], revs.get(body["id"], 0))
    again = work.memories(keys, revs, _together(told, positions))
    return {position: EmbedAgain() for position in positions if told[position].body["id"] in again}


def _events(work: Work, keys: SessionKeys, told: Sequence[Told], positions: Sequence[int]) -> Failures:
    bodies = [told[position].body for position in positions]
    spans = joined((body["seq_from"], body["seq_to"]) for body in bodies)
    try:
        work.events(keys, spans, _together(told, positions))
    except EmbedAgain as error:
        return dict.fromkeys(positions, error)
    return {}


def _together(told: Sequence[Told], positions: Sequence[int]) -> Told:
    return Told(told[positions[-1]].body, any(told[position].again for position in positions))
