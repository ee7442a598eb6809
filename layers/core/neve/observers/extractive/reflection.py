"""Folds a session's observations without a model (docs/rules/reflect.md#result): duplicate lines are merged; 🔴 and ✅
are kept, then 🟡, newest first, until the target; what is kept is told in its order, as rows of 150 to 600 tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.reflect.prompt import Group
from neve.domain.tokens import estimate, trim_to
from neve.observers.extractive.sameness import Content, adds_nothing, content_of

MIN_ROW = 150
MAX_ROW = 600
EVEN = 90
"""Percent of a night's target that is filled, so that its rows can be even."""
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """One reflection, and the groups that its lines come from."""

    text: str
    group_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Note:
    """One line with the groups that said it, in their order."""

    text: str
    content: Content
    groups: tuple[str, ...]

    @property
    def tier(self) -> int:
        """0 for 🔴 and ✅, 1 for 🟡 and unmarked lines, 2 for 🟢."""
        if "🔴" in self.text or "✅" in self.text:
            return 0
        return 2 if "🟢" in self.text and "🟡" not in self.text else 1

    @property
    def tokens(self) -> int:
        return estimate(self.text + "\n")


@dataclass(frozen=True, slots=True)
class Folded:
    """``left_out``: how many lines, each counted once, stand in no row as a whole."""

    rows: list[FoldedRow]
    left_out: int


def reflected_rows(groups: Sequence[Group], target_tokens: int) -> Folded:
    """``groups`` in chronological order. 🟢 lines are only kept when there is nothing else."""
    notes = _merged(groups)
    fitting = _chosen(notes, target_tokens)
    return Folded(_rows(fitting), _without_room(notes, fitting))


def condensed_rows(groups: Sequence[Group], target_tokens: int) -> Folded:
    """The same for a night, whose rows are each cut to their share of the target: rows so even that none is."""
    notes = _merged(groups)
    fitting = _chosen(notes, target_tokens * EVEN // 100)
    return Folded(_even_rows(fitting, target_tokens), _without_room(notes, fitting))


def _chosen(notes: Sequence[_Note], target: int) -> list[_Note]:
    return _within([note for note in notes if note.tier < 2] or notes, target)


def _without_room(notes: Sequence[_Note], fitting: Sequence[_Note]) -> int:
    whole = {note.text for note in fitting}
    return sum(note.text not in whole for note in notes)


def _even_rows(fitting: Sequence[_Note], target_tokens: int) -> list[FoldedRow]:
    for count in range(max(1, sum(note.tokens for note in fitting) // MAX_ROW + 1), 1, -1):
        rows = _even(fitting, target_tokens // count)
        if len(rows) <= count:
            return [_row(row) for row in rows]
    return [_row(fitting)] if fitting else []


def _even(notes: Sequence[_Note], most: int) -> list[list[_Note]]:
    """Rows of at most ``most`` tokens, a line above it alone."""
    rows: list[list[_Note]] = []
    filled = 0
    for note in notes:
        if not rows or filled + note.tokens > most:
            rows.append([])
            filled = 0
        rows[-1].append(note)
        filled += note.tokens
    return rows


def _merged(groups: Sequence[Group]) -> list[_Note]:
    """Each line once, at its last place, with the local day on which it was observed unless it holds a date itself."""
    notes: list[_Note] = []
    for group in groups:
        for line in filter(None, (line.strip() for line in group.text.splitlines())):
            content = content_of(line)
            same = next((note for note in notes if _same(content, note.content)), None)
            if same:
                notes.remove(same)
            earlier = same.groups if same else ()
            text = line if _DATED.search(line) else f"{line} ({group.day or group.observed_at[:10]})"
            notes.append(_Note(text, content, tuple(dict.fromkeys((*earlier, group.id)))))
    return notes


def _same(left: Content, right: Content) -> bool:
    return adds_nothing(left, right) and adds_nothing(right, left)


def _within(notes: Sequence[_Note], target: int) -> list[_Note]:
    """The notes that fit, chosen by tier and newest first, in their order; the first choice is trimmed if need be."""
    order = sorted(range(len(notes)), key=lambda n: (notes[n].tier, -n))
    fitting: list[int] = []
    left = target
    for n in order:
        if notes[n].tokens <= left:
            fitting.append(n)
            left -= notes[n].tokens
    if order and not fitting:
        first = notes[order[0]]
        return [_Note(trim_to(first.text, target), first.content, first.groups)]
    return [notes[n] for n in sorted(fitting)]


def _rows(notes: Sequence[_Note]) -> list[FoldedRow]:
    """Rows of about equal size: at most ``MAX_ROW`` tokens, and at least ``MIN_ROW`` where there is so much to tell."""
    total = sum(note.tokens for note in notes)
    count = max(1, min(-(-total // (MAX_ROW - MIN_ROW)), total // MIN_ROW))
    share = -(-total // count)
    rows: list[list[_Note]] = []
    filled = 0
    for note in notes:
        full = filled >= share and len(rows) < count
        if not rows or full or filled + note.tokens > MAX_ROW:
            rows.append([])
            filled = 0
        rows[-1].append(note)
        filled += note.tokens
    return [_row(row) for row in rows]


def _row(notes: Sequence[_Note]) -> FoldedRow:
    groups = dict.fromkeys(group for note in notes for group in note.groups)
    return FoldedRow("\n".join(note.text for note in notes), tuple(groups))
