"""Says how long a batch of the night may take, and what follows from it (docs/rules/reflect.md#worker)."""

from __future__ import annotations

from datetime import timedelta

from neve.domain.jobs.time_limits import SPARE_S, WORKER_S
from neve.domain.observe.time_limits import COMMIT_S, READING_S, TOKENS_PER_S

WITH_IDS = 1.5
"""An answer's tokens for each of its text (*chosen*): it names what each row was made of."""
MAX_ANSWER_S = WORKER_S - SPARE_S
"""One call of a model with all its attempts: one answer about a full batch may take thirteen minutes."""
ENDS_WITHIN = timedelta(hours=15)
"""A job that has not ended after so long has failed: the next night goes on (*chosen*)."""

ANSWERED_WITHIN = timedelta(hours=6)
"""What was handed in, and has no answer so long after the job was made, is asked for at once (*chosen*: the provider
answers most within one hour, and has 24)."""
LOOKS_EVERY = timedelta(minutes=10)
"""Looks at what was handed in (*chosen*: the sweep comes as often)."""
MAX_HANDED_IN = 50
"""Batches of one user that are handed in together (*chosen*): some 13 MB, of the 256 MB that the provider takes."""


def needed_s(target_tokens: int) -> float:
    """Give how long a batch may take at most, in seconds, from its question to its commit."""
    return max(SPARE_S, READING_S + WITH_IDS * target_tokens / TOKENS_PER_S + COMMIT_S)
