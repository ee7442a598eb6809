"""Keeps what goes wrong beneath a process again and again, or for good: for health, and once in the log.

A trouble stands until it is cleared, or was not seen for ``ACTIVE_FOR``; a damaged page stands for good. Each is
warned of when it begins, and at most once in ``WARNED_EVERY`` while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Literal

Kind = Literal["failing", "full", "damaged", "language", "loading"]
ACTIVE_FOR = timedelta(minutes=10)
WARNED_EVERY = timedelta(minutes=5)
REPEATEDLY = 3
"""Failures in a row: one is an answer's own affair, which says so itself."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A trouble that stands. ``what``: a store (``table``, ``queue``, ``search``, ``objects``), ``search_large`` (of a
    user for whom there should be a search domain), a leg (``lexical``, ``vector``), ``rerank``, the ``embedder``, the
    ``observer``, the ``workers`` or the dead letters of a queue (``index-dlq``). ``reason``: in words of an adapter,
    never a caller's. ``count``: of ``language``, how many messages were in one that the observer does not know."""

    what: str
    kind: Kind
    reason: str
    since: datetime
    seen: datetime
    count: int = 0


class Troubles:
    """Safe for threads. ``warn`` is told of a trouble; ``now`` is the time."""

    def __init__(self, now: Callable[[], datetime], warn: Callable[[Trouble], object]) -> None:
        self._now = now
        self._warn = warn
        self._lock = Lock()
        self._active: dict[tuple[str, Kind], Trouble] = {}
        self._warned: dict[tuple[str, Kind], datetime] = {}
        self._in_a_row: dict[str, int] = {}

    def note(self, what: str, kind: Kind, reason: str, count: int = 0) -> bool:
        """Note a trouble, and say whether it was time to warn of it. ``count`` is added to what stands."""
        now, key = self._now(), (what, kind)
        with self._lock:
            known = self._active.get(key)
            trouble = replace(known or Trouble(what, kind, reason, now, now), seen=now)
            trouble = replace(trouble, count=trouble.count + count)
            self._active[key] = trouble
            warned = self._warned.get(key)
            is_due = kind != "loading" and (warned is None or abs(now - warned) >= WARNED_EVERY)
            if is_due:
                self._warned[key] = now
        if is_due:
            self._warn(trouble)
        return is_due

    def failed(self, what: str, reason: str) -> bool:
        """Note a failure, which is a trouble from the third in a row on, and say whether it was time to warn of it."""
        with self._lock:
            self._in_a_row[what] = self._in_a_row.get(what, 0) + 1
            repeatedly = self._in_a_row[what] >= REPEATEDLY
        return repeatedly and self.note(what, "failing", reason)

    def worked(self, what: str) -> bool:
        """Note that it works again, and there is room; say whether that is news."""
        if not self._in_a_row and not self._active:
            return False
        with self._lock:
            self._in_a_row.pop(what, None)
            ended = [self._active.pop((what, kind), None) for kind in ("failing", "full")]
        return any(ended)

    def over(self, what: str, kind: Kind) -> None:
        with self._lock:
            self._active.pop((what, kind), None)

    def active(self) -> tuple[Trouble, ...]:
        """List the troubles that are active, oldest first."""
        now = self._now()
        with self._lock:
            found = [t for t in self._active.values() if t.kind in ("damaged", "loading") or now - t.seen < ACTIVE_FOR]
        return tuple(sorted(found, key=lambda trouble: trouble.since))
