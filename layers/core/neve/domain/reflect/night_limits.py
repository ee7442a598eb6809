"""Says how long a worker of the night may take, and everything that follows from it (docs/rules/reflect.md#worker).

``template.yaml`` repeats three of these numbers; a test compares them."""

from __future__ import annotations

from datetime import timedelta

from neve.domain.jobs.time_limits import DELIVERIES
from neve.domain.observe.time_limits import COMMIT_S, READING_S, TOKENS_PER_S

WORKER_S = 900
"""``Timeout`` of reflect: the longest that Lambda allows, because one answer about a full batch may take thirteen
minutes."""
SPARE_S = 60.0
"""Seconds that have to be left for a batch to begin (docs/rules/reflect.md#worker)."""
WITH_IDS = 1.5
"""An answer's tokens for each of its text (*chosen*): it names what each row was made of."""
MAX_ANSWER_S = WORKER_S - SPARE_S
"""One call of a model with all its attempts."""
LEASE_S = WORKER_S + 10
"""No other worker takes a user up while one may still be at it."""
VISIBILITY_S = 6 * WORKER_S
"""Visibility timeout of its queue: what AWS asks for."""
POSTPONED_S = 30.0
"""Pause before a message whose user is busy is sent again (*chosen*)."""
NO_PROGRESS_FOR = timedelta(minutes=30)
"""After so long a message whose user is always busy has failed (*chosen*: two leases)."""
GIVEN_UP_AFTER = timedelta(seconds=2 * DELIVERIES * VISIBILITY_S)
"""A job that no worker is at and that has not ended after so long has lost its message for good (*chosen*: 15 hours,
twice as long as one takes to become a dead letter)."""
PLANNED_AGAIN = timedelta(minutes=10)
"""A night whose users are not all queued after so long has lost its message, or is told of twice, which does no
harm (*chosen*)."""


def needed_s(target_tokens: int) -> float:
    """Give how long a batch may take at most, in seconds, from its question to its commit."""
    return max(SPARE_S, READING_S + WITH_IDS * target_tokens / TOKENS_PER_S + COMMIT_S)
