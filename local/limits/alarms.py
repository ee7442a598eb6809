"""The alarms that stop a deployment and take it back, evaluated as CloudWatch evaluates them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from local.limits.points import Points, Series

PERIOD_S = 60
"""Of every alarm here."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Goes off when the sum or the average of the series together is above ``threshold`` in ``datapoints`` of
    ``periods`` minutes that follow each other. Missing minutes count as 0, so do averages of sums below ``least``."""

    name: str
    series: tuple[Series, ...]
    statistic: Literal["Sum", "Average"]
    threshold: float
    datapoints: int
    periods: int
    least: float = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """``breached``: the minutes above the threshold, since 1970."""

    went_off: bool
    breached: tuple[int, ...]


def evaluate(alarm: Alarm, points: Points) -> Verdict:
    """Over everything that is known: whether the alarm ever went off."""
    sums: dict[int, float] = defaultdict(float)
    counts: dict[int, int] = defaultdict(int)
    for series in alarm.series:
        for minute, point in points.minutes(series).items():
            sums[minute] += point.total
            counts[minute] += point.number
    values = {m: sums[m] if alarm.statistic == "Sum" else sums[m] / counts[m] for m in sums if sums[m] >= alarm.least}
    breached = tuple(sorted(minute for minute, value in values.items() if value > alarm.threshold))
    return Verdict(_went_off(breached, alarm), breached)


def _went_off(breached: Sequence[int], alarm: Alarm) -> bool:
    """Whether enough of these minutes lie within one window."""
    last = alarm.datapoints - 1
    return any(breached[at + last] - breached[at] < alarm.periods for at in range(len(breached) - last))


@dataclass(frozen=True, slots=True)
class Alarms:
    """Of one service."""

    alarms: Sequence[Alarm]
    points: Points

    def verdicts(self) -> dict[str, Verdict]:
        """By the alarm's name."""
        return {alarm.name: evaluate(alarm, self.points) for alarm in self.alarms}
