"""The gate that every text passes before it is fingerprinted, queued, indexed or kept (docs/rules/privacy.md#gate).

Pure, and read once from left to right: 256 KB take some tens of milliseconds whatever they hold. What is found is
replaced by a marker that is never longer than it; a text that holds nothing comes back as it is; a text that was
screened holds nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from neve.domain.privacy import api_keys, cards, medical_records, passwords, us_numbers
from neve.domain.privacy.classes import Action, PiiClass
from neve.domain.privacy.contacts import addresses, emails, ibans, phones
from neve.domain.privacy.reading import as_read
from neve.domain.privacy.spans import Span, marker, merged

_FIND: Mapping[PiiClass, Callable[[str], Iterator[Span]]] = {
    "card_number": cards.find,
    "ssn": us_numbers.find,
    "password": passwords.find,
    "api_key": api_keys.find,
    "medical_record_number": medical_records.find,
    "phone": phones.find,
    "email": emails.find,
    "iban": ibans.find,
    "address": addresses.find,
}
BETWEEN_BLOCKS = cards.BLOCKS
_LOOKS = 5
"""The number of looks at a text: what is taken out may have hidden what stands beside it: "pin 4821 4111 ..." is one
run of digits until the first are gone. One look more for each text with anything in it, rarely two."""


@dataclass(frozen=True, slots=True)
class Found:
    """The counts of what was found by class, apart by what the policy says of it; both are empty when nothing was
    found."""

    blocked: Mapping[str, int] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)

    @property
    def removed(self) -> dict[str, int]:
        """Count what was found by class, whatever the policy says of it."""
        return _sum(self.blocked, self.redacted)

    def __add__(self, other: Found) -> Found:
        return Found(_sum(self.blocked, other.blocked), _sum(self.redacted, other.redacted))


def _sum(some: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    return {**some, **{kind: some.get(kind, 0) + count for kind, count in others.items()}}


@dataclass(frozen=True, slots=True)
class Screened(Found):
    """A screened text: ``text`` without what was found."""

    text: str = ""


def screen(text: str, classes: Mapping[PiiClass, Action]) -> Screened:
    """Take out of a text what the gate looks for. ``classes``: what to do with each; one that is not named is
    allowed."""
    parts, found = screen_parts([text], classes)
    return Screened(found.blocked, found.redacted, parts[0])


def screen_parts(texts: Sequence[str], classes: Mapping[PiiClass, Action]) -> tuple[list[str], Found]:
    """Screen texts that follow each other, the blocks of one event: also what begins in one and ends in the next is
    found, and taken out of both. Gives as many texts as were given, and the counts. No text holds ``BETWEEN_BLOCKS``,
    as no text of a caller does (docs/rules/http.md#checks)."""
    joined, found = BETWEEN_BLOCKS.join(texts), Found()
    for _ in range(_LOOKS):
        spans = list(merged(_spans(joined, classes)))
        if not spans:
            break
        joined = _without(joined, spans)
        found += Found(*(_count(spans, classes, action) for action in ("block", "redact")))
    return joined.split(BETWEEN_BLOCKS) if len(texts) > 1 else [joined], found


def _spans(text: str, classes: Mapping[PiiClass, Action]) -> Iterator[Span]:
    """Search the text as it is, and as it is read; each block alone, which may begin with the digits that another one
    ends with; and the blocks right beside each other: there only what a border cuts, and where nothing was found, or
    the word behind a secret would go with it."""
    wanted = [find for kind, find in _FIND.items() if _looked_for(classes, kind)]
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
    for span in _found_at("".join(read[n] for n in left), [places[n] for n in left], wanted):
        if BETWEEN_BLOCKS in text[span.start : span.end] and taken.isdisjoint(range(span.start, span.end)):
            yield span


def _in_text(text: str, wanted: Sequence[Callable[[str], Iterator[Span]]]) -> Iterator[Span]:
    for find in wanted:
        yield from find(text)
    if (reading := as_read(text)) is not None:
        yield from _found_at(*reading, wanted)


def _found_at(read: str, places: Sequence[int], wanted: Sequence[Callable[[str], Iterator[Span]]]) -> Iterator[Span]:
    """Find the spans in a text as it is read. ``places``: where the signs of ``read`` stand in the text."""
    for find in wanted:
        for span in find(read):
            yield Span(places[span.start], places[span.end - 1] + 1, span.kind)


def _count(spans: Sequence[Span], classes: Mapping[PiiClass, Action], action: Action) -> dict[str, int]:
    return dict(Counter(span.kind for span in spans if classes[span.kind] == action))


def _looked_for(classes: Mapping[PiiClass, Action], kind: PiiClass) -> bool:
    return classes.get(kind, "allow") != "allow"


def _without(text: str, spans: Sequence[Span]) -> str:
    """Put markers into the text; a border between blocks stays where it is."""
    pieces, end = [], 0
    for span in spans:
        pieces.append(text[end : span.start])
        parts = text[span.start : span.end].split(BETWEEN_BLOCKS)
        pieces.append(BETWEEN_BLOCKS.join(marker(len(part)) for part in parts))
        end = span.end
    return "".join([*pieces, text[end:]])
