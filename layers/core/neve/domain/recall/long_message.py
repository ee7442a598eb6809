"""Choose what of a long message is searched (docs/rules/recall.md#long-messages): its two ends, of which more is kept
of the last. A user who pastes a page asks behind it as a rule, and sometimes before it; a leg that reads from the
beginning until it can take no more sees the page alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from neve.domain.recall.query import shape
from neve.domain.tokens import cut_after, cut_before

MAX_BYTES = 1_200
"""Bytes of UTF-8; a message up to this length is searched as it stands. *Measured*: of all cuts of this length out of
the prose and the code of this project the 512 tokens of the encoder, its instruction for queries included, hold more
than 95 %, and the 150 words of a keyword query more than 85 % (``tests/unit/recall/query/test_long_message.py``). In
bytes, because the encoder takes a letter of most other scripts for a token, and Titan's limit of 8,000 is one of
bytes."""
HEAD_BYTES, TAIL_BYTES = 400, 800
"""*Chosen*: a question stands mostly behind what was pasted."""
QUESTION_CHARACTERS = 300
"""*Chosen*: of a question, and of what stands between it and its end of the message. What asks farther inside belongs
to the page."""
LONGEST_WORD = 64
"""*Chosen*: characters that a cut gives up to end between two words. A longer run has no words: a script without
spaces, or base64."""


@dataclass(frozen=True, slots=True)
class SearchedText:
    """The searched parts of a message. ``words``: what the keyword leg reads; of a ``cut`` message from its last word
    on, as far as it gets, so that the end with the question stands behind the other. ``meaning``: what the vector leg
    reads."""

    words: str
    meaning: str
    cut: bool = False


class _Sentence(NamedTuple):
    start: int
    end: int
    asks: bool


_CLOSERS = r"[\"'”’»)\]]*"
_SENTENCE_END = re.compile(
    rf"""(?P<asks>
        (?<=[^\s?])\?[?!]*{_CLOSERS}(?=\s*(?:\n|\Z)|\s+[\w"'“«(¿-])  # nothing of code: a?.b, a ?? b, String? = null
        |(?<=[^\S\n])\?[?!]*(?=\s*(?:\n|\Z))  # French has a space before it, and so has code: a ? b : c
        |[？؟][？！؟]*{_CLOSERS}
    )|[.!;:…]{_CLOSERS}(?=\s)|[。！]|\n""",
    re.VERBOSE,
)


def searched_text(message: str) -> SearchedText:
    """Choose what is searched: a message up to ``MAX_BYTES`` unchanged. Of a longer one the keyword leg reads both
    ends; the vector leg the question at the end, else the one at the beginning, else both ends, the last one first, so
    that it is whole whatever the encoder's tokens are. A question alone, because what stands around it changes its
    vector: with two lines of a page beside it, hardly an answer is still as near as the gate asks for. Time and result
    are bounded, whatever the length of the message."""
    if len(message) <= MAX_BYTES and len(message.encode("utf-8", "surrogatepass")) <= MAX_BYTES:
        return SearchedText(message, message)
    head, tail = _head(message), _tail(message)
    if asked := _asked_last(tail):
        return SearchedText(f"{head}\n{tail}", asked, cut=True)
    if asked := _asked_first(head):
        return SearchedText(f"{tail}\n{head}", asked, cut=True)
    return SearchedText(f"{head}\n{tail}", f"{tail}\n{head}", cut=True)


# --- the ends -----------------------------------------------------------------------------------


def _head(message: str) -> str:
    near = message[: HEAD_BYTES + 1]
    end = _count_fitting(near, HEAD_BYTES)
    for at in range(end, max(end - LONGEST_WORD, 0), -1):
        if near[at].isspace():
            return near[:at]
    return near[: cut_before(near, end)]


def _tail(message: str) -> str:
    near = message[-TAIL_BYTES - 1 :]
    start = len(near) - _count_fitting(reversed(near), TAIL_BYTES)
    for at in range(start, min(start + LONGEST_WORD, len(near))):
        if near[at - 1].isspace():
            return near[at:]
    return near[cut_after(near, start) :]


def _count_fitting(characters: Iterable[str], room: int) -> int:
    """Return how many of the characters have room together in ``room`` bytes."""
    count = 0
    for character in characters:
        room -= _bytes(ord(character))
        if room < 0:
            break
        count += 1
    return count


def _bytes(code: int) -> int:
    """Return the bytes of a character in UTF-8; a lone surrogate, which has none, counts as its neighbours."""
    return 1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000)


# --- the question -------------------------------------------------------------------------------


def _asked_last(tail: str) -> str:
    """Return the tail from the last question on, those directly before it included; empty where none stands near the
    end."""
    behind = [*_sentences(tail)][::-1]
    near = [one for one in behind if len(tail) - one.start <= QUESTION_CHARACTERS]
    statements = [*takewhile(lambda one: not one.asks, near)]
    questions = [*takewhile(lambda one: one.asks, near[len(statements) :])]
    return _with_content(tail[questions[-1].start :]) if questions else ""


def _asked_first(head: str) -> str:
    """Return the head to the first question, those directly behind it included; empty where none stands near the
    beginning."""
    near = [one for one in _sentences(head) if one.end <= QUESTION_CHARACTERS]
    statements = [*takewhile(lambda one: not one.asks, near)]
    questions = [*takewhile(lambda one: one.asks, near[len(statements) :])]
    return _with_content(head[: questions[-1].end]) if questions else ""


def _with_content(text: str) -> str:
    """Return the text if it says what it is about, else an empty one: a question like "Is it?" does not."""
    return text.strip() if shape(text).has_content else ""


def _sentences(text: str) -> Iterator[_Sentence]:
    start = 0
    for found in _SENTENCE_END.finditer(text):
        if not text[start : found.start()].isspace() and found.start() > start:
            yield _Sentence(start, found.end(), found["asks"] is not None)
        start = found.end()
    if text[start:].strip():
        yield _Sentence(start, len(text), asks=False)
