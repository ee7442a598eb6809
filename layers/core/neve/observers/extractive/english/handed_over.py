"""Tells whose words stand behind a paragraph, by the way a message is laid out (docs/rules/observe.md#own-words).
Behind a paragraph that only hands something over ("Please check my homework", "got this from a forum") stands another
person's text; behind one that only asks or orders, it is unclear."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from neve.observers.extractive.english.orders import REWORKS, is_order, is_question
from neve.observers.extractive.english.vocabulary import any_of

SHORT = 200
"""Characters of a paragraph that may hand something over; a longer one tells a story of its own."""


class Owner(IntEnum):
    """The author of the text that stands behind a paragraph."""

    USER = 0
    UNCLEAR = 1
    ANOTHER = 2


class Parts(NamedTuple):
    """A message up to where it is unclear whose it is, and up to where it is another person's."""

    surely_own: str
    own: str


SALUTATION = re.compile(r"^\s*(?:dear|hi|hello|hey)\s[^,\n]{1,40},\s*$", re.IGNORECASE | re.MULTILINE)
MARKED = re.compile(r"```|~~~|>|\"[^\"]*\"\s*$|“[^“”]*”\s*$", re.MULTILINE)
"""Handed over between marks, which say where it ends. A quotation that is not closed is read up to the next one alone,
and not from each to the end of the message."""
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"[^\n]+")
_CLAUSE_END = re.compile(r"(?<=[.!?…:])\s+|\n")
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|dear|good (?:morning|evening|afternoon)|thanks|thank you|thx|ok|okay|so|well|yes|no|oh)\b"
    r"(?:\s+(?:there|again|all|so much|a lot))?[\s,!.:…-]*)+",
    re.IGNORECASE,
)
TEXT_NOUN = any_of(
    "essay homework assignment story poem bio letter email e-mail mail message post comment article lyrics text",
    "paragraph sentence passage draft song speech caption tweet abstract excerpt chapter transcript resume résumé cv",
    "quote quotation grammar spelling wording english summary diary",
)
_READS = any_of(
    REWORKS,
    "check improve fix review revise rate grade explain",
    r"(?:look|read|go) (?:over|at|through)|have a look at",
)
_END = r"(?=\W*$|,? (?:please|for (?:me|us|spelling|grammar)|into|from|online|now|\w+ly|sound|yesterday|someone)\b)"
_HANDS_OVER = re.compile(
    rf"\b(?:{_READS}|(?:reply|respond) to|{REWORKS} and \w+) this{_END}|\bwhat (?:does|do|did) this (?:mean|say)\b"
    rf"|\b(?:{_READS}|what do you think of|is|are)\s+(?:my|our|this|the|his|her|their)(?: \w+){{0,2}}?"
    rf" {TEXT_NOUN}\b(?! word)"
    rf"|^(?:\w+ )*{REWORKS}{_END}|^{_READS}\b.* (?:this|following):$"
    r"|\b(?:wrote|sent|forwarded|copied|pasted|posted)(?: me| us)? this\b"
    r"|\b(?:got|found|saw|took|copied|pasted|taken) (?:this |these )?(?:from|on) an?"
    rf" (?:forum|blog|web\w*|book|{TEXT_NOUN})\b|^{TEXT_NOUN} check\b"
    rf"|^(?:(?:here|this|the following)(?:'s| is) )?(?:my|an?) (?:\w+ )?{TEXT_NOUN}\b(?=\W*$| (?:\w+ )?of\b)",
    re.IGNORECASE,
)
"""Phrases that hand a text over: ``Is this bio ok?``, ``Fix my essay``, "got this from a forum"."""
_A_TEXT_THEN_IT = re.compile(
    rf"\b(?:an?|my) (?:\w+ )?(?!english\b){TEXT_NOUN}\b[^.?!]*[.!] .*\b{_READS} (?:it|them)\b", re.IGNORECASE
)
_TO_KEEP = re.compile(
    r"^\W*(?:please\s+)?(?:remember|save|store|note|keep|don't forget|do not forget|make a note|update|fyi"
    r"|for the record|important|some)\b|\babout (?:me|myself|us)\b"
    r"|^(?:how are you|(?:can|could) (?:i|you) (?:ask|tell|help)\b.*\b(?:some|a few) ?things?\W*$|let me \w+)",
    re.IGNORECASE,
)
"""Openings of what the user wants to be known, which is their own, and greetings in the form of a question."""


def parts_of(text: str) -> Parts:
    """Cut a message at the first of its paragraphs behind which the user does not go on in words of their own. Only a
    message that begins by asking leaves it unclear: a user who has told of themselves first goes on to do so."""
    unclear_from, told, start = len(text), False, 0
    for blank in _BLANK_LINE.finditer(text):
        paragraph = text[start : blank.start()].strip()
        owner = owner_behind(paragraph)
        if not told:
            unclear_from = min(unclear_from, _line_handed_over(text, start, blank.start()))
        if owner is Owner.ANOTHER and not _says_where_it_ends(text, blank.end()):
            return _cut(text, unclear_from, blank.start())
        if owner is Owner.UNCLEAR and not told:
            unclear_from = min(unclear_from, blank.start())
        told = told or (owner is Owner.USER and bool(_GREETING.sub("", paragraph)))
        start = blank.end()
    if not told:
        unclear_from = min(unclear_from, _line_handed_over(text, start, len(text)))
    return _cut(text, unclear_from, len(text))


def _line_handed_over(text: str, start: int, end: int) -> int:
    """Return where the first line that is no greeting ends, if it hands something over; else the end of the text. A
    mere line break leaves it unclear whose the next line is."""
    for line in _LINE.finditer(text, start, end):
        if _GREETING.sub("", line[0].strip()):
            more = line.end() < end and not _says_where_it_ends(text, line.end() + 1)
            return line.end() if more and owner_behind(line[0]) is Owner.ANOTHER else len(text)
    return len(text)


def _says_where_it_ends(text: str, start: int) -> bool:
    return MARKED.match(text, start) is not None or SALUTATION.match(text, start) is not None


def _cut(text: str, unclear_from: int, end: int) -> Parts:
    return Parts(text[: min(unclear_from, end)], text[:end])


def owner_behind(paragraph: str) -> Owner:
    """Tell who wrote the text behind a paragraph. A greeting, and what the user states, hands nothing over."""
    bare = _GREETING.sub("", paragraph)
    if not bare or len(paragraph) > SHORT or _TO_KEEP.search(bare):
        return Owner.USER
    clauses = [_GREETING.sub("", clause.strip()) for clause in _CLAUSE_END.split(paragraph)]
    if _A_TEXT_THEN_IT.search(bare) or any(map(_HANDS_OVER.search, clauses)):
        return Owner.ANOTHER
    return Owner.UNCLEAR if all(is_question(one) or is_order(one) for one in clauses if one) else Owner.USER
