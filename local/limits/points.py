"""The points of metrics that Lambda and API Gateway would write to CloudWatch, minute by minute."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

LAMBDA, API_GATEWAY = "AWS/Lambda", "AWS/ApiGateway"
RETENTION_MINUTES = 24 * 60


class Series(NamedTuple):
    """``of``: the function's name; the empty text for the API."""

    namespace: str
    metric: str
    of: str = ""


class Minute(NamedTuple):
    """The sum of the values, and how many there were."""

    total: float
    number: int


class Points:
    """``now``: the time of a point. ``counts``: False while somebody breaks things on purpose, and nothing is kept."""

    def __init__(self, now: Callable[[], datetime], counts: Callable[[], bool] = lambda: True) -> None:
        self._now = now
        self._counts = counts
        self._lock = threading.Lock()
        self._minutes: dict[Series, dict[int, Minute]] = defaultdict(dict)

    def add(self, series: Series, value: float) -> None:
        if not self._counts():
            return
        minute = int(self._now().timestamp()) // 60
        with self._lock:
            minutes = self._minutes[series]
            before = minutes.get(minute, Minute(0.0, 0))
            minutes[minute] = Minute(before.total + value, before.number + 1)
            if len(minutes) > RETENTION_MINUTES:
                del minutes[min(minutes)]

    def minutes(self, series: Series) -> Mapping[int, Minute]:
        """By the minute since 1970."""
        with self._lock:
            return dict(self._minutes.get(series, {}))

    def total(self, series: Series) -> float:
        return sum(minute.total for minute in self.minutes(series).values())

    def clear(self) -> None:
        with self._lock:
            self._minutes.clear()
