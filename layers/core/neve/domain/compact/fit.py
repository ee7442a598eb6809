"""Cut a summary to its size (docs/rules/compact.md#summary)."""

from __future__ import annotations

import collections
from itertools import zip_longest

from neve.domain.compact.headings import HEADINGS, FourHeadings, SummaryText, items_of, summary_text
from neve.domain.compact.render import render_summary
from neve.domain.tokens import Counter, estimate, trim_to


def fitted(summary: FourHeadings, target: int, count: Counter = estimate) -> SummaryText:
    """Cut a summary to the items that stay within ``target`` tokens as ``render_summary`` shows them; the headings
    always stay. Each heading that says something keeps its first item, cut to an equal share of the room where it must
    be. Then the headings take turns, and what does not fit is left out."""
    given = summary_text(items_of(summary))
    if count(render_summary(given)) <= target:
        return given
    lists = items_of(given)
    kept: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    saying = [heading for heading in HEADINGS if lists[heading]]
    for n, heading in enumerate(saying):
        used = count(render_summary(summary_text(kept)))
        _keep_cut(kept, heading, lists[heading][0], used + (target - used) // (len(saying) - n), count)
    for row in zip_longest(*(items[1:] for items in lists.values())):
        for heading, item in zip(HEADINGS, row, strict=True):
            if item is not None and _size(kept, heading, item, count) <= target:
                kept[heading].append(item)
    return summary_text(kept)


def items_without_room(given: FourHeadings, shown: FourHeadings) -> int:
    """Count how many items of the one do not stand whole in the other."""
    lists = items_of(shown)
    missing = (collections.Counter(items) - collections.Counter(lists[of]) for of, items in items_of(given).items())
    return sum(one.total() for one in missing)


def _keep_cut(kept: dict[str, list[str]], heading: str, item: str, limit: int, count: Counter) -> None:
    """Keep the beginning of the item with which the whole stays within ``limit``, if anything of it does."""
    item = trim_to(item, limit, count=lambda text: _size(kept, heading, text, count))
    if item.rstrip("…").strip() and _size(kept, heading, item, count) <= limit:
        kept[heading].append(item)


def _size(kept: dict[str, list[str]], heading: str, item: str, count: Counter) -> int:
    """Count the tokens of the whole with one item more."""
    return count(render_summary(summary_text({**kept, heading: [*kept[heading], item]})))
