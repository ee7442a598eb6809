"""The share of a worker's time that one kind of work may take, so that a backlog of one kind keeps no other waiting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


class TimeShare:
    """A share of a worker's time. ``seconds_left``: of the worker. The share is over when no more than ``ends_with`` of
    them are left. ``left``: whether there was more to do then."""

    def __init__(self, seconds_left: Callable[[], float], ends_with: float) -> None:
        self._seconds_left = seconds_left
        self._ends_with = ends_with
        self.left = False

    def of(self, work: Iterable[T]) -> Iterator[T]:
        """Give as much of the work as the share has time for. The first piece always: a share that is over before it
        begins would never get on."""
        for n, piece in enumerate(work):
            if n and self._seconds_left() <= self._ends_with:
                self.left = True
                return
            yield piece

    def half(self) -> TimeShare:
        """Give the first half of what is left of it, for finding what the other half is for."""
        left = self._seconds_left()
        ends_with = self._ends_with if math.isinf(left) else (self._ends_with + left) / 2
        return TimeShare(self._seconds_left, max(self._ends_with, ends_with))


def shares(seconds_left: Callable[[], float], kinds: int, spare_s: float) -> Iterator[TimeShare]:
    """Give a share to each kind of work when its turn comes: an equal part of the time that is left then, but for
    ``spare_s`` at the end. What one does not need, those behind it have."""
    for waiting in range(kinds, 0, -1):
        left = seconds_left()
        ends_with = 0.0 if math.isinf(left) else spare_s + (left - spare_s) * (waiting - 1) / waiting
        yield TimeShare(seconds_left, ends_with)
