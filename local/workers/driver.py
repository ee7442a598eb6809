"""Runs what nobody calls over HTTP: the functions that the change stream, the queues and the schedules trigger."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from local.engine.sqlite_queue import Counts
from local.template import Schedule
from local.workers.failure_log import report
from local.workers.queue_worker import QueueWorker
from local.workers.requests_first import RequestsFirst, give_way
from local.workers.stream_worker import StreamWorker
from local.workers.worker_events import schedule_event
from neve.ports.runtime import Clock

IDLE_S = 30.0
WORKERS_NICE = 6
"""A request gets some four times the processor of a worker (Linux: 1.25 for each step); what makes vectors stands
behind both (``adapters/embedders/onnx_model.py``)."""
AFTER_FAILURE_S = 1.0
"""A worker whose engine failed pauses this long."""
FIRST_SCHEDULE_S = 5.0
"""A schedule's first run after the start: it finds what an earlier process left undone."""
DRAIN_LOOK_S, MAX_LOOK_S = 0.01, 0.16
HURRIED_LOOK_S = 0.4
"""A drain's worker is woken by what arrives; by time alone comes only what failed."""
CALM_LOOKS = 5
"""With a pass held, a drain cannot tell a message behind it from one that nobody has looked at yet: it looks again."""


class Worker(Protocol):
    """``name`` is the function's. ``consumers``: how many threads step it."""

    name: str
    consumers: int

    def step(self, *, hurry: bool) -> bool: ...

    def wait(self, timeout_s: float) -> None: ...

    def wait_for_more(self, timeout_s: float) -> None: ...

    def settled(self, held: int) -> bool: ...


@dataclass(frozen=True, slots=True)
class Drained:
    """``done``: nothing is left but what paused workers and held passes keep."""

    done: bool
    changes: int
    queues: Mapping[str, Counts]


@dataclass(frozen=True, slots=True)
class Sources:
    """What makes functions run without a request."""

    streams: Sequence[StreamWorker]
    queues: Sequence[QueueWorker]
    schedules: Sequence[Schedule]


class Driver:
    """Workers are named after their functions. ``held``: how many passes of one a test keeps inside a model call.
    ``expire``: removes the rows whose time to live is over; called behind each scheduled run. ``requests``: those
    that workers run behind; None for a test, which waits for the workers while other tests run beside it."""

    def __init__(
        self,
        sources: Sources,
        invoke: Callable[[str, Any], Any],
        clock: Clock,
        held: Callable[[str], int],
        expire: Callable[[datetime], object],
        requests: RequestsFirst | None = None,
    ) -> None:
        self._streams = sources.streams
        self._queues = sources.queues
        self._workers: list[Worker] = [*sources.streams, *sources.queues]
        self._schedules = sources.schedules
        self._invoke = invoke
        self._clock = clock
        self._held = held
        self._expire = expire
        self._requests = requests
        self._state = threading.Condition()
        self._stopping = False
        self._by_themselves = True
        self._paused: set[str] = set()
        self._busy: Counter[str] = Counter()
        self._steps = 0

    @property
    def workers(self) -> frozenset[str]:
        """Every name that ``pause`` and ``resume`` take."""
        names = [worker.name for worker in self._workers]
        return frozenset(names + [schedule.function for schedule in self._schedules])

    def start(self, *, schedules: bool) -> None:
        """``schedules`` False: they run only when ``run`` is called."""
        for worker in self._workers:
            for _ in range(worker.consumers):
                self._spawn(worker.name, partial(self._consume, worker))
        for schedule in self._schedules if schedules else ():
            self._spawn(schedule.function, partial(self._tick, schedule))

    def stop(self, patience_s: float = 10.0) -> bool:
        """Start no more work and wait for what is in flight; False when ``patience_s`` were not enough. Threads that
        wait for work end when the engines are closed."""
        with self._state:
            self._stopping = True
            self._state.notify_all()
            return self._state.wait_for(lambda: not +self._busy, patience_s)

    # --- what a test may ask for -----------------------------------------------------------------

    def drain(self, timeout_s: float = 60.0) -> Drained:
        """Work without pauses until stream and queues are empty: delays are ignored, failed messages come back soon,
        and what keeps failing reaches its DLQ. A message of another worker that finds its session busy with a held
        pass is put off, and keeps the drain going, until that pass goes on."""
        over = threading.Event()
        hurried: Counter[str] = Counter()
        end = time.monotonic() + timeout_s
        calm, look_s = 0, DRAIN_LOOK_S
        while time.monotonic() < end and not self._stopping:
            for worker in self._workers:
                if hurried[worker.name] <= self._held(worker.name):  # the threads so far may be in held passes
                    hurried[worker.name] += 1
                    self._spawn(f"drain-{worker.name}", partial(self._hurry, worker, over))
            if self._at_rest():
                for queue in self._queues:
                    queue.bring_back()
            calm = calm + 1 if self._settled() else 0
            if calm >= (CALM_LOOKS if any(map(self._held, self.workers)) else 1):
                break
            time.sleep(look_s)
            look_s = min(2 * look_s, MAX_LOOK_S)
        over.set()
        return Drained(calm > 0, *self.backlog())

    def backlog(self) -> tuple[int, dict[str, Counts]]:
        """Undelivered changes, and the messages of every queue."""
        changes = sum(worker.backlog() for worker in self._streams)
        return changes, {worker.spec.name: worker.counts() for worker in self._queues}

    def pause(self, name: str, patience_s: float = 10.0) -> bool:
        """Let a worker begin nothing more; returns when it has finished what it was doing, False if that takes too
        long. Raises KeyError for an unknown worker."""
        with self._state:
            self._paused.add(self._known(name))
            return self._state.wait_for(lambda: self._busy[name] <= self._held(name), patience_s)

    def resume(self, name: str) -> None:
        """Raises KeyError for an unknown worker."""
        with self._state:
            self._paused.discard(self._known(name))
            self._state.notify_all()

    def work_by_themselves(self, *, on: bool) -> None:
        """Let workers take what comes, or only what a drain gives them: then nothing is done beside a test's requests
        that the test has not asked for. What is in flight goes on."""
        with self._state:
            self._by_themselves = on
            self._state.notify_all()

    def run(self, name: str) -> None:
        """One run of a scheduled function, now. Raises KeyError when there is none of that name, and what it raises."""
        for schedule in self._schedules:
            if schedule.function == name:
                self._run(schedule)
                return
        raise KeyError(name)

    # --- threads ---------------------------------------------------------------------------------

    def _spawn(self, name: str, work: Callable[[], None]) -> None:
        threading.Thread(target=self._run_as_worker, args=(work,), name=name, daemon=True).start()

    def _run_as_worker(self, work: Callable[[], None]) -> None:
        if self._requests is not None:
            self._requests.run_as_worker(WORKERS_NICE)
        work()

    def _consume(self, worker: Worker) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._stopping or self._may_begin(worker.name))
            if self._stopping:
                return
            if not self._step(worker, hurry=False):
                try:
                    worker.wait(IDLE_S)
                except Exception as error:
                    self._engine_failed(worker.name, error)

    def _hurry(self, worker: Worker, over: threading.Event) -> None:
        """What arrives wakes it. A look that finds nothing is not repeated at once: while it lasts the worker seems to
        be at work, and the drain looks once more."""
        while not over.is_set() and not self._stopping:
            if not self._step(worker, hurry=True):
                try:
                    worker.wait_for_more(HURRIED_LOOK_S)
                except Exception as error:
                    self._engine_failed(worker.name, error)
                over.wait(DRAIN_LOOK_S)  # a paused worker leaves what arrives where it is

    def _tick(self, schedule: Schedule) -> None:
        due = time.monotonic() + FIRST_SCHEDULE_S
        while True:
            with self._state:
                if self._state.wait_for(lambda: self._stopping, max(0.0, due - time.monotonic())):
                    return
            due = time.monotonic() + schedule.every.total_seconds()
            self._guarded(schedule.function, lambda: self._run(schedule))

    def _run(self, schedule: Schedule) -> bool:
        now = self._clock.now()
        self._invoke(schedule.function, schedule_event(schedule, now))
        self._expire(now)
        return True

    def _step(self, worker: Worker, *, hurry: bool) -> bool:
        """One batch, unless the worker is paused. What a request has just written is looked at behind its answer, as a
        rule."""
        give_way()
        return self._guarded(worker.name, lambda: worker.step(hurry=hurry))

    def _guarded(self, name: str, work: Callable[[], bool]) -> bool:
        """Whether there was work and it could be done. An engine that fails costs a pause, not the thread."""
        with self._state:
            if self._stopping or name in self._paused:
                return False
            self._busy[name] += 1
        worked = False
        try:
            worked = work()
        except Exception as error:
            self._engine_failed(name, error)
        finally:
            with self._state:
                self._steps += worked
                self._busy[name] -= 1
                self._state.notify_all()
        return worked

    def _engine_failed(self, name: str, error: Exception) -> None:
        """Once stopping, closed engines are as they should be."""
        with self._state:
            if not self._stopping:
                report(f"worker {name}", error)
                self._state.wait_for(lambda: self._stopping, AFTER_FAILURE_S)

    def _may_begin(self, name: str) -> bool:
        return self._by_themselves and name not in self._paused

    def _at_rest(self) -> bool:
        """No pass is at work but those that a test holds."""
        return all(self._busy[worker.name] <= self._held(worker.name) for worker in self._workers)

    def _settled(self) -> bool:
        if not self._at_rest():
            return False
        steps = self._steps
        for worker in self._workers:
            held = self._held(worker.name)
            if worker.name in self._paused:
                continue
            if self._busy[worker.name] > held or not worker.settled(held):
                return False
        return steps == self._steps

    def _known(self, name: str) -> str:
        if name not in self.workers:
            raise KeyError(name)
        return name
