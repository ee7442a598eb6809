"""Finds the words of a text that name something (docs/rules/observe.md#distinctive-words): addresses, ids, numbers that
are no dates, names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from neve.domain.words import QUERY_STOP_WORDS, fold, folded_word, plain_words

LEAST_DIGITS = 2
"""The fewest digits of a number that tells anything (*chosen*): any list that a tool prints holds the single digits."""
SQUEEZED = 8
"""Characters from which a number is the same whatever blanks group it, as in an IBAN or a phone number (*chosen*)."""
ACRONYM = 5
"""Letters up to which a word in capitals is taken for a term, as PDF and JSON are (*chosen*)."""
_INFLECTED = 2
"""Letters that inflection may add to a name or a noun (*chosen*)."""

# --- what is looked through -----------------------------------------------------------------------

_GROUPED = re.compile("(?<=\\d)[.'’\u00a0\u202f](?=\\d{3}(?!\\d))")
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?!\d)")
_THOUSANDS = re.compile(r"(?<![\w.,])(\d{1,6})k\b", re.IGNORECASE)
_DIGITS_END = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")
_SPELT_OUT = re.compile(r" ?[(\[{] ?(at|dot) ?[)\]}] ?", re.IGNORECASE)


def _plain(text: str) -> str:
    """Write thousands in one piece, and ``ann (at) example`` as the address that it is."""
    text = _SPACED.sub(lambda found: found[0].replace(" ", ""), _GROUPED.sub("", text))
    text = _THOUSANDS.sub(r"\g<1>000", text)
    return _SPELT_OUT.sub(lambda found: "@" if found[1].lower() == "at" else ".", text)


def _words(text: str) -> str:
    """Give the plain words between single blanks, figures apart from letters: ``INV-17`` and ``inv17`` are ``inv
    17``."""
    return _DIGITS_END.sub(" ", " ".join(plain_words(_plain(text))))


@dataclass(frozen=True)
class Spoken:
    """Holds the texts in which words are looked for."""

    texts: tuple[str, ...]

    @cached_property
    def _words(self) -> str:
        """Give the words, and behind them in figures the numbers that are spelt out."""
        words = "".join(f" {_words(text)} |" for text in self.texts)
        return f"{words} {' | '.join(_spelt(words.split()))} "

    @cached_property
    def _squeezed(self) -> str:
        return self._words.replace(" ", "")

    def hold(self, key: str) -> bool:
        """Tell whether the words of the key stand there in a row."""
        if f" {key} " in self._words:
            return True
        squeezed = key.replace(" ", "")
        return len(squeezed) >= SQUEEZED and any(map(str.isdigit, squeezed)) and squeezed in self._squeezed

    def hold_inflected(self, key: str) -> bool:
        """Tell whether a word stands there with any ending."""
        stem = key[:-_INFLECTED] if len(key) >= 3 * _INFLECTED else key
        return re.search(rf" {re.escape(stem)}\w{{0,{2 * _INFLECTED}}} ", self._words) is not None

    def hold_inside(self, word: str) -> bool:
        """Tell whether the word stands there as it is written, inside a sentence or at the start of a value or a
        cell."""
        inside = re.compile(rf"(?:[^\W_][ ,'\"(\[*_`“„«]+|\":\s*\"|\|\s*){re.escape(word)}(?![^\W_])")
        return any(inside.search(fold(text)) for text in self.texts)


_UP_TO_TWENTY = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = dict(zip(_UP_TO_TWENTY.split(), range(1, 20), strict=True)) | dict(
    zip(_TENS.split(), range(20, 100, 10), strict=True)
)
_SCALES = {"thousand": 1_000, "million": 1_000_000}


def _spelt(words: Iterable[str]) -> Iterator[str]:
    """Give the English numbers among the words, in figures."""
    total = part = 0
    for word in (*words, ""):
        if word in _NUMBERS:
            part += _NUMBERS[word]
        elif word == "hundred":
            part = max(part, 1) * 100
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        elif not (word == "and" and (part or total)):
            if part or total:
                yield str(total + part)
            total = part = 0


# --- the words of a text --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Distinctive:
    """Says by what a word is known again. ``keys``: the whole of it first, then what alone would tell where it comes
    from. ``unsure``: as it is written, where it begins a sentence and may be any word. ``name``: it may be
    inflected."""

    keys: tuple[str, ...]
    unsure: str | None = None
    name: bool = False

    def stands_in(self, spoken: Spoken) -> bool:
        """Tell whether it was said there, be it in another form: nobody else has to have said it then."""
        whole_key = self.keys[0]
        return spoken.hold(whole_key) or (self.name and spoken.hold_inflected(whole_key))

    def comes_from(self, spoken: Spoken) -> bool:
        """Tell whether it stands there as the name of something."""
        if not any(map(spoken.hold, self.keys)):
            return False
        return self.unsure is None or spoken.hold_inside(self.unsure)


_TOKEN = re.compile(
    r"(?P<url>(?:[a-z][a-z0-9+.-]{1,20}://|www\.)[^\s<>\"'`)\]}|]+)|(?P<chunk>[^\W_]+(?:[_./\\@#+'-]+[^\W_]+)*)",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:[^\W_][\w-]*\.)+[^\W\d_]{2,}(?:/\S*)?", re.IGNORECASE)
_QUANTITY = re.compile(r"(\d+(?:[.,]\d+)*)[^\W\d_]{1,3}")
_CAMEL = re.compile(r"(?<=[^\W\d_A-Z])[A-Z]")
_ENDS = re.compile(r"[.!?:;…\n|•·*>#{}–—]| - ")
"""Marks between two words behind which a capital says nothing."""

_MONTHS = (
    "january february march april may june july august september october november december jan feb mar apr jun jul aug"
    " sep sept oct nov dec januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet"
    " août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre"
    " noviembre diciembre"
)
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun montag"
    " dienstag mittwoch donnerstag freitag samstag sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi"
    " dimanche lunes martes miércoles jueves viernes sábado domingo"
)
_SUBJECTS = "user users assistant nutzer nutzerin benutzer anwender utilisateur usuario i'm i've i'll i'd ok okay yes"
_NOT_NAMES = frozenset(f"{_MONTHS} {_DAYS} {_SUBJECTS}".split()) | QUERY_STOP_WORDS
_BEFORE_NAMES = "mr mrs ms dr prof st herr frau mme"
_TITLES = frozenset(_BEFORE_NAMES.split())
_OF_GERMAN = (
    "der das und ist nicht eine einen einem einer mit für auf wird werden soll möchte seine seinen seiner ihre ihren"
    " beim zum zur dem bei nach über nutzer nutzerin benutzer"
)
_GERMAN = frozenset(_OF_GERMAN.split())
"""Words of a language that writes all its nouns with capitals, and of no other that is common."""

_MONTH = f"(?:{'|'.join(_MONTHS.split())})"
_DATE = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b"
    rf"|(?<![\w.])\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?{_MONTH}\b(?:,?\s+\d{{4}}\b)?"
    rf"|\b{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}}\b)?"
    r"|(?<![\w./-])\d{1,2}(?P<by>[./-])\d{1,2}(?P=by)(?:(?:19|20)\d\d|\d\d)?(?![\w/-]|\.\d)"
    r"|(?<![\w./-])\d{1,2}/\d{1,2}(?![\w/-])"
    r"|(?<![\w.:])\d{1,2}:\d\d(?::\d\d)?(?:\s*[ap]\.?m\b)?|(?<![\w.:])\d{1,2}(?:\.\d\d)?\s*(?:[ap]\.?m|uhr|o'clock)\b"
    r"|(?<![\w.,-])(?:19|20)\d\d(?![\w-]|[.,]\d)|\b\d{1,2}(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
"""Days, years and times of the day. A model may have worked them out."""


def distinctive_words(text: str) -> Iterator[Distinctive]:
    """Find what in the text names something, in its order."""
    text = _DATE.sub("x", fold(_plain(text)))
    tokens = list(_TOKEN.finditer(text))
    german = not _GERMAN.isdisjoint(token[0].casefold() for token in tokens)
    figures: list[str] = []
    for n, token in enumerate(tokens):
        gap = text[tokens[n - 1].end() : token.start()] if n else "\n"
        if not any(map(str.isdigit, token[0])):
            yield from _in_figures(figures)
            figures = []
            yield from _word(text, tokens, n, gap, german=german)
            continue
        if gap not in (" ", "-"):
            yield from _in_figures(figures)
            figures = []
        figures.append(token[0])
        yield from _with_digits(token)
    yield from _in_figures(figures)
    yield from (Distinctive((number,)) for number in _spelt(_words(text).split()) if len(number) >= LEAST_DIGITS)


def _in_figures(groups: list[str]) -> Iterator[Distinctive]:
    """Take several groups for one number."""
    if len(groups) > 1:
        yield Distinctive((_words(" ".join(groups)),))


def _with_digits(token: re.Match[str]) -> Iterator[Distinctive]:
    said = token[0]
    if token["url"] or "@" in said:
        yield _address(said)
        return
    quantity = _QUANTITY.fullmatch(said)
    key = _words(quantity[1] if quantity else said)
    if sum(map(str.isdigit, said)) >= LEAST_DIGITS or not (quantity or key.isdigit()):
        yield Distinctive((key,))


def _word(text: str, tokens: list[re.Match[str]], n: int, gap: str, *, german: bool) -> Iterator[Distinctive]:
    token = tokens[n]
    said = token[0]
    if token["url"] or "@" in said or _HOST.fullmatch(said):
        yield _address(said)
    elif "_" in said or gap[-1:] in ("@", "#", "/", "\\"):
        yield Distinctive((_words(said),))
    elif _may_be_name(said):
        initial = _begins(gap, tokens[n - 1][0] if n else "")
        key, camel = _words(folded_word(said)), _CAMEL.search(said) is not None
        if camel or (not initial and not german):
            yield Distinctive((key,), name=True)
        elif german:
            if not initial and _beside_another(text, tokens, n):
                yield Distinctive((key,), name=True)
        else:
            yield Distinctive((key,), unsure=said, name=True)


def _address(said: str) -> Distinctive:
    bare = re.sub(r"^(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?", "", said.rstrip(".,;:!?"), flags=re.IGNORECASE)
    host = re.split(r"[/?#]", bare.rpartition("@")[2])[0]
    return Distinctive(tuple(dict.fromkeys([_words(bare), *([_words(host)] if "." in host else ())])))


def _may_be_name(said: str) -> bool:
    if folded_word(said) in _NOT_NAMES or len(said) < 2 or said.islower():
        return False
    return not (said.isupper() and sum(map(str.isalpha, said)) <= ACRONYM)


def _begins(gap: str, before: str) -> bool:
    """Tell whether a word behind this gap begins a sentence."""
    title = before.casefold() in _TITLES or (len(before) == 1 and before.isupper())
    return _ENDS.search(gap) is not None and not (title and gap.strip() == ".")


def _beside_another(text: str, tokens: list[re.Match[str]], n: int) -> bool:
    """Tell whether two words with capitals stand side by side, as a name's do: ``Keller GmbH``, ``Frau Keller``."""
    return (n > 0 and _are_one_name(text, tokens, n - 1, other=n - 1)) or (
        n + 1 < len(tokens) and _are_one_name(text, tokens, n, other=n + 1)
    )


def _are_one_name(text: str, tokens: list[re.Match[str]], first: int, *, other: int) -> bool:
    """Tell whether the word and the one behind it are. What begins a sentence is no part of one, but for a title."""
    if text[tokens[first].end() : tokens[first + 1].start()] not in (" ", ". "):
        return False
    before, beside = tokens[first][0], tokens[other][0]
    gap = text[tokens[first - 1].end() : tokens[first].start()] if first else "\n"
    if before.casefold() not in _TITLES and _begins(gap, tokens[first - 1][0] if first else ""):
        return False
    return beside.casefold() in _TITLES or (beside[:1].isupper() and _may_be_name(beside))
