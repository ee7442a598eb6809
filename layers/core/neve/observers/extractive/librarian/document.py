"""A line more on a document: the current state first, and below it, under "Earlier", what no longer holds
(docs/rules/librarian.md#state)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.librarian.looking import names_in
from neve.observers.extractive.candidates import Line
from neve.observers.extractive.classifier import Kind
from neve.observers.extractive.sameness import adds_nothing, content_of
from neve.observers.extractive.sequels import Earlier, replaced

EARLIER = "## Earlier"
_CHANGE = re.compile(
    r"\b(?:left|quit|moved|changed|switched|joined|started|retired|no longer|not any ?more|now|used to|instead)\b",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"\b(?:left|quit|moved (?:away )?from|no longer (?:\w+ )?(?:at|in|with|for)|stopped \w+ing (?:at|for|in))\s+"
    r"(?P<what>[^,;.]+)",
    re.IGNORECASE,
)
_MATTERS = (
    re.compile(r"\b(?:lives?|living|moved to|based|resid\w+) (?:in|to)?\b", re.IGNORECASE),
    re.compile(
        r"\b(?:works?|working|worked|employed) (?:at|for|as|in)\b|\b(?:joined|job|employer)\b"
        r"|\bnow (?:an? |the )?[\w -]+ at\b|\b(?:CTO|CEO|CFO|engineer|manager|director) at\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?:name is|called)\b", re.IGNORECASE),
    re.compile(r"\bstud(?:y|ies|ying) (?:at|in)?\b", re.IGNORECASE),
)
"""Matters of which a person has one at a time: home, work, name, studies."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_BULLET = re.compile(r"^(\s*(?:[-*•]\s+)?)(.*)$")


@dataclass(frozen=True, slots=True)
class Displaced:
    """A new statement, which displaces earlier ones of a document. ``names``: the names that the person has left.
    ``taken_back``: the statement was corrected itself, and what says the same goes."""

    text: str
    who: str
    corrects: bool
    changes: bool
    names: tuple[str, ...]
    taken_back: bool = False

    @classmethod
    def by(cls, sentence: str, line: Line, *, corrected: bool = False) -> Displaced:
        left = [name for match in _LEFT.finditer(sentence) for name in names_in(match["what"])]
        corrects, changes = line.kind is Kind.CORRECTION, _CHANGE.search(sentence) is not None
        return cls(line.text, line.speaker, corrects, changes, tuple(left), corrected)

    def covers(self, old: str) -> bool:
        """Say whether ``old``, one statement of a document, no longer holds."""
        if any(re.search(rf"\b{re.escape(name)}\b", old) for name in self.names):
            return True
        if self.changes and any(matter.search(self.text) and matter.search(old) for matter in _MATTERS):
            return True
        if self.taken_back and adds_nothing(content_of(self.text), content_of(_bare(old))):
            return True
        return self.corrects and replaced(self.text, [Earlier(old, self.who)], self.who) is not None


def with_line(text: str, new: str, displaced: Displaced, date: str) -> str | None:
    """Return the document with the statement in its current part; None when it says so already. Every statement that is
    there stays, those that no longer hold under "Earlier"."""
    head, mark, tail = text.partition(f"\n{EARLIER}")
    current = head.rstrip().splitlines()
    gone: list[str] = []
    content = content_of(new)
    if any(adds_nothing(content, content_of(_bare(line))) for line in current if not line.startswith("#")):
        return None
    remaining: list[str] = []
    for line in current:
        stays, moved = _split_line(line, displaced)
        remaining += [stays] if stays is not None else []
        gone += moved
    remaining += ["", f"- {new} ({date})"] if remaining and remaining[-1].startswith("#") else [f"- {new} ({date})"]
    history = [f"- {old} (until {date})" for old in gone]
    body = "\n".join(remaining)
    if not history:
        return f"{body}\n\n{EARLIER}{tail}" if mark else body
    older = tail.strip("\n")
    return "\n".join([body, "", EARLIER, *history, *([older] if older else [])])


def _split_line(line: str, displaced: Displaced) -> tuple[str | None, Sequence[str]]:
    """Return what of a line stays (None for nothing), and the statements that leave it."""
    if line.startswith("#") or not line.strip():
        return line, []
    bullet, text = _BULLET.match(line).groups()  # type: ignore[union-attr]
    statements = _SENTENCE.split(text)
    gone = [one for one in statements if displaced.covers(one)]
    if not gone:
        return line, []
    stays = [one for one in statements if one not in gone]
    return (f"{bullet}{' '.join(stays)}" if stays else None), gone


def _bare(line: str) -> str:
    """Return a line without its bullet and the day behind it."""
    return re.sub(r"\s*\(\d{4}-\d{2}-\d{2}\)$", "", re.sub(r"^\s*[-*•]\s+", "", line))
