"""Fit ``<neve-updates>`` into its room: what is told of what changed since the pack was built
(docs/rules/compile.md#updates)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.compile.last_turn import element
from neve.domain.pack.render import escape, indented
from neve.domain.tokens import estimate, trim_to

UPDATES_TOKENS = 800
"""Tokens of ``<neve-updates>`` (docs/rules/compile.md#updates)."""
SHORT_TOKENS = 30
"""Tokens that a short form says of the line that it is about (*chosen*)."""
_GUIDE = "Changed since the memory above was written; where they disagree, these hold."
_FRAME = estimate(f"<neve-updates>\n{_GUIDE}\n</neve-updates>")


@dataclass(frozen=True, slots=True)
class Update:
    """A change to be told. ``id``: of the memory or the document, or words for several that were not looked at.
    ``text``: what is said of it; None where that was not read. ``short``: what is said where the text has no room, of
    one that makes a line of the pack wrong."""

    id: str
    text: str | None
    short: str = ""


def outdated(line: str) -> str:
    """Return the short form for a line that has another text now."""
    return f"No longer holds, its new text is not shown: {_shorten(line)}"


def gone(line: str) -> str:
    """Return the short form for a line that was removed."""
    return f"No longer holds: {_shorten(line)}"


def _shorten(line: str) -> str:
    return trim_to(" ".join(line.split()), SHORT_TOKENS)


@dataclass(frozen=True, slots=True)
class FittedUpdates:
    """The updates that a prompt tells. ``left_out``: the ids of those whose text is not in it, the short ones included.
    ``need``: tokens of all of them, as far as they were read; ``limit``: of what was fitted. ``told``: its lines, each
    with the id that it is about, empty for the line that counts others."""

    text: str
    left_out: tuple[str, ...]
    need: int
    limit: int
    told: tuple[tuple[str, str], ...] = ()


def fit_updates(updates: Sequence[Update], limit: int = UPDATES_TOKENS) -> FittedUpdates:
    """Render ``<neve-updates>`` in at most ``limit`` tokens, its lines in the order that is given. No line of the pack
    stays wrong without a word as long as there is room for one: first the short forms have their room, then the texts
    that replace them, then what is only new. A last line counts the short forms that have none."""
    room = limit - _FRAME
    wrong = [n for n, one in enumerate(updates) if one.short]
    lines = {n: _shorter(updates[n]) for n in wrong}
    if sum(map(_cost, lines.values())) > room:
        lines = _keep_fitting(lines, room - _cost(_count_line(len(wrong))))
    count = _count_line(len(wrong) - len(lines)) if len(lines) < len(wrong) else ""
    room -= sum(map(_cost, lines.values()))
    count = count if _cost(count) <= room else ""
    room -= _cost(count)
    for n in (*lines, *(n for n, one in enumerate(updates) if not one.short)):
        text = updates[n].text
        more = _cost(text or "") - _cost(lines.get(n, ""))
        if text is not None and more <= room:
            lines[n] = text
            room -= more
    told = [(updates[n].id, lines[n]) for n in sorted(lines)]
    told += [("", count)] if count else []
    left_out = tuple(one.id for n, one in enumerate(updates) if one.text is None or lines.get(n) != one.text)
    need = estimate(_rendered([text for one in updates if (text := one.short if one.text is None else one.text)]))
    return FittedUpdates(_rendered([line for _, line in told]), left_out, need, limit, tuple(told))


def forms_of(updates: Sequence[Update]) -> dict[str, str]:
    """Return every line that these updates may be told by, with the id that it is about."""
    lines = {line: one.id for one in updates for line in (one.text, one.short) if line}
    return lines | {_count_line(n): "" for n in range(1, len(updates) + 1)}


def _shorter(update: Update) -> str:
    """Return the shorter of text and short form: a text that is no longer than its short form stands for both."""
    if update.text is not None and _cost(update.text) <= _cost(update.short):
        return update.text
    return update.short


def _keep_fitting(lines: dict[int, str], room: int) -> dict[int, str]:
    """Keep the lines that there is room for, in their order."""
    kept = {}
    for n, line in lines.items():
        if _cost(line) <= room:
            kept[n] = line
            room -= _cost(line)
    return kept


def _count_line(count: int) -> str:
    return f"Statements of the memory above that no longer hold, beside these: {count}"


def _rendered(lines: Sequence[str]) -> str:
    return element("neve-updates", "\n".join([_GUIDE, *(f"- {indented(line)}" for line in lines)])) if lines else ""


def _cost(line: str) -> int:
    return estimate(escape(f"- {indented(line)}\n")) if line else 0
