"""What a client knows of its own writes when the server is gone: each was answered, or it may have happened or not."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(slots=True)
class Append:
    """One E2 call as it was sent. ``seqs`` None: no answer came."""

    session: str
    events: list[dict[str, Any]]
    key: str | None
    seqs: list[int] | None = None

    @property
    def repeatable(self) -> bool:
        """Whether the client may send it again and expect it to be there once."""
        return self.key is not None or all("client_id" in event for event in self.events)

    @property
    def texts(self) -> list[str]:
        return [event["content"] for event in self.events]


@dataclass(slots=True)
class KnownMemory:
    """One memory. ``id`` None: the POST was not answered. ``texts``: those that it may have now."""

    body: dict[str, Any]
    key: str | None
    id: str | None = None
    texts: set[str] = field(default_factory=set)
    deleted: Literal["no", "perhaps", "yes"] = "no"


@dataclass(slots=True)
class Journal:
    """``packs``: text by session and version, as they were served. ``jobs``: ids of accepted work. ``sessions``: those
    whose opening was answered."""

    user: str
    sessions: set[str] = field(default_factory=set)
    appends: list[Append] = field(default_factory=list)
    memories: list[KnownMemory] = field(default_factory=list)
    packs: dict[tuple[str, int], str] = field(default_factory=dict)
    jobs: list[str] = field(default_factory=list)


class Acknowledged:
    """Counts the answered requests of all writers."""

    def __init__(self) -> None:
        self._count = 0
        self._moved = threading.Condition()

    def add(self) -> None:
        with self._moved:
            self._count += 1
            self._moved.notify_all()

    def wait_for(self, count: int, timeout_s: float) -> bool:
        with self._moved:
            return self._moved.wait_for(lambda: self._count >= count, timeout_s)
