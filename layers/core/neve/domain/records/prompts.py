"""The record of a compiled prompt: ids and hashes, for seven days. The words are where they came from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neve.domain.records.sessions import Event, EventType, Spans

PREFIX_PARTS = ("tools", "static", "system", "instructions")
"""The parts of a prompt that stand before the pack."""
_SHA_LENGTH = 16
"""Hex digits: lines of one prompt are told apart by them."""


def line_sha(line: str) -> str:
    return hashlib.sha256(line.encode()).hexdigest()[:_SHA_LENGTH]


@dataclass(frozen=True, slots=True)
class ShownHit:
    """The row, its rev, the passage, the sha of the line that showed it, on which other days the same was said, and the
    id of the event that it was shown to reply to."""

    id: str
    rev: int
    n: int
    sha: str
    said_again: tuple[str, ...] = ()
    reply_to: str | None = None


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The lines that the first prompt of a turn showed in front of its message, which all prompts of the turn do.
    ``at``: its clock. ``request``: seq of the message, None where the log had not got it; ``behind``: the last seq
    then. ``updates``: id and sha of each line that was told."""

    at: str
    behind: int
    request: int | None = None
    hits: tuple[ShownHit, ...] = ()
    updates: tuple[tuple[str, str], ...] = ()
    recall_id: str | None = None

    def is_of(self, front: int, events: Iterable[Event], retracted: Spans) -> bool:
        """Say whether the turn that goes on from the event ``front`` began with it. A message that the log had not got
        is the first one behind it, of which nothing was taken back since."""
        if self.request is not None:
            return self.request == front
        between = range(self.behind + 1, front)
        taken_back = any(first < between.stop and last >= between.start for first, last in retracted)
        said = any(one.seq in between and one.event_type is EventType.USER_MESSAGE for one in events)
        return self.behind < front and not said and not taken_back


@dataclass(frozen=True, slots=True)
class PromptRecord:
    """The record of a compiled prompt. ``pack_version`` 0: of a prompt without a pack. ``prefix``: sha256 of what
    stands before the pack, by part. ``reported``: what was answered when its usage was reported."""

    id: str
    at: str
    session_id: str
    pack_version: int
    start: TurnStart
    prefix: Mapping[str, str] = field(default_factory=dict)
    reported: Mapping[str, Any] | None = None
    version: int = 0
