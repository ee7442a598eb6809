"""The time one recall may take, on the scale of ``Clock.monotonic_ms``."""

from __future__ import annotations

from dataclasses import dataclass

from neve.ports.runtime import Clock

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
