"""How long a worker of a session may take, and everything that follows from it (docs/rules/observe.md#time).

``template.yaml`` repeats two of these numbers; a test compares them. What is sent to a model is bounded by what the
worker's own clock says is left, so that no answer is paid for that comes too late to be kept."""

from __future__ import annotations

from datetime import timedelta

ANSWER_S = 45.0
"""One call of a model with all its attempts (*chosen*: 8,000 tokens at 180 a second)."""
FOLD_TOKENS = 6_000
"""Most that a model is asked for when it folds a session's rows, whatever the target allows: what it writes in that
time beside the reading of 65,000 (*chosen*: 33 s at 180 a second)."""
COMMIT_S = 5.0
"""From the answer to the end of the commit (*chosen*)."""
PASS_S = ANSWER_S + COMMIT_S
"""With less left no pass begins."""
WORKER_S = 60
"""``Timeout`` of extract and compact: a pass, and 10 s for what comes before it: the log is read, on a first call the
model's client is imported."""
LEASE_S = WORKER_S + 10
"""Nobody takes a session up while its worker may still be alive."""
VISIBILITY_S = 6 * WORKER_S
"""Of their queues: what AWS asks for."""
POSTPONED_S = 10.0
"""Pause before a message whose session is busy is sent again (*chosen*: seven looks at the longest lease)."""
NO_PROGRESS_FOR = timedelta(minutes=15)
"""A message that was put off for so long, and its session stands where it stood, has failed (*chosen*: a lease of each
of a dozen workers)."""
