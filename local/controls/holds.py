"""Keeps a pass at one of its points, inside its model call or before it writes an object, until a test lets it go."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import Literal, get_args

Point = Literal["model", "object"]
"""``model``: inside a model call. ``object``: before an object is written that must not be there yet, so behind
everything that a pack is made of."""
POINTS: tuple[Point, ...] = get_args(Point)


class Holds:
    """By worker name. An armed hold catches the worker's next pass that comes to its point, and only that one."""

    def __init__(self) -> None:
        self._state = threading.Condition()
        self._armed: Counter[tuple[str, Point]] = Counter()
        self._inside: Counter[tuple[str, int]] = Counter()
        """By worker, and by how often it had been released when it was caught."""
        self._released: Counter[str] = Counter()

    def arm(self, worker: str, at: Point = "model") -> None:
        with self._state:
            self._armed[worker, at] += 1

    def pass_through(self, worker: str, at: Point = "model") -> None:
        """Called at every such point; returns at once unless a hold is armed for the worker there."""
        with self._state:
            if not self._armed[worker, at]:
                return
            self._armed[worker, at] -= 1
            generation = self._released[worker]
            self._inside[worker, generation] += 1
            self._state.notify_all()
            self._state.wait_for(lambda: self._released[worker] > generation)
            self._inside[worker, generation] -= 1
            self._state.notify_all()

    def inside(self, worker: str) -> int:
        """How many passes of the worker are held now."""
        return self._inside[worker, self._released[worker]]

    def wait_inside(self, worker: str, timeout_s: float) -> int:
        """Until one pass is held, or ``timeout_s`` are over; how many are."""
        with self._state:
            self._state.wait_for(lambda: self.inside(worker) > 0, timeout_s)
            return self.inside(worker)

    def release(self, worker: str) -> None:
        """Let every held pass of the worker go on; returns when they are out, though another hold may have caught them
        by then. An unused hold stays armed."""
        self._release([worker])

    def release_all(self) -> None:
        """Let everything go on at once, now and later."""
        with self._state:
            self._armed.clear()
            workers = {worker for worker, _ in self._inside}
        self._release(workers)

    def _release(self, workers: Iterable[str]) -> None:
        with self._state:
            held = [(worker, self._released[worker]) for worker in workers]
            self._released.update(worker for worker, _ in held)
            self._state.notify_all()
            self._state.wait_for(lambda: not any(self._inside[one] for one in held))
