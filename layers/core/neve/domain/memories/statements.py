"""Splits a text into its statements: a fact is one (docs/rules/facts.md#statement). Linear in the text's length."""

from __future__ import annotations

import re
import unicodedata

_END = re.compile(
    r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++(?=\S)"
    r"|(?<![。！？])[。！？]++[」』”’)]*+\s*+(?=\S)"
    r"|(?<!\s)[^\S\n]*+\n\s*+(?=\S)"
)
"""Ends of statements; each begins where its run of signs does: tried at every sign, a page of dots would be read once
for each of them."""
_ABBREVIATION = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|approx|inc|ltd|co|corp|no|nr|ca|mt|dept|ave|rd|jan|feb|mar|apr|jun|jul|aug"
    r"|sept?|oct|nov|dec|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k|d\.c|ph\.d|bzw|z\.b|u\.a)\.$",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?:^|[\s(])\w\.$")
_NAME = re.compile(r"\w{2,}")
_BESIDE = 64
"""Characters on either side of a mark that tell what it is of."""


def normalised(text: str) -> str:
    """Give a text in NFC and without white space around it."""
    return unicodedata.normalize("NFC", text).strip()


def statements(text: str) -> list[str]:
    """Split a text into its sentences and lines, in order. It is not split behind an abbreviation, an initial before a
    name, or where a sentence runs on in lower case: two that are taken for one are kept together, but one that is cut
    in two would be kept as something that was never said."""
    text = normalised(text)
    found: list[str] = []
    start = 0
    for end in _END.finditer(text):
        if not _runs_on(text, start, end):
            found.append(text[start : end.end()].strip())
            start = end.end()
    return [part for part in (*found, text[start:].strip()) if part]


def _runs_on(text: str, start: int, end: re.Match[str]) -> bool:
    if "\n" in end[0] or end[0][0] in "。！？":
        return False
    stop = len(end[0].rstrip()) + end.start()
    return text[end.end()].islower() or ends_in_abbreviation(text, start, stop, end.end())


def ends_in_abbreviation(text: str, start: int, stop: int, behind: int) -> bool:
    """Say whether the mark at the end of ``text[start:stop]`` is that of an abbreviation, or of an initial before a
    name. ``behind``: where the text goes on."""
    before = text[max(start, stop - _BESIDE) : stop]
    if _ABBREVIATION.search(before):
        return True
    return _INITIAL.search(before) is not None and _NAME.search(text, behind, behind + _BESIDE) is not None
