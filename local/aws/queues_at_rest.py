"""What a process that has its queues for itself knows of them without asking: it counts what it sends, receives,
deletes and gives back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from local.broker import Received
from local.template import QueueSpec

QUEUE_STATE_TTL_S = 30.0
"""So long what the server said is trusted."""
DEAD_LETTER_GRACE_S = 5.0
"""So long after its queue was empty a dead letter may still be on its way."""

Moment = tuple[tuple[str, int], ...]
"""What was done to some queues so far."""


@dataclass(slots=True)
class _Queue:
    """``done``: the calls. ``waiting``: how many messages were sent and not received, or given back. ``taken``: when
    the visibility timeout of each receipt is over. ``agreed_at``: when the server said the same; None when it has to be
    asked. ``doomed``: how many deliveries were the last that a message gets, and one for those of an earlier process;
    ``judged``: of how many it is known what became of them; ``emptied``: how many there were when the queue was found
    empty, and when that was."""

    done: int = 0
    waiting: int = 0
    taken: dict[str, float] = field(default_factory=dict)
    agreed_at: float | None = None
    doomed: int = 1
    judged: int = 0
    emptied: tuple[int, float] = (0, 0.0)


class _Dead(NamedTuple):
    letters: int
    moment: Moment
    at: float


class QueuesAtRest:
    """By name; ``counts`` are visible, in flight, delayed. Safe for threads. ``alone`` False: others send too, so
    nothing is ever known.

    It may take a message for waiting that is not: a FIFO queue drops what is sent twice, and what was delivered too
    often becomes a dead letter. Then the server is asked, as it is for all that waits. Queues of dead letters, which
    the server itself fills, are asked unless no message can have become one."""

    def __init__(self, specs: Mapping[str, QueueSpec], *, alone: bool) -> None:
        self._alone = alone
        self._specs = specs
        self._lock = threading.Lock()
        self._queues = {name: _Queue() for name in specs}
        self._filled_by_server = {spec.dead_letters for spec in specs.values()}
        self._dead: dict[str, _Dead] = {}

    # --- what is done -----------------------------------------------------------------------------

    def sending(self, queue: str, messages: int) -> None:
        """Before it is done: they may be received before the answer is here."""
        with self._touched(queue) as it:
            it.waiting += messages

    @contextmanager
    def in_doubt(self, queue: str) -> Iterator[None]:
        """A call that fails may have been carried out."""
        try:
            yield
        except BaseException:
            with self._touched(queue) as it:
                it.agreed_at = None
            raise

    def received(self, queue: str, messages: Sequence[Received]) -> None:
        last = self._specs[queue].max_receives
        with self._touched(queue) as it:
            it.waiting -= len(messages)
            if it.waiting < 0:
                it.agreed_at = None
            back_at = time.monotonic() + self._specs[queue].visibility_s
            for message in messages:
                it.taken[message.receipt] = back_at
                it.doomed += last is not None and int(message.attributes["ApproximateReceiveCount"]) >= last

    def deleted(self, queue: str, receipt: str) -> None:
        with self._touched(queue) as it:
            if it.taken.pop(receipt, None) is None:
                it.agreed_at = None

    def released(self, queue: str, receipt: str) -> None:
        """It waits again, also while it is hidden."""
        with self._touched(queue) as it:
            it.waiting += 1
            if it.taken.pop(receipt, None) is None:
                it.agreed_at = None

    # --- what the server says ---------------------------------------------------------------------

    def moment(self, queue: str, feeding: str | None = None) -> Moment:
        """Before it is asked. ``feeding``: the queue whose dead letters these are."""
        with self._lock:
            return self._moment(queue, feeding)

    def keep(self, queue: str, counts: Sequence[int], moment: Moment) -> None:
        """Not heeded when something was done to the queue meanwhile."""
        with self._lock:
            if moment != self._moment(queue):
                return
            it, (visible, in_flight, delayed) = self._queues[queue], counts
            if in_flight == 0:
                it.taken.clear()
            it.waiting = visible + delayed
            it.agreed_at = time.monotonic() if in_flight == len(it.taken) else None

    def keep_dead(self, queue: str, count: int, moment: Moment) -> None:
        """Not heeded while a letter may be on its way."""
        with self._lock:
            if all(self._judged(feeding) for feeding, _ in moment[1:]):
                self._dead[queue] = _Dead(count, moment, time.monotonic())

    # --- what is known ----------------------------------------------------------------------------

    def counts(self, queue: str) -> Sequence[int] | None:
        """None: the server has to be asked."""
        with self._lock:
            it = self._known(queue)
            return None if it is None or it.waiting else (0, len(it.taken), 0)

    def dead(self, queue: str, feeding: str) -> int | None:
        """None: the server has to be asked."""
        with self._lock:
            dead = self._dead.get(queue)
            if not self._judged(feeding) or dead is None or time.monotonic() - dead.at > QUEUE_STATE_TTL_S:
                return None
            return dead.letters if dead.moment == self._moment(queue, feeding) else None

    def nothing_waits(self, queue: str) -> bool:
        """There is nothing to receive."""
        return self.counts(queue) is not None

    def empty(self, queue: str) -> bool:
        """Nothing is in it, in flight neither."""
        counts = self.counts(queue)
        return counts is not None and not any(counts)

    def _known(self, queue: str) -> _Queue | None:
        """None also while a message may have come back because its visibility timeout is over."""
        it, now = self._queues[queue], time.monotonic()
        if not self._alone or queue in self._filled_by_server:
            return None
        if (
            it.agreed_at is None
            or now - it.agreed_at > QUEUE_STATE_TTL_S
            or any(back_at <= now for back_at in it.taken.values())
        ):
            return None
        return it

    def _judged(self, queue: str) -> bool:
        """What was delivered for the last time has been handled, or is a dead letter by now."""
        it = self._known(queue)
        if it is None:
            return False
        doomed, at = it.emptied
        if doomed == it.doomed and time.monotonic() > at + DEAD_LETTER_GRACE_S:
            it.judged = doomed
        elif doomed != it.doomed and not it.waiting and not it.taken:
            it.emptied = (it.doomed, time.monotonic())
        return it.judged == it.doomed

    def _moment(self, queue: str, feeding: str | None = None) -> Moment:
        own = ((queue, self._queues[queue].done),)
        return own if feeding is None else (*own, (feeding, self._queues[feeding].doomed))

    @contextmanager
    def _touched(self, queue: str) -> Iterator[_Queue]:
        with self._lock:
            it = self._queues[queue]
            it.done += 1
            yield it
