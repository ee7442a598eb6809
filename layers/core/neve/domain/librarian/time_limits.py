"""Says how long a librarian may take, and everything that follows from it (docs/rules/librarian.md#worker).

``template.yaml`` repeats two of these numbers; a test compares them."""

from __future__ import annotations

from neve.domain.observe.time_limits import COMMIT_S

ANSWER_TOKENS = 20_000
"""Tokens of one answer (*chosen*: a few documents whole, and the account)."""
ANSWER_S = 330.0
"""One call of a model with all its attempts (20,000 tokens at 65 a second, and the reading of 150,000)."""
FILING_S = ANSWER_S + COMMIT_S
"""Seconds that have to be left for a question."""
WORKER_S = 900
"""``Timeout`` of librarian: an answer and the one that may have to follow it, and what comes before them."""
VISIBILITY_S = 6 * WORKER_S
"""Visibility timeout of its queue: what AWS asks for."""
MAX_ATTEMPTS = 3
"""How often the librarian reads and answers before what is stale of its answer waits for a decision (*chosen*)."""
