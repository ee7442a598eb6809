"""Words of a text: the one tokeniser that query shaping and the keyword index agree on. No I/O.

A *chunk* is one of three things. A run of letters and digits, joined by the marks that hold code, paths, versions and
names together (``neve/scope.py``, ``v2.19.1``, ``snake_case``, ``o'brien``); it gives its whole form and, when it is a
compound, its parts. A run of a script that is read by pairs of characters, because it puts no spaces between words
(Chinese, Japanese, Thai, Lao, Khmer, Burmese) or glues particles to them (Korean). An emoji."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import Final

from neve.domain.unseen import UNSEEN

# --- alphabets ----------------------------------------------------------------------------------

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
_SOUTH_EAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
"""Letters and marks of Thai, Lao, Burmese and Khmer."""
_BY_PAIRS = _HAN + _KANA + _HANGUL + _SOUTH_EAST
_SOUTH_EAST_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u17b6-\u17d3"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0971-\u0dff"
    "\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\ufe20-\ufe2f"
)
"""The signs that may stand inside a word though it is no letter: accents, vowel signs. Of the Indian scripts, whole
blocks."""
_EMOJI = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u2775\u2794-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001f0ff"
    "\U0001f18e\U0001f191-\U0001f19a\U0001f300-\U0001f3fa\U0001f400-\U0001faff"
)
_FLAG = "[\U0001f1e6-\U0001f1ff]{1,2}"

_LETTERS = rf"[^\W_{_BY_PAIRS}]+"
_RUN = rf"{_LETTERS}(?:[{_MARKS}]++(?:{_LETTERS})?)*"
_OTHER = rf"[{_EMOJI}]|{_FLAG}"
_JOINED = r"{run}(?:[_./\\:@#+&=~'-]+{run})*(?:\+\+|#)?"
_CHARACTER = rf"[{_BY_PAIRS}][{_SOUTH_EAST_MARKS}]*"
_FIRST_BY_PAIRS = "\u0e01"
_CHUNK = rf"{_JOINED.format(run=_RUN)}|[{_BY_PAIRS}]+|{_OTHER}"
_PLAIN = rf"{_RUN}(?:'{_RUN})*|{_CHARACTER}|{_OTHER}"
_ASCII_CHUNK = re.compile(_JOINED.format(run="[A-Za-z0-9]+"))
_ASCII_PLAIN = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
"""A pattern of what ``_CHUNK`` and ``_PLAIN`` find in ASCII, in half the time."""
_ANY_EMOJI = re.compile(_OTHER)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
"""Begins with its comma: commas are found thirty times as fast as digits looked behind at every place."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern with the first text that needs it: these take 3 to 10 ms each, and most processes never read
    such a text."""
    return re.compile(pattern)


_NOT_READ: Final = (*UNSEEN, *range(0x1F3FB, 0x1F400))
"""Zero-width and other invisible characters, and the skin tones of emoji."""

_STROKED: Final = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ł": "l", "ŧ": "t", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
"""Letters whose mark Unicode does not take for an accent."""
_PREPARED: Final = str.maketrans(
    dict.fromkeys(map(chr, _NOT_READ), "")
    | dict.fromkeys("’ʼ´", "'")
    | {"ŉ": "'n", "⁄": "/", "…": " ", "™": " ", "℠": " "}
    | {c: f" {unicodedata.normalize('NFKC', c).replace('⁄', '/')}" for c in "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅟↉"}
)
"""Replaces what NFKC alone would join to a neighbour: ``2½`` must not become ``21/2``, nor ``well…no`` a compound."""

_ONE_SPELLING: Final = str.maketrans(
    dict.fromkeys("أإآٱ", "ا")
    | {"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ँ": "ं"}
    | dict.fromkeys([*map(chr, (0x640, 0x670, *range(0x64B, 0x660), *range(0x6D6, 0x6DD))), "\u093c"], "")
)
"""The spellings of one Arabic or Hindi word: alef and ya with and without their signs, the feminine ending, the
stretched line, vowel signs; the dot below a letter, and one sign of nasal vowels for the other."""
_IN_SPELLINGS = re.compile("[\u0622-\u06dc\u0901\u093c]")

# --- words without content ----------------------------------------------------------------------

_WITHOUT_CONTENT = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing done down during each either else ever few for from further get gets getting got had has
have having he her here hers herself him himself his how however i if in into is it its itself just kind let like lot
many maybe me mean might more most much must my myself no nor not now of off often on once one only onto or other our
ours ourselves out over own please quite rather really same shall she should so some something still such sure tell than
that the their theirs them themselves then there these they thing things this those though through thus to together too
toward towards under until up upon us very want was we well were what when where whether which while who whom whose why
will with within without would yes yet you your yours yourself yourselves
ain't aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't isn't let's mustn't needn't shouldn't
wasn't weren't won't wouldn't i'm i've i'll i'd you're you've you'll you'd he'll he'd she'll she'd we're we've we'll
we'd
we'd they're they've they'll they'd it'll it'd that'll that'd who'll who'd what'll what're how're there'll there're
"""
QUERY_STOP_WORDS = frozenset(_WITHOUT_CONTENT.split())
"""Words that carry no content in a query."""

NAMES_IN_CAPITALS = frozenset({"can", "it", "us", "who", "will"})
"""Stop words that are names when written with a capital inside a sentence (Will, the US, the WHO)."""

_TOO_COMMON = """
a an and are as at be but by for if in into is it of on or such that the their then there these they this to was with
"""
INDEX_STOP_WORDS = frozenset(_TOO_COMMON.split())
"""Words that the keyword index does not hold: those of Lucene's ``english`` analyzer but for no, not and will."""


# --- from text to words -------------------------------------------------------------------------


def fold(text: str) -> str:
    """Write a text in NFKC without invisible characters, with straight apostrophes and no thousands separators
    (``5,000`` -> ``5000``), Arabic and Hindi in one spelling; case is kept. What is folded stays as it is when it is
    folded again."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_PREPARED))
        if _IN_SPELLINGS.search(text):
            text = text.translate(_ONE_SPELLING)
    return _THOUSANDS.sub("", text) if "," in text else text


def chunks(folded: str) -> list[str]:
    """Give the chunks of a folded text, in order, case kept."""
    return (_ASCII_CHUNK if folded.isascii() else _compiled(_CHUNK)).findall(folded)


def plain_words(text: str) -> list[str]:
    """Give the lower-case words without accents, every compound taken apart: what "consecutive words" of a phrase
    means. A character of a script that is read by pairs is a word, and so is an emoji."""
    folded = fold(text)
    if folded.isascii():
        return [folded_word(word) for word in _ASCII_PLAIN.findall(folded)]
    return [without_accents(folded_word(word)) for word in _compiled(_PLAIN).findall(folded)]


def content_words(text: str) -> frozenset[str]:
    """Give the plain words of a text that carry content."""
    return frozenset(plain_words(text)) - QUERY_STOP_WORDS


def folded_word(chunk: str) -> str:
    """Give the chunk as one case-folded word without the possessive: ``Henrike's`` -> ``henrike``, ``Straße`` ->
    ``strasse``."""
    if chunk.isascii():
        return chunk.lower().removesuffix("'s")
    return unicodedata.normalize("NFKC", chunk.casefold()).removesuffix("'s")


def parts(chunk: str) -> list[str]:
    """Give the case-folded parts of a compound, in order and each once; empty for a plain word."""
    if chunk.isalpha() and chunk[1:].islower():
        return []
    found: list[str] = []
    for run in (_ASCII_PLAIN if chunk.isascii() else _compiled(_PLAIN)).findall(chunk):
        found.append(folded_word(run))
        humps = _CAMEL.split(run) if run.isascii() and not run.islower() else ()
        if len(humps) > 1:
            found.extend(hump.lower() for hump in humps if len(hump) > 1)
    whole_form = folded_word(chunk)
    return [part for part in dict.fromkeys(found) if part != whole_form]


def without_accents(word: str) -> str:
    """Give a case-folded word without its accents, Arabic and Hebrew vowel points included: ``café`` -> ``cafe``. Vowel
    signs of other scripts are letters and stay, and so do the marks of kana."""
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFD", word.translate(_STROKED))
    return unicodedata.normalize("NFC", "".join([letter for letter in letters if not _is_accent(letter)]))


def _is_accent(character: str) -> bool:
    """Tell an accent by its canonical combining class: 1 lies over its letter, 10 to 35 are the points of Hebrew and
    Arabic, from 200 on it is attached or stands above or below. Those between belong to the scripts of India and South
    East Asia, and 8 to kana."""
    place = unicodedata.combining(character)
    return place >= 200 or 10 <= place <= 35 or place == 1


def characters(chunk: str) -> list[str]:
    """Give the characters, with their marks, of a chunk that is read by pairs; empty for any other."""
    return _compiled(_CHARACTER).findall(chunk) if chunk[:1] >= _FIRST_BY_PAIRS else []


def pairs(single: list[str]) -> list[str]:
    """Pair every two neighbours; a character that stands alone is its own."""
    if len(single) == 1:
        return single
    return [first + second for first, second in pairwise(single)]


def is_emoji(chunk: str) -> bool:
    return not chunk.isascii() and _ANY_EMOJI.fullmatch(chunk) is not None
