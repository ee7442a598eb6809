"""Bank account numbers (IBAN, ISO 13616): a country, as many letters and digits as it gives out, and a checksum that
one in 97 numbers has by chance."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.spans import Span

_LENGTHS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "FK", "FO", "GL", "NL", "SD"), 18),
    **dict.fromkeys(("MK", "SI"), 19),
    **dict.fromkeys(("AT", "BA", "EE", "KZ", "LT", "LU", "MN", "XK"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "BH", "CR", "DE", "GB", "GE", "IE", "ME", "RS", "VA"), 22),
    **dict.fromkeys(("AE", "GI", "IL", "IQ", "OM", "SO", "TL"), 23),
    **dict.fromkeys(("AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG"), 24),
    **dict.fromkeys(("LY", "PT", "ST"), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM"), 27),
    **dict.fromkeys(("AL", "AZ", "BY", "CY", "DO", "GT", "HN", "HU", "LB", "NI", "PL", "SV"), 28),
    **dict.fromkeys(("BR", "EG", "PS", "QA", "UA"), 29),
    **dict.fromkeys(("JO", "KW", "MU", "YE"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
    **dict.fromkeys(("LC",), 32),
    **dict.fromkeys(("RU",), 33),
}
"""The lengths of account numbers by country (*given*, SWIFT's registry)."""
_BEGINNING = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ ]?[0-9]{2}(?=[ \t\u00a0\u202f-]{0,2}[A-Za-z0-9])")
_GAPS = frozenset(" \t\u00a0\u202f-")
_MAX_GAP = 2


def find(text: str) -> Iterator[Span]:
    for begun in _BEGINNING.finditer(text):
        length = _LENGTHS.get(begun[0][:2].upper())
        end = _find_end(text, begun.start(), length) if length else None
        if end is not None and _checks(text[begun.start() : end]):
            yield Span(begun.start(), end, "iban")


def _find_end(text: str, start: int, length: int) -> int | None:
    """Find the end of so many letters and digits of ASCII, with gaps between them; None where they are fewer or
    more."""
    at, gap = start, 0
    while length and at < len(text):
        if text[at].isascii() and text[at].isalnum():
            length, gap = length - 1, 0
        elif text[at] in _GAPS and gap < _MAX_GAP:
            gap += 1
        else:
            return None
        at += 1
    longer = at < len(text) and text[at].isalnum()
    return None if length or longer else at


def _checks(written: str) -> bool:
    plain = "".join(sign for sign in written if sign not in _GAPS).upper()
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1
