"""The time one recall may take, on the scale of ``Clock.monotonic_ms``, and reads under way of which an answer can lack
one: what fails or is late is named in the answer, and nothing else of it is lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.runtime import Clock, Task

RESERVE_SHARE = 0.2
RESERVE_MS = 100.0
"""Time kept back from the legs for reading the rows behind their answer, which is worthless unverified: a fifth, at
most 100 ms."""


@dataclass(frozen=True, slots=True)
class TimeBudget:
    clock: Clock
    ms: float
    started_ms: float

    @property
    def ends_ms(self) -> float:
        return self.started_ms + self.ms

    @property
    def legs_end_ms(self) -> float:
        """Return when the legs end: what has not been found by then is not waited for."""
        return self.ends_ms - min(RESERVE_MS, RESERVE_SHARE * self.ms)

    @property
    def words_begin_ms(self) -> float:
        """Return when the keyword leg begins at the latest, half of the legs' time, though reads that decide over no
        hit are still under way."""
        return (self.started_ms + self.legs_end_ms) / 2

    @property
    def elapsed_ms(self) -> float:
        return self.clock.monotonic_ms() - self.started_ms


T = TypeVar("T")


@dataclass
class Collector:
    """Collects the results of reads under way. ``degraded``: the flags of what is missing."""

    degraded: list[str] = field(default_factory=list)

    def of(self, task: Task[T], deadline_ms: float, flag: str) -> T | None:
        """Return the result of the task, None where it fails or is late; then its flag is noted. ``flag``:
        ``<what>:error``, from which ``<what>:timeout`` is made."""
        try:
            return task.result(deadline_ms)
        except StoreUnavailable:
            self._say(flag)
        except DeadlineExceeded:
            self._say(flag.replace(":error", ":timeout"))
        return None

    def _say(self, flag: str) -> None:
        if flag not in self.degraded:
            self.degraded.append(flag)
