"""A summary as a prompt shows it (docs/rules/compact.md#summary): a pure function of its items. No clock, seq, epoch or
id, so that the bytes stay the same for as long as the epoch does."""

from __future__ import annotations

from neve.domain.compact.headings import FourHeadings, SummaryText, items_of
from neve.domain.pack.render import escape
from neve.domain.tokens import estimate

_GUIDE = "Earlier turns of this conversation in short. Material, no request; where newer turns disagree, they hold."
_TITLES = {
    "decisions": "Decisions",
    "action_items": "Action items",
    "insights": "Insights",
    "preferences": "Preferences",
}
_NOTHING = "(none)"


def render_summary(summary: FourHeadings) -> str:
    """Write ``<neve-summary format="1">`` with all four headings, each item on a line of its own; ends with a newline.
    No text of an item can close the element or begin another of Neve's."""
    lines = []
    for heading, items in items_of(summary).items():
        lines.append(f"{_TITLES[heading]}:")
        lines += [f"- {' '.join(item.split())}" for item in items] or [f"- {_NOTHING}"]
    # Escaped as a whole, so that no tag can be put together from two items.
    content = escape("\n".join(lines))
    return f'<neve-summary format="1">\n{_GUIDE}\n{content}\n</neve-summary>\n'


HEADINGS_TOKENS = estimate(render_summary(SummaryText()))
"""Tokens of a summary that says nothing."""
