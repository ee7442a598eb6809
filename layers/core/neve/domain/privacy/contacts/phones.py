"""Telephone numbers: international ones, those of North America, of Germany, Austria and Switzerland, of the United
Kingdom, Ireland and France as they are written there, and any behind a word that says what it is.

Most numbers are no telephone's. Without ``+`` or such a word only the groups of such a country count, and not behind a
word that names another number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.folded import folded
from neve.domain.privacy.labels import UP_TO_NUMBER
from neve.domain.privacy.spans import Span

_DIGITS = re.compile(r"[0-9]")
_BEHIND = r"(?![\w/]|[.,:-]\d)"
"""A number ends here: what follows is no part of the number."""
_BEFORE = r"(?<![\w+./#:$€£=-])"
_CODE = (
    r"(?:1|7|2(?:0|7|[1-689]\d)|3(?:[0-469]|[578]\d)|4(?:[013-9]|2\d)|5(?:[1-8]|[09]\d)|6(?:[0-6]|[789]\d)"
    r"|8(?:[1246]|[0578]\d)|9(?:[0-58]|[679]\d))"
)
"""A country's (*given*, ITU E.164)."""
_SEP = r"[ \t\u00a0\-]?"
_REST = r"(?:[ \t\u00a0.\-/]{0,2}(?:\(\d{1,5}\)|\d)){6,14}"
_INTERNATIONAL = re.compile(rf"(?<![\w+])\(?\+{_SEP}({_CODE})\)?{_REST}{_BEHIND}")
_DIALLED = re.compile(rf"{_BEFORE}00({_CODE})(?=\d*[ \-/(]){_REST}{_BEHIND}")
"""Numbers with ``00`` in front, and a gap somewhere: many ids begin with zeros."""
_NATIONAL = (
    re.compile(  # North America
        rf"{_BEFORE}(?:1[ .\-])?"
        rf"(?:\([2-9]\d\d\)[ \-]?[2-9]\d\d[ .\-]\d{{4}}|[2-9]\d\d([.\-])[2-9]\d\d\1\d{{4}}){_BEHIND}"
    ),
    re.compile(rf"{_BEFORE}0[1-9](?:([ .\-])\d\d)(?:\1\d\d){{3}}{_BEHIND}"),  # France
    re.compile(  # United Kingdom, Ireland
        rf"{_BEFORE}(?:\(0\d{{2,4}}\) ?\d{{3,4}}[ \-]?\d{{3,4}}|0[1-9]\d[ \-]\d{{3,4}}[ \-]\d{{4}}"
        rf"|0[1-9]\d{{2}}[ \-]\d{{3}}[ \-]\d{{4}}|0[17]\d{{3}}[ \-]\d{{5,6}}|0[17]\d{{3}} \d{{3}} \d{{3}}){_BEHIND}"
    ),
    re.compile(  # Germany, Austria, Switzerland
        rf"{_BEFORE}(?:\(0[1-9]\d{{1,4}}\)|0[1-9]\d{{1,4}}) ?[/\-]? ?"
        rf"(?:(?<=[ /)\-])\d{{5,9}}|(?<=[ /)\-])\d{{2,4}}(?:[ \-]\d{{2,4}}){{1,3}}){_BEHIND}"
    ),
)
_NAMED = re.compile(
    r"(?i)\b(?:(?:tele|mobile |cell ?|home |work )?phone|mobile|cell|tel|fax|whatsapp|handy|mobil|telefon|tel[eé]fono"
    r"|t[eé]l[eé]phone|portable|celular|ruf(?=nummer)|(?:call|text|ring|reach|phone) (?:me|us|him|her|them)"
    r"|erreichbar|ruf (?:mich|uns) an|(?:call|dial|ring)(?= [+(]?[0-9])|my (?:new |old )?number|meine (?:neue )?nummer)"
    r"(?:[ \-]?(?:number|no|nr|num|nummer))?"
    rf"(?![a-z]){UP_TO_NUMBER}(?:(?:at|on|under|unter|es|est|lautet|ist)[ :]{{1,2}})?"
    rf"([+(]?\d(?:[ .\-/()]{{0,2}}\d){{6,14}})(?:\)?){_BEHIND}"
)
_NAMED_BY = (
    *("phone", "mobil", "cell", "tel", "fax", "whatsapp", "handy", "portable", "celular", "rufnummer"),
    *("call", "dial", "text", "ring", "reach", "number", "nummer", "erreichbar", "ruf", "tél"),
)
_DATE = re.compile(r"(?:19|20)\d\d[ .\-/]\d\d?[ .\-/]\d\d?|\d\d?[ .\-/]\d\d?[ .\-/](?:19|20)\d\d")
_ANOTHERS = re.compile(
    r"(?i)(?:\b(?:order|invoice|ticket|ref|reference|id|ids|sku|serial|account|acct|isbn|issn|case|batch|lot|part|item"
    r"|seq|version|build|commit|tracking|parcel|flight|room|model|code|zip|plz|port|amount|total|price|usd|eur"
    r"|rechnung|bestellung|auftrag|artikel|konto|vertrag)|(?:rechnungs|auftrags|bestell|kunden|konto|artikel|vertrags"
    r"|serien|sendungs)-?(?:nr|nummer))[\"'`*]{0,2}[ ]?(?:no|nr|num|number|nummer)?[.:#]{0,2}[ \t\"'`*=#]{0,4}$"
)
_LOOKED_BACK = 40
_MIN_INTERNATIONAL, _MAX_DIGITS = 9, 15
_AMERICAN = re.compile(r"1[2-9]\d\d[2-9]\d{6}")


def find(text: str) -> Iterator[Span]:
    if _DIGITS.search(text) is None:
        return
    if "+" in text:
        yield from _international(text, _INTERNATIONAL)
    if "00" in text:
        yield from _international(text, _DIALLED)
    for pattern in _NATIONAL:
        for found in pattern.finditer(text):
            if not _is_date(found[0]) and not _is_other_number(text, found.start()):
                yield Span(*found.span(), "phone")
    small = folded(text)
    for found in _NAMED.finditer(text) if any(word in small for word in _NAMED_BY) else ():
        if not _is_date(found[1]):
            yield Span(*found.span(1), "phone")


def _international(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    for found in pattern.finditer(text):
        digits = _only_digits(found[0])
        digits = digits.removeprefix("00") if pattern is _DIALLED else digits
        if _MIN_INTERNATIONAL <= len(digits) <= _MAX_DIGITS and _may_be_dialled(digits) and not _is_decimal(found[0]):
            yield Span(*found.span(), "phone")


def _only_digits(written: str) -> str:
    return "".join(_DIGITS.findall(written))


def _may_be_dialled(digits: str) -> bool:
    """Say whether the digits may be a telephone number, unlike ``+10 000 000 000``."""
    if digits.startswith("1"):
        return _AMERICAN.fullmatch(digits) is not None
    return not digits.endswith("000000")


def _is_decimal(written: str) -> bool:
    """Say whether it is a decimal number, such as ``+40.712800000``."""
    return written.count(".") == 1 and not any(sign in written for sign in " -/(\t\u00a0")


def _is_date(written: str) -> bool:
    return _DATE.match(written.strip("()")) is not None


def _is_other_number(text: str, start: int) -> bool:
    """Say whether the words before the number say that it is a number of another kind."""
    return _ANOTHERS.search(text[max(0, start - _LOOKED_BACK) : start]) is not None
