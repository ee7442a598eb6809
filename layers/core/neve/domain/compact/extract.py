"""A summary without a model (docs/rules/compact.md#extract): the sentences of the covered turns that English cue words
put under one of the four headings, chosen by how plain the cue is and then newest first, until the target.

What a person or an assistant said is quoted with its speaker and its day, never rephrased: an extract cannot
misunderstand. Tool results are left out, because what a page or a program prints is no decision or preference of a
person. Questions and requests state nothing. What takes back the sentence before it stands behind that sentence. The
cues are English: in another language the first sentence of a message of the user stands in under insights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from neve.domain.compact.cues import ASKS, ASSISTANT_CUES, ENGLISH, PLAIN, REQUEST, TAKES_BACK, USER_CUES, Cues
from neve.domain.compact.headings import (
    HEADINGS,
    ITEM_CHARACTERS,
    FourHeadings,
    SummaryText,
    items_of,
    summary_target,
    summary_text,
)
from neve.domain.compact.render import render_summary
from neve.domain.memories.statements import ends_in_abbreviation
from neve.domain.observe.unwanted import wanted_sentences
from neve.domain.recall.small_talk import has_content
from neve.domain.records.epochs import Verbosity
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.frames import NAME_CHARACTERS, one_line
from neve.domain.sessions.rendered_blocks import strip_rendered
from neve.domain.sessions.transcript import event_text
from neve.domain.tokens import Counter, estimate
from neve.domain.words import chunks, fold, folded_word
from neve.domain.zones import local_day

DEFAULT_TRIGGER = 100_000
"""The compaction trigger of a tenant that set none."""
_MAX_SENTENCE = 600
"""Longer is pasted material, not something that was said."""
_OPENING_WORDS = 4
"""A first sentence says what a turn is about from so many words on; "ok, thanks" does not."""
_MIN_ENGLISH = 0.2
"""Share of a message's words by which it is taken for English."""
_TAKEN_BACK_WORDS = 12
"""A longer sentence says itself what it is about."""
_MISFITS = 20
"""After so many items in a row that have no room, the rest is not tried."""

_MAX_SPEAKER = NAME_CHARACTERS + len("():  2026-03-10")
_TOPIC = 1
"""The weight of a sentence without a cue; that of cues is above it."""

_NAMES = re.compile(r"\d|\s[A-Z][a-z]")
"""A figure, or a word with a capital inside the sentence."""
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_LIST_MARK = re.compile(r"^\s*(?:[-*•‣]|\d{1,2}[.)]|#+)\s+")
_BOUNDARY = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=\S)|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An item that may get into the summary. ``at``: its place among all candidates, the oldest first."""

    heading: str
    weight: int
    at: int
    text: str


def extract_summary(
    events: Sequence[Event],
    size: Verbosity | int,
    *,
    before: FourHeadings | None = None,
    lasting: bool = False,
    timezone: str = "UTC",
    count: Counter = estimate,
) -> SummaryText:
    """Summarise ``events`` under four headings; the same events give the same summary. ``size``: tokens that it may
    have as ``render_summary`` shows it, headings included; or a verbosity, in the default window. What it cannot hold
    is left out, but the headings never are. ``before``: the summary of the turns before these; it gets up to half of
    the room, and what ``events`` leave of the rest. ``lasting``: it is for other conversations, and holds what the user
    stated; else it stands for these turns in their own, and an assistant's results and what was asked in another
    language are in it. ``timezone``: in which the days are told."""
    room = size if isinstance(size, int) else summary_target(size, DEFAULT_TRIGGER)
    empty = count(render_summary(SummaryText()))
    candidates = _without_repeats(_candidates(events, timezone, lasting=lasting))
    earlier = _items_before(before) if before else []
    chosen = _chosen(earlier, (room - empty) // 2, count)
    for further in (candidates, earlier):
        left = room - empty - sum(_cost(one, count) for one in chosen)
        chosen += _chosen(_not_among(further, chosen), left, count)
    summary = _summary(chosen)
    # a counter other than the estimate may count the whole above its parts
    while chosen and count(render_summary(summary)) > room:
        chosen.pop()
        summary = _summary(chosen)
    return summary


def _summary(chosen: Sequence[_Candidate]) -> SummaryText:
    """Order the items as they were said; what was folded in comes first."""
    in_order = sorted(chosen, key=lambda one: one.at)
    return summary_text({heading: [one.text for one in in_order if one.heading == heading] for heading in HEADINGS})


# --- candidates -----------------------------------------------------------------------------------


def _candidates(events: Sequence[Event], timezone: str, *, lasting: bool) -> list[_Candidate]:
    notes = _Notes(timezone, lasting)
    for event in events:
        if event.event_type is EventType.USER_MESSAGE:
            notes.hear(event)
        elif event.event_type is EventType.ASSISTANT_RESPONSE and not lasting:
            for sentence in sentences_of(strip_rendered(event_text(event))):
                notes.take(event, sentence, _judged(sentence, ASSISTANT_CUES))
    return list(notes.found.values())


@dataclass
class _Notes:
    """The candidates as they are collected. ``found``: candidates by their place. ``last``: place, speaker and text of
    what the user stated last, if nothing was said behind it."""

    timezone: str
    lasting: bool
    found: dict[int, _Candidate] = field(default_factory=dict)
    taken: int = 0
    last: tuple[int, str | None, str] | None = None

    def take(self, event: Event, sentence: str, judged: tuple[str, int] | None) -> int | None:
        """Add a candidate; return its place, or None where the sentence has no heading."""
        if judged is None:
            return None
        self.taken += 1
        self.found[self.taken] = _Candidate(*judged, self.taken, _quoted(event, sentence, self.timezone))
        return self.taken

    def hear(self, event: Event) -> None:
        """Collect what a message of the user states, as far as it may be remembered."""
        sentences = wanted_sentences(sentences_of(strip_rendered(event_text(event))))
        words = " ".join(sentences).split()
        english = len(ENGLISH.findall(" ".join(words))) >= _MIN_ENGLISH * len(words)
        for n, sentence in enumerate(sentences):
            if self._append_correction(event, sentence, opens=n == 0):
                continue
            judged = None if REQUEST.search(sentence) else _judged(sentence, USER_CUES)
            if judged is None and n == 0 and not english and self._is_opening(sentence):
                judged = ("insights", _TOPIC)
            place = self.take(event, sentence, judged)
            self.last = None if place is None else (place, event.name, sentence)

    def _append_correction(self, event: Event, sentence: str, *, opens: bool) -> bool:
        """Append a sentence to the statement before it if it corrects that, and say whether it did. Where the two have
        no room together, neither stands. ``opens``: the sentence is the first of its message, and so answers what was
        said in between, unless it names something."""
        if self.last is None or self.last[1] != event.name or not _corrects(sentence):
            return False
        if opens and not _NAMES.search(sentence):
            return False
        place, _, before = self.last
        both = f"{before} {sentence}"
        if len(both) <= ITEM_CHARACTERS - _MAX_SPEAKER:
            one = self.found[place]
            self.found[place] = replace(one, text=f"{one.text} {sentence}")
            self.last = (place, event.name, both)
        else:
            del self.found[place]
            self.last = None
        return True

    def _is_opening(self, sentence: str) -> bool:
        means_something = has_content(map(folded_word, chunks(fold(sentence))))
        return means_something and _is_long_enough(sentence) and not (self.lasting and ASKS.search(sentence))


def _corrects(sentence: str) -> bool:
    short = len(sentence.split()) <= _TAKEN_BACK_WORDS
    return short and TAKES_BACK.search(sentence) is not None and ASKS.search(sentence) is None


def _items_before(before: FourHeadings) -> list[_Candidate]:
    """Give the items of the summary before, which stand before everything that is new."""
    items = [(heading, text) for heading, texts in items_of(before).items() for text in texts]
    return [_Candidate(heading, PLAIN, n - len(items), text) for n, (heading, text) in enumerate(items)]


def sentences_of(text: str) -> list[str]:
    """Split a text into the sentences that its speaker said: no code, no quotations, nothing pasted."""
    bare = _QUOTED_LINE.sub("", _FENCED.sub("\n", text.replace("’", "'")))
    parts = (part for line in bare.splitlines() for part in _split(_LIST_MARK.sub("", line)))
    found = (" ".join(part.split()) for part in parts if len(part) <= _MAX_SENTENCE)
    return [sentence for sentence in found if any(map(str.isalnum, sentence))]


def without_unwanted(events: Sequence[Event]) -> list[Event]:
    """Leave out of the user's messages what the user asked not to have remembered; each message stays, be it empty."""
    return [_wanted(event) if event.event_type is EventType.USER_MESSAGE else event for event in events]


def _wanted(event: Event) -> Event:
    sentences = sentences_of(event_text(event))
    wanted = wanted_sentences(sentences)
    return event if len(wanted) == len(sentences) else replace(event, content="\n".join(wanted))


def _split(line: str) -> Iterator[str]:
    start = 0
    for boundary in _BOUNDARY.finditer(line):
        if not ends_in_abbreviation(line, start, boundary.start(), boundary.end()):
            yield line[start : boundary.start()]
            start = boundary.end()
    yield line[start:]


def _judged(sentence: str, cues: Cues) -> tuple[str, int] | None:
    """Give the heading with the plainest cue, the first of equals, and its weight. A question states nothing."""
    if ASKS.search(sentence):
        return None
    best: tuple[str, int] | None = None
    for heading, graded in cues.items():
        weight = next((weight for weight, pattern in graded if pattern.search(sentence)), 0)
        if weight > (best[1] if best else 0):
            best = (heading, weight)
    return best


def _is_long_enough(sentence: str) -> bool:
    """Say whether a sentence is long enough to be a topic. Scripts without spaces have no words to count, and say as
    much in as many characters."""
    return len(sentence.split()) >= _OPENING_WORDS or (not sentence.isascii() and len(sentence) >= 2 * _OPENING_WORDS)


def _quoted(event: Event, sentence: str, timezone: str) -> str:
    role = "user" if event.event_type is EventType.USER_MESSAGE else "assistant"
    speaker = one_line(event.name)[:NAME_CHARACTERS] if event.name else role
    room = ITEM_CHARACTERS - len(speaker) - len("():  2026-03-10")
    quoted = sentence if len(sentence) <= room else f"{sentence[: room - 1].rstrip()}…"
    return f"{speaker} ({local_day(event.created_at, timezone)}): {quoted}"


# --- choice ---------------------------------------------------------------------------------------


def _without_repeats(found: Sequence[_Candidate]) -> list[_Candidate]:
    """Keep what was said twice only where it was said last."""
    last = {_content_key(one): one for one in found}
    return [one for one in found if last[_content_key(one)] is one]


def _not_among(found: Sequence[_Candidate], chosen: Sequence[_Candidate]) -> list[_Candidate]:
    known = {_content_key(one) for one in chosen}
    return [one for one in found if _content_key(one) not in known]


def _content_key(one: _Candidate) -> tuple[str, str]:
    """Give the heading and the words, without speaker and day."""
    return one.heading, one.text.partition("): ")[2].casefold() or one.text.casefold()


def _chosen(found: Sequence[_Candidate], room: int, count: Counter) -> list[_Candidate]:
    """Choose what fits: the headings take turns, each with its plainest and then newest candidate, so that none of them
    takes all of the room; what does not fit is skipped."""
    queues = [
        sorted((one for one in found if one.heading == heading), key=lambda one: (one.weight, one.at))
        for heading in HEADINGS
    ]
    chosen: list[_Candidate] = []
    misfits = 0
    while any(queues) and misfits < _MISFITS:
        for queue in filter(None, queues):
            one = queue.pop()
            cost = _cost(one, count)
            if cost <= room:
                chosen.append(one)
                room -= cost
                misfits = 0
            else:
                misfits += 1
    return chosen


def _cost(one: _Candidate, count: Counter) -> int:
    """Count the tokens of an item's line. ``&lt;`` may take the place of a ``<``."""
    return count(f"- {one.text.replace('<', '&lt;')}\n")
