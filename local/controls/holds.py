"""Keeps a pass inside its model call until a test lets it go on."""

from __future__ import annotations

import threading
from collections import Counter


class Holds:
    """By worker name. An armed hold catches the next model call of that worker, and only that one."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._armed: Counter[str] = Counter()
        self._inside: Counter[str] = Counter()
        self._released: Counter[str] = Counter()

    def arm(self, worker: str) -> None:
        with self._state:
            self._armed[worker] += 1

    def pass_through(self, worker: str) -> None:
        """Called inside every model call; returns at once unless a hold is armed for the worker."""
        with self._state:
            if not self._armed[worker]:
                return
            self._armed[worker] -= 1
            self._inside[worker] += 1
            generation = self._released[worker]
            self._state.notify_all()
            self._state.wait_for(lambda: self._released[worker] > generation)
            self._inside[worker] -= 1
            self._state.notify_all()

    def inside(self, worker: str) -> int:
        """How many passes of the worker are held now."""
        return self._inside[worker]

    def wait_inside(self, worker: str, timeout_s: float) -> int:
        """Until one pass is held, or ``timeout_s`` are over; how many are."""
        with self._state:
            self._state.wait_for(lambda: self._inside[worker] > 0, timeout_s)
            return self._inside[worker]

    def release(self, worker: str) -> None:
        """Let every held pass of the worker go on; returns when they are out. An unused hold stays armed."""
        with self._state:
            self._released[worker] += 1
            self._state.notify_all()
            self._state.wait_for(lambda: self._inside[worker] == 0)

    def release_all(self) -> None:
        """Let everything go on, now and later."""
        with self._state:
            self._armed.clear()
            workers = list(self._inside)
        for worker in workers:
            self.release(worker)
