"""Marks what a tool said in a summary, as a pack does (docs/rules/compact.md#summary)."""

from __future__ import annotations

from neve.domain.compact.headings import FourHeadings, SummaryText, items_of, summary_text
from neve.domain.memories.marks import OF_A_TOOL
from neve.domain.observe.trust import SaidHere, with_mark


def mark_summary(summary: FourHeadings, said: SaidHere) -> SummaryText:
    """Put each item that a tool said, or that was marked already, behind the mark."""
    return summary_text({of: [with_mark(item, said) for item in items] for of, items in items_of(summary).items()})


def marked_items(summary: FourHeadings | None) -> list[str]:
    """Give the items that are marked, without the mark."""
    items = all_items(summary) if summary else []
    return [item.removeprefix(OF_A_TOOL).strip() for item in items if item.startswith(OF_A_TOOL)]


def all_items(summary: FourHeadings) -> list[str]:
    """Give the items under all headings."""
    return [item for items in items_of(summary).values() for item in items]
