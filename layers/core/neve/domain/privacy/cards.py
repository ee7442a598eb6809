"""Payment card numbers: digits that a network issues, with a valid check digit (Luhn), in groups as people write them.

A run of digits is read whole, in whatever groups, and in parts that are grouped as on a card. Of a long number, a part
is never taken: a serial number of 30 digits holds no card, nor does a sum or an id of 32 hex digits or more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.check_digits import check_digit_is_valid
from neve.domain.privacy.folded import folded
from neve.domain.privacy.labels import UP_TO_NUMBER
from neve.domain.privacy.spans import Span

BLOCKS = "\x1f"
"""Stands between the blocks of one event while they are read together."""

_GAP = rf"[ \t\u00a0\u2007\u2009\u202f\-\u2010-\u2015{BLOCKS}]{{1,3}}"
# Not the decimals of a number: 0.4111111111111111 is none. The digit comes first, what may not stand before it behind:
# digits are found far quicker than places.
_RUN = re.compile(rf"\d(?<![0-9][.,]\d)(?<!\d\d)\d*(?:{_GAP}\d+)*")
_POINTED = re.compile(
    r"\d(?<![0-9][.,]\d)(?<!\d\d)"
    r"(?:\d{3}(\.|%20)\d{4}(?:\1\d{4}){2}(?:\1\d{3})?|\d{3}(\.|%20)\d{6}\2\d{4,5})(?![.,]?\d)"
)
"""Points, and spaces as an address has them, stand in many numbers that are no cards: only as a card is printed."""
_HEX = re.compile(
    r"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{32,}|[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f]))"
)
"""MD5, SHA-1, SHA-256, and UUIDs with their dashes or without: one in some thousands has the digits of a card."""
_GROUP = re.compile(r"\d+")
_DIGIT = re.compile(r"\d")
_MIN_DIGITS, _MAX_DIGITS = 13, 19

_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})"  # Visa
    r"|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-5]|095|[689]\d)\d{11,13}"  # Diners
    r"|35(?:2[89]|[3-8]\d)\d{12,15}"  # JCB
    r"|220[0-4]\d{12,15}"  # Mir
    r"|(?:50|5[6-9]|6\d)\d{14,17}"  # Maestro, Discover, UnionPay
)
"""The numbers that are issued, by the ranges that ISO/IEC 7812 gives to networks, and the lengths that these issue.
Without them a tenth of all long numbers, times in milliseconds among them, would pass for a card."""

_PRINTED = frozenset(
    {
        *((n,) for n in range(_MIN_DIGITS, _MAX_DIGITS + 1)),
        *((4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4), (4, 4, 4, 1), (6, 13), (8, 8), (4, 12), (6, 10)),
    }
)
"""The numbers of digits that the groups of a card have; (n,) is one without gaps."""
_FIRST = frozenset(sizes[0] for sizes in _PRINTED)
_MAX_GROUPS = max(map(len, _PRINTED))

_SECURITY_CODE = re.compile(rf"(?i)\b(?:cvv2?|cvc2?|security code)\b{UP_TO_NUMBER}(\d{{3,4}})\b")

_SECURITY_CODE_BY = ("cvv", "cvc", "security code")


def find(text: str) -> Iterator[Span]:
    if _DIGIT.search(text) is None:
        return
    text = _HEX.sub(lambda run: "x" * len(run[0]), text)
    for run in _RUN.finditer(text):
        if run.end() - run.start() >= _MIN_DIGITS:
            yield from _Run(text, *run.span()).cards()
    for pointed in _POINTED.finditer(text):
        if _is_card_number(re.sub(r"%20|\.", "", pointed[0])):
            yield Span(*pointed.span(), "card_number")
    small = folded(text)
    for code in _SECURITY_CODE.finditer(text) if any(word in small for word in _SECURITY_CODE_BY) else ():
        yield Span(*code.span(1), "card_number")


class _Run:
    """Groups of digits with gaps between. What is left of it on either side of a card is read like a run of its own."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._groups = [group.span() for group in _GROUP.finditer(text, start, end)]
        self._sizes = tuple(last - first for first, last in self._groups)

    def cards(self) -> Iterator[Span]:
        begin, end = 0, len(self._groups)
        while begin < end:
            if self._is_card(begin, end):
                yield self._span(begin, end)
                return
            at, behind = self._find_grouped_card(begin)
            if behind > at and self._is_card(begin, at):
                yield self._span(begin, at)
            if behind > at:
                yield self._span(at, behind)
            begin = behind

    def _find_grouped_card(self, begin: int) -> tuple[int, int]:
        """Find from where to where the first card is that is grouped as one; the end twice when there is none."""
        for at in range(begin, len(self._groups)):
            if self._sizes[at] not in _FIRST:
                continue
            for behind in range(min(at + _MAX_GROUPS, len(self._groups)), at, -1):
                if self._sizes[at:behind] in _PRINTED and self._is_card(at, behind):
                    return at, behind
        return len(self._groups), len(self._groups)

    def _is_card(self, begin: int, end: int) -> bool:
        sizes = self._sizes[begin : min(end, begin + _MAX_DIGITS + 1)]
        if not _MIN_DIGITS <= sum(sizes) <= _MAX_DIGITS:
            return False
        return _is_card_number("".join(self._text[start:end] for start, end in self._groups[begin:end]))

    def _span(self, begin: int, end: int) -> Span:
        return Span(self._groups[begin][0], self._groups[end - 1][1], "card_number")


def _is_card_number(written: str) -> bool:
    digits = written if written.isascii() else "".join(str(int(digit)) for digit in written)
    return _ISSUED.fullmatch(digits) is not None and check_digit_is_valid(digits)
