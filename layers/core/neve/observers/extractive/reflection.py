"""Folds rows without a model (docs/rules/reflect.md#rules): lines that repeat are merged, and then lines are left out,
oldest first, 🟢, then ✅, then 🟡, until the target is met. A 🔴 line always stays, and stays whole: where these alone
are above the target, it is the target that gives way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.reflect.prompt import Group
from neve.domain.tokens import estimate, trim_to
from neve.observers.extractive.quotes import what_it_follows

MIN_ROW = 150
MAX_ROW = 600
LAST_LINE = 120
"""Tokens that the last line may have where no 🔴 stays and the target has room for nothing: of a batch that is one
statement, half would say nothing."""
_LASTING = "🔴"
_FIRST_TO_GO = "🟢✅🟡🔴"
_MARKS = re.compile(rf"[{_FIRST_TO_GO}]")
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")
_SAID_ON = re.compile(r"\s*\(\d{4}-\d{2}-\d{2}\)$")


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """One reflection, and the groups that its lines come from."""

    text: str
    group_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Folded:
    """The rows of a fold. ``left_out``: how many lines, each counted once, stand in no row as a whole. ``over_target``:
    tokens above the target, because of lines that stay."""

    rows: list[FoldedRow]
    left_out: int
    over_target: int


@dataclass(frozen=True, slots=True)
class _Note:
    """One line with the groups that said it, in their order. ``stays_by``: the place of its mark among those that are
    left out, the first of which is 0."""

    text: str
    stays_by: int
    groups: tuple[str, ...]

    @property
    def lasting(self) -> bool:
        return self.stays_by == _FIRST_TO_GO.index(_LASTING)

    @property
    def tokens(self) -> int:
        return estimate(self.text + "\n")


def folded_rows(groups: Sequence[Group], target_tokens: int, *, apart: bool = False) -> Folded:
    """Fold ``groups``, given in chronological order. ``apart``: what lasts stands in rows of its own, before the
    others, so that a pack, which takes rows by their rank and whole, has them first."""
    notes = _merged(groups)
    kept = _within(notes, target_tokens)
    whole = {note.text for note in kept}
    lasting, others = [n for n in kept if n.lasting], [n for n in kept if not n.lasting]
    return Folded(
        [*_rows(lasting), *_rows(others)] if apart else _rows(kept),
        left_out=sum(note.text not in whole for note in notes),
        over_target=max(0, sum(note.tokens for note in kept) - target_tokens),
    )


def _merged(groups: Sequence[Group]) -> list[_Note]:
    """Return each line once, at its last place, with the strongest mark that it had, and with the local day on which it
    was observed unless it holds a date itself. A line without a mark goes on with the one above it."""
    notes: dict[str, _Note] = {}
    for group in groups:
        stays_by = _FIRST_TO_GO.index("🟡")
        for line in filter(None, (line.strip() for line in group.text.splitlines())):
            stays_by = max(map(_FIRST_TO_GO.index, _MARKS.findall(line)), default=stays_by)
            text = line if _DATED.search(line) else f"{line} ({group.day or group.observed_at[:10]})"
            note = _Note(text, stays_by, (group.id,))
            said, solved = notes.pop(_key(line), note), what_it_follows(_SAID_ON.sub("", _unmarked(line)))
            closed = notes.pop(_key(solved), note) if solved else note  # it says what became of it
            kept = max(note, said, key=lambda one: (one.stays_by, bool(_MARKS.search(one.text))))
            groups_of = dict.fromkeys((*said.groups, *closed.groups, *note.groups))
            notes[_key(line)] = replace(kept, groups=tuple(groups_of))
    return list(notes.values())


def _unmarked(line: str) -> str:
    return _MARKS.sub("", line).strip()


def _key(line: str) -> str:
    """Return a key that two lines share only if they say the same in the same words. A looser key could make one line
    of what a person must not eat and what they like."""
    return " ".join(_SAID_ON.sub("", _unmarked(line)).casefold().split()).rstrip(" .!")


def _within(notes: Sequence[_Note], target: int) -> list[_Note]:
    """Return the notes that stay within ``target`` tokens, in their order. Where none would stay, the last to go does,
    cut to the target if need be."""
    order = sorted(range(len(notes)), key=lambda n: (notes[n].stays_by, n))
    left = sum(note.tokens for note in notes)
    gone: set[int] = set()
    for n in order:
        if left <= target or notes[n].lasting:
            break
        gone.add(n)
        left -= notes[n].tokens
    if notes and len(gone) == len(notes):
        last = notes[order[-1]]
        return [replace(last, text=trim_to(last.text, max(target, LAST_LINE)))]
    return [note for n, note in enumerate(notes) if n not in gone]


def _rows(notes: Sequence[_Note]) -> list[FoldedRow]:
    """Make rows of about equal size: at most ``MAX_ROW`` tokens, a line above that alone, and at least ``MIN_ROW``
    where there is so much to tell."""
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
