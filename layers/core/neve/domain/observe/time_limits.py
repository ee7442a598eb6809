"""Limits how long a worker of a session may take, and everything that follows from it (docs/rules/observe.md#time).

``template.yaml`` repeats two of these numbers; a test compares them. What is sent to a model is bounded by what the
worker's own clock says is left, so that no answer is paid for that comes too late to be kept."""

from __future__ import annotations

from datetime import timedelta

TOKENS_PER_S = 65.0
"""The tokens per second that the slowest of the models writes (*limit*: those of the family give 65 to 150)."""
READING_S = 15.0
"""The seconds before a model's first word, for 65,000 tokens (*chosen*)."""
ANSWER_S = 140.0
"""One call of a model with all its attempts (*chosen*: 8,000 tokens, and the reading before them)."""
FOLD_TOKENS = 4_500
"""Most that a model is asked for when it folds a session's rows, whatever the target allows (*chosen*: 70 s of writing,
and as much for the ids of what it names)."""
COMMIT_S = 5.0
"""The seconds from the answer to the end of the commit (*chosen*)."""
PASS_S = ANSWER_S + COMMIT_S
"""The seconds that a pass needs: with less left none begins."""
WORKER_S = 300
"""``Timeout`` of extract and compact: an answer and the one that may have to follow it, and 10 s for what comes before
them: the log is read, on a first call the model's client is imported."""
LEASE_S = 70
"""The seconds of a lease: no other worker takes a session up while its worker may still be alive. Where no model is
asked, passes end with it."""
ANSWERS_LEASE_S = WORKER_S + 10
"""The same where a model is asked, which may take all of the worker's time."""
VISIBILITY_S = 6 * WORKER_S
"""The visibility of their queues: what AWS asks for."""
POSTPONED_S = 10.0
"""Pause before a message whose session is busy is sent again (*chosen*: seven looks at a lease without a model)."""
NO_PROGRESS_FOR = timedelta(minutes=15)
"""A message that was put off for so long, and its session stands where it stood, has failed (*chosen*: a lease of each
of a dozen workers without a model, of two with one)."""


def writable_tokens(within_s: float) -> int:
    """Return how many tokens of an answer are there in time, at least 1. A longer answer is cut off by their number,
    which is an answer and is asked for in parts, and not by the clock, which would have it asked for unchanged."""
    return max(1, int((within_s - READING_S) * TOKENS_PER_S))
