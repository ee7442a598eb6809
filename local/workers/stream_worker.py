"""Feeds the table's changes to a stream-triggered function, in order, with the retries of an event source mapping."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from local.engine.sqlite_table import Change
from local.engines import ChangeFeed
from local.template import StreamSource
from local.workers.event_filter import attributes_of, lets_through
from local.workers.failure_log import report, report_given_up
from local.workers.worker_events import failed_items, outline, sequence_number, stream_event

FIRST_RETRY_S, MAX_RETRY_S = 0.2, 10.0
HURRIED_RETRY_S = 0.05

GiveUp = Callable[[Sequence[Change], int], None]


@dataclass(slots=True)
class _Segment:
    """Changes that are delivered together. ``attempts`` counts deliveries that got nowhere, splits not included."""

    changes: Sequence[Change]
    attempts: int = 0


class StreamWorker:
    """``step`` delivers one batch. What comes after a failing record waits for it, as in a shard: the batch is split
    until the record stands alone, tried again ``max_retries`` times, and then given up."""

    def __init__(
        self,
        source: StreamSource,
        changes: ChangeFeed,
        invoke: Callable[[str, Any], Any],
        give_up: GiveUp,
        delivered: Callable[[StreamSource, Sequence[Change]], None] | None = None,
    ) -> None:
        """``delivered`` is told of every batch before it is handled."""
        self.name = source.function
        self.consumers = 1
        self._source = source
        self._changes = changes
        self._invoke = invoke
        self._give_up = give_up
        self._delivered = delivered
        self._lock = threading.Lock()
        self._segments: deque[_Segment] = deque()
        self._handled_seq = 0
        self._discarded_seq = 0
        self._failed_at = 0.0

    def step(self, *, hurry: bool) -> bool:
        """Whether there was something to deliver. ``hurry`` shortens the pause before a retry."""
        with self._lock:
            if not self._segments:
                changes = self._changes.read_changes(self._handled_seq, self._source.batch_size)
                if not changes:
                    self._discard()
                    return False
                self._segments.append(_Segment(changes))
            if self._retry_in(hurry) > 0:
                return False
            self._deliver_first()
            return True

    def wait(self, timeout_s: float) -> None:
        """Until there may be something to do again, or ``timeout_s`` are over."""
        if self._segments:
            time.sleep(min(timeout_s, max(0.0, self._retry_in(hurry=False))))
        else:
            self._changes.wait_for_changes(timeout_s)

    def wait_for_more(self, timeout_s: float) -> None:
        """As ``wait``; while a part of the stream is tried again, a moment."""
        if self._segments:
            time.sleep(min(timeout_s, max(0.0, self._retry_in(hurry=True))))
        else:
            self._changes.wait_for_changes(timeout_s)

    def settled(self, held: int) -> bool:  # noqa: ARG002  (a stream's function calls no model)
        """Everything that was committed has been delivered."""
        self._changes.catch_up()
        return not self._segments and not self._changes.read_changes(self._handled_seq, 1)

    def backlog(self) -> int:
        """How many changes wait, counted up to 10,000."""
        return len(self._changes.read_changes(self._handled_seq, 10_000))

    def _retry_in(self, hurry: bool) -> float:
        attempts = self._segments[0].attempts if self._segments else 0
        if attempts == 0:
            return 0.0
        pause = HURRIED_RETRY_S * attempts if hurry else min(FIRST_RETRY_S * 2 ** (attempts - 1), MAX_RETRY_S)
        return self._failed_at + pause - time.monotonic()

    def _deliver_first(self) -> None:
        """Whatever fails here, what was not handled stays in front: what comes after it may only be discarded behind
        it, and everything up to there is."""
        segment = self._segments[0]
        handled = self._deliver(segment.changes)
        if handled:
            self._advance(handled)
        else:
            self._again(segment)

    def _deliver(self, changes: Sequence[Change]) -> int:
        if self._delivered is not None:
            self._delivered(self._source, changes)
        return deliver_changes(self._invoke, self._source, changes)

    def _again(self, first: _Segment) -> None:
        """The first change of the first segment failed."""
        changes, attempts = first.changes, first.attempts
        if self._source.bisect and len(changes) > 1:
            middle = len(changes) // 2
            self._segments[0] = _Segment(changes[middle:], attempts)
            self._segments.appendleft(_Segment(changes[:middle], attempts))
        elif 0 <= self._source.max_retries <= attempts:
            self._give_up(changes, attempts + 1)
            report_given_up(self._source.function, len(changes), attempts + 1)
            self._advance(len(changes))
        else:
            first.attempts += 1
            self._failed_at = time.monotonic()

    def _advance(self, count: int) -> None:
        """So many changes of the first segment are done with."""
        changes = self._segments.popleft().changes
        if count < len(changes):
            self._segments.appendleft(_Segment(changes[count:]))
        self._handled_seq = changes[count - 1].seq
        self._discard()

    def _discard(self) -> None:
        """Of a store that could not do so before, too: until then it goes on saying that there are changes."""
        if self._discarded_seq != self._handled_seq:
            self._changes.discard_changes(self._handled_seq)
            self._discarded_seq = self._handled_seq


def deliver_changes(invoke: Callable[[str, Any], Any], source: StreamSource, changes: Sequence[Change]) -> int:
    """Call the function; how many of the first records are done with: those before the earliest one that failed. What
    the source's filter keeps back is done with unseen."""
    numbers = [sequence_number(change) for change in changes]
    looked_at = attributes_of(source.filters)
    wanted = [change for change in changes if lets_through(source.filters, outline(change, looked_at))]
    if not wanted:
        return len(changes)
    try:
        answer = invoke(source.function, stream_event(wanted))
        failed = failed_items(answer, numbers) if source.partial_failures else set()
    except Exception as error:
        report(f"{source.function}: a batch of {len(changes)} changes failed", error)
        return 0
    return next((at for at, number in enumerate(numbers) if number in failed), len(changes))
