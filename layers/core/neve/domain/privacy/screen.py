"""The gate that every text passes before it is fingerprinted, queued, indexed or kept (docs/rules/privacy.md#gate).

Pure, and read once from left to right: 256 KB take some tens of milliseconds whatever they hold. What is found is
replaced by a marker that is never longer than it; a text that holds nothing comes back as it is; a text that was
screened holds nothing."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from neve.domain.privacy.detectors import BETWEEN_BLOCKS, REMOVED, SHORT, Span, find
from neve.domain.tenants.policy import Action, PiiClass
from neve.domain.unseen import UNSEEN

_WIDE = range(0xFF01, 0xFF5F)
_TO_ASCII = 0xFF01 - 0x21
_DASHES = frozenset((*range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63, 0xFF0D))
_LOOKS = 5
"""The number of looks at a text: what is taken out may have hidden what stands beside it: "pin 4821 4111 ..." is one
run of digits until the first are gone. One look more for each text with anything in it, rarely two."""


@dataclass(frozen=True, slots=True)
class Screened:
    """A text without what was found, and how much of each class that was."""

    text: str
    found: Counter[str]


def screen(text: str, classes: Mapping[PiiClass, Action]) -> Screened:
    """Take out of a text what the gate looks for. ``classes``: what to do with each; one that is not named is
    allowed."""
    [left], found = screen_parts([text], classes)
    return Screened(left, found)


def screen_parts(texts: Sequence[str], classes: Mapping[PiiClass, Action]) -> tuple[list[str], Counter[str]]:
    """Screen texts that follow each other, the blocks of one event: also what begins in one and ends in the next is
    found, and taken out of both. Gives as many texts as were given, and the counts. No text holds ``BETWEEN_BLOCKS``,
    as no text of a caller does (docs/rules/http.md#checks)."""
    joined, found = BETWEEN_BLOCKS.join(texts), Counter[str]()
    for _ in range(_LOOKS):
        spans = list(_merged(_spans(joined, classes)))
        if not spans:
            break
        joined = _without(joined, spans)
        found.update(span.kind for span in spans)
    return joined.split(BETWEEN_BLOCKS) if len(texts) > 1 else [joined], found


def blocked(found: Counter[str], classes: Mapping[PiiClass, Action]) -> Counter[str]:
    """Give of what was found what the policy refuses in a record."""
    return Counter({kind: found[kind] for kind, action in classes.items() if action == "block" and found[kind]})


def _spans(text: str, classes: Mapping[PiiClass, Action]) -> Iterator[Span]:
    """Search the text as it is, and as it is read; each block alone, which may begin with the digits that another one
    ends with; and the blocks right beside each other: there only what a border cuts, and where nothing was found, or
    the word behind a secret would go with it."""
    wanted = {kind for kind, action in classes.items() if action != "allow"}
    found = list(_in_text(text, wanted))
    if BETWEEN_BLOCKS not in text:
        yield from found
        return
    start = 0
    for block in text.split(BETWEEN_BLOCKS):
        found += [Span(start + one.start, start + one.end, one.kind) for one in _in_text(block, wanted)]
        start += len(block) + len(BETWEEN_BLOCKS)
    yield from found
    read, places = as_read(text) or (text, range(len(text)))
    left = [n for n, sign in enumerate(read) if sign != BETWEEN_BLOCKS]
    taken = {place for span in found for place in range(span.start, span.end)}
    for span in _as_written("".join(read[n] for n in left), [places[n] for n in left], wanted):
        if BETWEEN_BLOCKS in text[span.start : span.end] and taken.isdisjoint(range(span.start, span.end)):
            yield span


def _in_text(text: str, wanted: set[PiiClass]) -> Iterator[Span]:
    yield from find(text, wanted)
    if (reading := as_read(text)) is not None:
        yield from _as_written(*reading, wanted)


def _as_written(read: str, places: Sequence[int], wanted: set[PiiClass]) -> Iterator[Span]:
    """Find the spans in a text as it is read. ``places``: where the signs of ``read`` stand in the text."""
    return (Span(places[one.start], places[one.end - 1] + 1, one.kind) for one in find(read, wanted))


def as_read(text: str) -> tuple[str, Sequence[int]] | None:
    """Give the text as a reader, a model or a search reads it, and for each of its signs the place where it stands in
    ``text``; None where it is read as it is written. It has no invisible signs, and digits, letters, spaces and dashes
    of another width or script as those of ASCII: ``１２３`` is ``123``."""
    if text.isascii():
        return None
    signs = {code: _plain(code) for code in map(ord, set(text))}
    if all(plain == code for code, plain in signs.items()):
        return None
    read = text.translate(signs)
    if len(read) == len(text):
        return read, range(len(text))
    return read, [place for place, sign in enumerate(text) if signs[ord(sign)] is not None]


def _plain(code: int) -> int | None:
    if code < 0x80:
        return code
    if code in UNSEEN:
        return None
    if code in _DASHES:
        return ord("-")
    if code in _WIDE:
        return code - _TO_ASCII
    sign = chr(code)
    digit = unicodedata.decimal(sign, None)
    if digit is not None:
        return ord("0") + digit
    return ord(" ") if unicodedata.category(sign) == "Zs" else code


def _merged(found: Iterable[Span]) -> Iterator[Span]:
    """Sort the spans and join those that overlap; the joined span is of the class of the longest."""
    last: Span | None = None
    for span in sorted(found, key=lambda s: (s.start, -s.end)):
        if last is not None and span.start < last.end:
            longer = span if span.end - span.start > last.end - last.start else last
            span = replace(longer, start=last.start, end=max(last.end, span.end))
        elif last is not None:
            yield last
        last = span
    if last is not None:
        yield last


def _without(text: str, spans: Sequence[Span]) -> str:
    """Put markers into the text; a border between blocks stays where it is."""
    pieces, end = [], 0
    for span in spans:
        parts = text[span.start : span.end].split(BETWEEN_BLOCKS)
        pieces += [text[end : span.start], BETWEEN_BLOCKS.join(marker(len(part)) for part in parts)]
        end = span.end
    return "".join([*pieces, text[end:]])


def marker(length: int) -> str:
    """Give what stands for so many characters; never more of them."""
    if length >= len(REMOVED):
        return REMOVED
    return SHORT if length >= len(SHORT) else "*" * length


def metrics(verb: str, counts: Mapping[str, int]) -> dict[str, int]:
    """Make metrics of counts: ``{"card_number": 2}`` as the metric ``PiiRedactedCardNumber`` of 2, with the verb
    ``Redacted``."""
    return {f"Pii{verb}{''.join(part.title() for part in kind.split('_'))}": n for kind, n in counts.items()}
