"""Statements that mean something only beside an earlier one: "no, 8am" behind "my appointment is at 8", and "fixed it"
behind "the build fails". The earlier line is replaced by one that says both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from neve.domain.memories.text import statements_in
from neve.domain.records.memories import Kind
from neve.observers.extractive.english.sentences import Sentence
from neve.observers.extractive.english.vocabulary import words
from neve.observers.extractive.quotes import what_it_follows
from neve.observers.extractive.sameness import NOT_THE_OLD, content_of, values_in, values_said_in
from neve.observing import PriorMemory

MAX_CORRECTION_WORDS = 8
"""Words of a bare correction; a longer one says itself what it is about."""
SHARED = 0.5
"""Share of an earlier statement's content words that a correction must hold to take its place."""

_MOVED = re.compile(
    r"^(?:(?:it|it's|it was|it got)\s+)?"
    r"(?:moved|changed|rescheduled|postponed|pushed(?: back)?|brought forward)\s+to\s",
    re.IGNORECASE,
)
_OF_EARLIER = re.compile(r"^(?:and |but |so )?(?:it|that|this|he|she|they)(?:'s|'re)?\b", re.IGNORECASE)
_OWN_VERB = re.compile(r"^(?:i|we|my|our)\b(?! mean| meant| said)", re.IGNORECASE)
_SOLVED = re.compile(
    r"^(?:(?:i|we|i've|we've)\s+)?(?:(?:just|finally|already|now|have|got)\s+)*"
    r"(?:fixed|solved|resolved|sorted(?: out)?)(?:\s+(?:it|that|this|the (?:problem|issue|bug|error)))?"
    r"(?=\s*(?:$|[,;.-]|by\b|now\b))"
    r"|^(?:that|it|this)\s+(?:(?:finally|actually|now)\s+)*"
    r"(?:worked|works|fixed it|did it|did the trick|solved it|helped)\b"
    r"|^(?:it's|it is|that's|all|everything's|problem)\s+(?:(?:all|finally|now)\s+)*"
    r"(?:fixed|solved|working|sorted|resolved)\b"
    r"|^(?:never mind,?\s+)?i?\s*(?:found|figured|got)\s+it\s+(?:out|working|to work)\b",
    re.IGNORECASE,
)
_OVER = re.compile(
    r"\b(?:fixed|solved|resolved|sorted|cured|cleared|helped|did (?:it|the trick))\b"
    r"|\b(?:works?|working|opens?|runs?|starts?|loads?|prints?|connects?|builds?|passes|fine|okay|back|ran)\b"
    r".{0,20}\b(?:now|again|through)\b|\bnow\b.{0,20}\b(?:works?|opens?|runs?|starts?|loads?|prints?|fine)\b"
    r"|\b(?:is|are|'s|has|have)(?: \w+)? (?:gone|over|fixed|solved|resolved|stopped|repaired|back to normal)\b"
    r"|\bno longer\b|\bany ?more\b|\bwithout \w+ing\b|\bstopped \w+ing\b",
    re.IGNORECASE,
)
_NOT_OVER = re.compile(
    r"\b(?:nothing|still|if|should|would|could|hope|hopefully|maybe|until|(?:didn't|did not|hasn't|has not|haven't"
    r"|isn't|is not|not) (?:\w+ )?(?:fix\w*|solve\w*|help\w*|work\w*|gone|resolved|over))\b",
    re.IGNORECASE,
)
_OPEN = "🔴🟡"
_SOLUTION = words("fix solv resolv sort help problem issu")
_PROBLEM = re.compile(
    r"\b(?:stuck|blocked|locked out|broken|fail(?:s|ing)?|crash(?:es|ing)?|error|leak(?:s|ing)?|down"
    r"|problems?|issue|bug|deadlock\w*|timeouts?|jam(?:s|med|ming)?|freez(?:es?|ing)|hangs?|logs? me out|drips?)\b"
    r"|\b(?:can't|cannot|couldn't|won't|doesn't|does not|isn't|is not) (?:\w+ )?"
    r"(?:log in|login|access|connect|open|install|reproduce|start|work|working|load|compile|build|print|turn on|get)\b"
    r"|\bkeeps? \w+ing\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Earlier:
    """A line that was kept before: what it says without its mark. ``seq``: of its event, where that is known."""

    text: str
    speaker: str
    seq: int | None = None
    mark: str = "🟡"


def solves(sentence: Sentence) -> bool:
    """Say whether a sentence says that a problem is over, with or without naming the problem."""
    if sentence.question or _NOT_OVER.search(sentence.text):
        return False
    return _is_bare(sentence) or _OVER.search(sentence.text) is not None


def _is_bare(sentence: Sentence) -> bool:
    return _SOLVED.search(sentence.text) is not None


def open_problem(sentence: Sentence, lines: Sequence[Earlier]) -> int | None:
    """Find the latest of ``lines`` that tells of a problem which is still open, and is of one matter with the sentence
    unless that says nothing of what it is about."""
    closed = {what_it_follows(line.text) for line in lines}
    about = content_of(sentence.text).words - _SOLUTION
    for n in reversed(range(len(lines))):
        text = lines[n].text
        is_open = lines[n].mark in _OPEN and text not in closed and _PROBLEM.search(text)
        if is_open and (_is_bare(sentence) or about & content_of(text).words):
            return n
    return None


def lines_before(rows: Sequence[PriorMemory]) -> list[Earlier]:
    """Return the lines of the shown observations, in the order in which these were made."""
    in_time = sorted((row for row in rows if row.kind is Kind.OBSERVATION), key=lambda row: row.observed_at)
    return [one for row in in_time for one in _lines_of(row, "")]


def _lines_of(row: PriorMemory, speaker: str) -> list[Earlier]:
    lines = ((line.strip()[:1], said) for line in row.text.splitlines() for said in statements_in(line))
    return [Earlier(said, speaker, mark=mark) for mark, said in lines]


def is_bare_correction(sentence: Sentence) -> bool:
    """Say whether a sentence takes something back in a few words that say nothing alone: "no, 8am", "moved to Friday",
    "and it's 8pm, not 7"."""
    text = sentence.text
    if sentence.question or _OWN_VERB.search(text) or len(text.split()) > MAX_CORRECTION_WORDS:
        return False
    if (
        sentence.takes_back
        or text.lower().startswith("i meant ")
        or (_OF_EARLIER.search(text) and NOT_THE_OLD.search(text))
    ):
        return True
    return _MOVED.search(text) is not None and not values_in(text).isdisjoint(("day", "figure"))


def corrected(text: str, lines: Sequence[Earlier], speaker: str) -> int | None:
    """Find the speaker's latest line, if a bare correction can be about it: when it holds a value of the same kind, or
    the same word. Of a message of several lines the one that says such a value comes first."""
    own = [n for n in range(len(lines)) if lines[n].speaker == speaker]
    if not own:
        return None
    values = values_in(f"to {text}")
    together = (n for n in reversed(own) if lines[n].seq == lines[own[-1]].seq)
    at = next((n for n in together if values & values_said_in(lines[n].text)), own[-1])
    return at if _alike(f"to {text}", lines[at].text) else None


def said_before(rows: Sequence[PriorMemory], first_seq: int, speaker: str, *, among_people: bool) -> Sequence[Earlier]:
    """Return the lines of what the pass before the one that begins at ``first_seq`` noted of the speaker."""
    just_now = [row for row in rows if row.kind is Kind.OBSERVATION and row.span and row.span[1] == first_seq - 1]
    return [
        one
        for row in just_now
        for one in _lines_of(row, speaker)
        if (one.text.startswith(speaker) if among_people else not one.text.startswith("Assistant"))
    ]


def _alike(text: str, line: str) -> bool:
    return bool(values_in(text) & values_in(line) or content_of(text).words & content_of(line).words)


def replaced(text: str, lines: Sequence[Earlier], speaker: str) -> int | None:
    """Find the speaker's latest line that a whole corrected statement takes the place of."""
    new = content_of(text).words
    for n in reversed(range(len(lines))):
        old = content_of(lines[n].text).words
        if lines[n].speaker == speaker and len(new & old) >= max(1.0, SHARED * len(old)):
            return n
    return None
