"""Postal addresses as they are written in English and German: a house number and a street that says that it is one,
with flat, town and postcode where these follow; a post box; in German also any street before a postcode and a town.

A street alone is none, nor is a town: what is found has the number of a house."""

from __future__ import annotations

import re
from collections.abc import Iterator

from neve.domain.privacy.spans import Span

_BREAK = r"(?:,[ \t]?\n?|[ \t]?\n|[ \t])[ \t]{0,2}"
_CAPITALS = r"A-ZÀ-ÖØ-ÞĄĆČĎĘĚĞİŁŃŇŘŚŠŤŮŹŻŽ"
_WORD = rf"[{_CAPITALS}][\w'’.\-]{{0,24}}"
_TOWN = rf"{_WORD}(?: (?:{_WORD}|on|upon|of|am|an|der|im|in|bei|ob|de|la|le)){{0,4}}"
_STREETS = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Terrace|Ter|Place|Pl|Way|Close"
    r"|Crescent|Cres|Gardens|Gdns|Row|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Trail|Trl|Mews|Quay|Alley|Grove|Walk)"
)
_POSTCODE = (
    r"(?:[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}"  # United Kingdom
    r"|[A-Z][0-9][0-9W] ?[A-Z0-9]{4}"  # Ireland
    r"|(?:[A-Z]{2} )?[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9]"  # Canada
    r"|(?:[A-Z]{2,3},? )?[0-9]{5}(?:-[0-9]{4})?|[A-Z]{2,3} [0-9]{4})(?![\w-])"  # United States, Australia
)
_UNIT = r"(?:[Aa]pt|[Aa]partment|[Ss]uite|[Ss]te|[Uu]nit|[Ff]lat|[Rr]oom|[Ff]loor|#)\.? ?#?[0-9A-Za-z\-]{1,6}"
_ENGLISH = re.compile(
    rf"(?<![\w$€£.,/#\-])(?:{_UNIT}{_BREAK})?(?<!the )(?<!The )[0-9]{{1,5}}[A-Za-z]?(?:[\-/][0-9]{{1,5}}[A-Za-z]?)? "
    rf"(?:(?:North|South|East|West|N|S|E|W|NE|NW|SE|SW)\.? )?"
    rf"(?:(?:{_WORD}|[0-9]{{1,3}}(?:st|nd|rd|th)) ){{1,4}}?{_STREETS}\b\.?(?: (?:NE|NW|SE|SW|N|S|E|W)\b)?"
    rf"(?:{_BREAK}{_UNIT})?(?:(?:{_BREAK}{_TOWN}){{1,2}}{_BREAK}{_POSTCODE}|{_BREAK}{_POSTCODE})?"
)
_BROADWAY = re.compile(rf"(?<![\w$€£.,/#\-])[0-9]{{1,5}} Broadway\b(?:{_BREAK}{_TOWN})?(?:{_BREAK}{_POSTCODE})?")
_BOX = re.compile(
    rf"(?i:\bp\.? ?o\.? ?box|\bpostfach|\bpost office box) [0-9][0-9 ]{{0,7}}(?<! )"
    rf"(?:{_BREAK}{_TOWN}{_BREAK}{_POSTCODE}|{_BREAK}(?:[A-Z]{{1,2}}-)?[0-9]{{4,5}} {_TOWN})?"
)
_HOUSE = r"[0-9]{1,4} ?[a-hA-H]?(?:[ ]?[\-–/+][ ]?[0-9]{1,4} ?[a-hA-H]?)?(?![\w%€.,]*\d)(?!\w)"
_PLZ = rf"(?:{_BREAK}(?:(?:D|A|CH|DE|AT)-)?[0-9]{{4,5}} {_TOWN})"
_NO_STREET = r"(?!Bundes|Landes|Kreis|Staats|Milch|Seiden|Wasch|Daten|Fertigungs|Produktions|Transport|Wasser)"
_GERMAN = re.compile(
    rf"(?<![\w-])(?:{_NO_STREET}[{_CAPITALS}][\wäöüß\-]{{1,30}}(?:straße|strasse|str\.|gasse|allee|chaussee)"
    rf"|(?:{_WORD}[ \-]){{1,3}}(?:Straße|Strasse|Str\.|Gasse|Allee|Chaussee)) {_HOUSE}{_PLZ}?"
)
_OFTEN_ANOTHER = (
    r"(?:platz|weg|ring|damm|ufer|markt|berg|hof|steig|stieg|tor|feld|kamp|wall|graben|brücke|winkel|kai|promenade)"
)
"""Endings of many streets, and of words of another kind."""
_WITH_TOWN = re.compile(
    rf"(?<![\w-])(?:[{_CAPITALS}][\wäöüß\-]{{1,30}}{_OFTEN_ANOTHER}"
    rf"|(?:{_WORD}[ \-]){{1,3}}(?i:{_OFTEN_ANOTHER})|(?:Straße|Platz|Allee) (?:des|der) (?:[0-9]{{1,2}}\. )?{_WORD}"
    rf"|(?:Am|An|Auf|Im|In|Unter|Zum|Zur|Bei|Beim|Hinter|Vor|Alte[rsnm]?|Neue[rsnm]?|Große[rsnm]?|Kleine[rsnm]?|Obere[rsnm]?)"
    rf"(?: (?:den|der|dem|die|das|{_WORD})){{1,4}}) {_HOUSE}{_PLZ}"
)
_EACH = (_ENGLISH, _BROADWAY, _BOX, _GERMAN, _WITH_TOWN)
_DIGIT = re.compile("[0-9]")


def find(text: str) -> Iterator[Span]:
    if _DIGIT.search(text) is None:
        return
    for pattern in _EACH:
        for found in pattern.finditer(text):
            end = found.end() - text.endswith(".", found.start(), found.end())
            yield Span(found.start(), end, "address")
