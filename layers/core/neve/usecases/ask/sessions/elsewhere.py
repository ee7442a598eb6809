"""E1 looks at the user's other conversations: how far memory is behind all of them, and a pass is asked for over what
is not observed yet (docs/rules/sessions.md#open)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.queue import QueueName
from neve.ports.runtime import Task
from neve.scope import UserScope
from neve.store.keys import SessionKeys
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.lag.memory_lag import MemoryLag, Progress, lag_of_memories, progress_of, some_behind
from neve.usecases.core.lag.tails import Tail, newest_tails, passed_over

Behind = tuple[Sequence[tuple[SessionKeys, Progress]], bool]
"""Sessions that may be behind, and whether these are all."""
LEAST_MS = 1_000
"""How long the lag is waited for at least, whatever budget the pack has (*chosen*)."""


@dataclass(frozen=True, slots=True)
class ReadsElsewhere:
    """Reads under way beside the rows of the session and its pack: two queries, and one batch where a session is
    behind."""

    scope: UserScope
    began_ms: float
    behind: Task[Behind]
    memories: Task[MemoryLag]

    def ask_for_passes(self, opened: str, incarnation: int) -> Task[None]:
        """Ask for passes over what waits in other sessions, and over the tails that a first pack tells, through the
        queue without a delay. The outbox and the sweep ask for the same, later: a store or a queue that is down, or
        slow, costs nothing but time."""

        def ask() -> None:
            with contextlib.suppress(StoreUnavailable):
                others = [one for one in self.behind.result()[0] if one[0].session != opened]
                tails = newest_tails(Tail(keys, progress.head, progress.marker) for keys, progress in others)
                wanted = {tail.keys: tail.head.last_seq for tail in tails}
                wanted |= {keys: progress.head.last_seq for keys, progress in others if progress.unobserved}
                messages = [observation_message(keys, incarnation, last) for keys, last in wanted.items()]
                if messages:
                    self.scope.ports.queue.send(QueueName.COMPACT, messages)

        return self.scope.ports.tasks.start(ask)

    def lag(self, opened: str, own: MemoryLag, asked: Task[None], deadline_ms: float) -> MemoryLag:
        """Give the lag of the user; of the session that was ``opened`` alone, as the least, where the stores do not say
        in time. ``asked``: is waited for as long."""
        until, now = max(deadline_ms, self.began_ms + LEAST_MS), self.scope.ports.clock.now()
        try:
            asked.result(until)
            behind, all_of_them = self.behind.result(until)
            memories = self.memories.result(until)
        except (DeadlineExceeded, StoreUnavailable):
            return replace(own, at_least=True)
        lag = sum((progress.lag(now) for keys, progress in behind if keys.session != opened), own + memories)
        return replace(lag, at_least=lag.at_least or not all_of_them)


def look_elsewhere(scope: UserScope) -> ReadsElsewhere:
    table, tasks, now = scope.ports.table, scope.ports.tasks, scope.ports.clock.now()

    def behind() -> Behind:
        sessions, all_of_them = some_behind(table, scope.keys)
        return list(progress_of(table, sessions, passed_over)), all_of_them

    memories = tasks.start_read(lambda: lag_of_memories(table, scope.keys, now))
    return ReadsElsewhere(scope, scope.ports.clock.monotonic_ms(), tasks.start_read(behind), memories)
