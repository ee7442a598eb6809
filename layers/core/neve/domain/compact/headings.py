"""The four headings of a summary, and how large one may be (docs/rules/compact.md#summary)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from neve.domain.records.epochs import Verbosity

HEADINGS = ("decisions", "action_items", "insights", "preferences")
"""The headings in the order in which they are shown."""
ITEM_CHARACTERS = 400
"""Longest item (*chosen*)."""
_MAX_TOKENS = {"brief": 250, "standard": 700, "detailed": 2_000}
_SHARE = {"brief": 8, "standard": 6, "detailed": 4}
"""A summary is at most one in so many tokens of the compaction trigger: small windows get small summaries."""
_MIN_TOKENS = 100
"""The headings alone take most of it."""


class FourHeadings(Protocol):
    """The content of a summary: one line of text an item, the oldest first."""

    @property
    def decisions(self) -> tuple[str, ...]: ...
    @property
    def action_items(self) -> tuple[str, ...]: ...
    @property
    def insights(self) -> tuple[str, ...]: ...
    @property
    def preferences(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary that is not stored (yet)."""

    decisions: tuple[str, ...] = ()
    action_items: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()


def items_of(summary: FourHeadings) -> dict[str, tuple[str, ...]]:
    """Give the items by heading, in the order of ``HEADINGS``."""
    return {heading: getattr(summary, heading) for heading in HEADINGS}


def summary_text(items: Mapping[str, Sequence[str]]) -> SummaryText:
    """Make a summary from the items of each heading; one that is missing has none."""
    return SummaryText(**{heading: tuple(items.get(heading, ())) for heading in HEADINGS})


def summary_target(verbosity: Verbosity, compaction_at: int) -> int:
    """Give the tokens that a rendered summary may have (*chosen*): 250, 700 or 2,000, in a small window at most 1/8,
    1/6 or 1/4 of the compaction trigger, and at least 100."""
    return max(_MIN_TOKENS, min(_MAX_TOKENS[verbosity], compaction_at // _SHARE[verbosity]))
