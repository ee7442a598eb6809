"""A share of time that never ends, for whoever has no worker's time to keep to."""

from __future__ import annotations

import math

from neve.domain.jobs.time_share import TimeShare


def unlimited() -> TimeShare:
    return TimeShare(lambda: math.inf, 0.0)
