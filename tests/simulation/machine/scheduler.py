"""Actors on one thread, one greenlet each: whoever waits hands over to the actor whose time comes next, so that a run
is a function of its seed."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from heapq import heappop, heappush, heapreplace
from itertools import count
from typing import Any

from greenlet import getcurrent, greenlet  # type: ignore[import-untyped]


class Crashed(BaseException):
    """The process died at this point, with its memory. No ``except Exception`` of the product stops it."""


Actor = Any
"""A greenlet."""


class Scheduler:
    """``now_s``: virtual seconds since the start. Nothing really waits."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.steps = 0
        self._heap: list[tuple[float, int, Any]] = []
        self._order = count()
        self._actors: list[Actor] = []
        self._main = getcurrent()
        self.stopped = False

    # --- for actors -----------------------------------------------------------------------------

    def pause(self, seconds: float) -> None:
        """The actor goes on so much later; others come first."""
        if self.stopped:
            raise Crashed
        at_s, heap = self.now_s + seconds, self._heap
        if not heap or heap[0][0] > at_s:  # nobody comes before it
            self.now_s = at_s
            self.steps += 1
            return
        me = getcurrent()
        self.now_s, _, target = heapreplace(heap, (at_s, next(self._order), me))
        self.steps += 1
        if type(target) is not greenlet:
            target()
            target = self._next_one()
        elif target.dead:
            target = self._next_one()
        if target is not me:
            target.switch()
        if self.stopped:
            raise Crashed

    def park(self) -> None:
        """Until ``wake``."""
        if self.stopped:
            raise Crashed
        self._hand_over(getcurrent())

    def wake(self, actor: Actor) -> None:
        heappush(self._heap, (self.now_s, next(self._order), actor))

    def later(self, seconds: float, work: Callable[[], object]) -> None:
        """``work`` must not wait."""
        heappush(self._heap, (self.now_s + seconds, next(self._order), work))

    def start(self, run: Callable[[], object], seconds: float = 0.0) -> Actor:
        """A new actor, with the context variables of whoever starts it."""
        actor = greenlet(lambda: self._live(run), parent=self._main)
        actor.gr_context = copy_context()
        self._actors.append(actor)
        heappush(self._heap, (self.now_s + seconds, next(self._order), actor))
        return actor

    # --- for whoever runs it --------------------------------------------------------------------

    def run(self) -> None:
        """Until ``stop``, or until nobody has anything left to do. Raises what an actor raises."""
        while self._heap and not self.stopped:
            self._next_one().switch()

    def stop(self) -> None:
        """No actor goes on. Called by one of them, it does not return."""
        self.stopped = True
        if getcurrent() is not self._main:
            self._main.switch()

    def end(self) -> None:
        """Unwind every actor. Their ports are dead: what they still do has no effect."""
        self.stopped = True
        for actor in self._actors:
            if actor and not actor.dead:
                actor.throw(Crashed)
        self._actors.clear()
        self._heap.clear()

    # --- parts ----------------------------------------------------------------------------------

    def _live(self, run: Callable[[], object]) -> None:
        try:
            run()
        except Crashed:
            return

    def _hand_over(self, me: Actor) -> None:
        actor = self._next_one()
        if actor is not me:
            actor.switch()
        if self.stopped:
            raise Crashed

    def _next_one(self) -> Actor:
        """Whose time comes next; the main greenlet when there is nobody."""
        while self._heap:
            self.now_s, _, target = heappop(self._heap)
            self.steps += 1
            if type(target) is not greenlet:
                target()
            elif not target.dead:
                return target
        return self._main
