"""Folds a session's observations without a model (engine.md §4): duplicate lines are merged; 🔴 and ✅ are kept, then 🟡,
newest first, until the target; what is kept is told in its order, as rows of 150 to 600 tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.extractive_sameness import restates
from neve.domain.reflection_prompt import Group
from neve.domain.tokens import estimate, trim_to

MIN_ROW = 150
MAX_ROW = 600
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class FoldedRow:
    text: str
    group_ids: tuple[str, ...]


@dataclass(slots=True)
class _Note:
    """One line with the groups that said it; ``at`` is its place among all lines."""

    text: str
    groups: list[str]
    at: int

    @property
    def tier(self) -> int:
        """0 for 🔴 and ✅, 1 for 🟡 and unmarked lines, 2 for 🟢."""
        if "🔴" in self.text or "✅" in self.text:
            return 0
        return 2 if "🟢" in self.text and "🟡" not in self.text else 1


def reflected_rows(groups: Sequence[Group], target_tokens: int) -> list[FoldedRow]:
    """``groups`` in chronological order. 🟢 lines are only kept when there is nothing else."""
    notes = _merged(groups)
    notes = [note for note in notes if note.tier < 2] or notes
    return _rows(_within(notes, target_tokens), target_tokens)


def _merged(groups: Sequence[Group]) -> list[_Note]:
    """Each line once, at its last place, with the day on which it was observed unless it holds a date itself."""
    notes: list[_Note] = []
    for group in groups:
        for line in filter(None, (line.strip() for line in group.text.splitlines())):
            same = next((note for note in notes if restates(line, note.text) and restates(note.text, line)), None)
            if same:
                notes.remove(same)
            text = line if _DATED.search(line) else f"{line} ({group.observed_at[:10]})"
            ids = list(dict.fromkeys([*(same.groups if same else []), group.id]))
            notes.append(_Note(text, ids, len(notes)))
    for at, note in enumerate(notes):
        note.at = at
    return notes


def _within(notes: Sequence[_Note], target: int) -> list[_Note]:
    """The notes that fit, chosen by tier and newest first, then in their order again."""
    kept: list[_Note] = []
    used = 0
    for note in sorted(notes, key=lambda note: (note.tier, -note.at)):
        cost = estimate(note.text + "\n")
        if used + cost <= target:
            kept.append(note)
            used += cost
    if not kept and notes:
        first = min(notes, key=lambda note: (note.tier, -note.at))
        kept = [_Note(trim_to(first.text, target), first.groups, first.at)]
    return sorted(kept, key=lambda note: note.at)


def _rows(notes: Sequence[_Note], target: int) -> list[FoldedRow]:
    """Rows of about equal size between 150 and 600 tokens; one shorter row where there is not more to tell."""
    total = sum(estimate(note.text + "\n") for note in notes)
    count = max(1, min(-(-total // (MAX_ROW - MIN_ROW)), total // MIN_ROW))
    size = -(-total // count)
    rows: list[list[_Note]] = []
    filled = 0
    for note in notes:
        cost = estimate(note.text + "\n")
        if not rows or (filled >= size and len(rows) < count) or filled + cost > MAX_ROW:
            rows.append([])
            filled = 0
        rows[-1].append(note)
        filled += cost
    return [_row(row) for row in rows]


def _row(notes: Sequence[_Note]) -> FoldedRow:
    groups = dict.fromkeys(group for note in notes for group in note.groups)
    return FoldedRow("\n".join(note.text for note in notes), tuple(groups))
