"""From the events of a pass to the lines that are kept, of at most 300 characters each. Where more qualify than an
answer may hold, either the best of the pass are chosen, or the pass ends before the first event that has no room. Lines
are told in the order in which they were said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from zoneinfo import ZoneInfo

from neve.domain.records import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.zones import local_time, zone
from neve.observers.extractive.chatter import speaks_of_self, with_subject, without_dangling_start
from neve.observers.extractive.cues import assistant_did, judge
from neve.observers.extractive.dates import annotate
from neve.observers.extractive.person import about, from_assistant, wish
from neve.observers.extractive.sameness import Content, adds_nothing, content_of
from neve.observers.extractive.sentences import Sentence, sentences
from neve.observers.extractive.vocabulary import any_of
from neve.observing import PassInput

LINE_CHARACTERS = 300
CASUAL_SENTENCES = 6
"""A longer message is likely to hold pasted text: plain statements in it are not taken for the user's own."""


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate: ``text`` without its mark. ``weight`` orders the candidates of a pass."""

    mark: str
    text: str
    weight: int
    seq_from: int
    seq_to: int
    speaker: str

    @property
    def shown(self) -> str:
        return f"{self.mark} {self.text}"


@dataclass(frozen=True, slots=True)
class Kept:
    """The lines of a pass, the prior memories that its statements restate, and the last event that was done justice to
    (None = the last of the pass)."""

    lines: tuple[Line, ...]
    restated: tuple[str, ...]
    covered_to: int | None


def lines_of_pass(given: PassInput, *, among_people: bool) -> Kept:
    """What a pass keeps. A statement that a prior memory already holds is not repeated; the memory is reported.
    ``among_people``: the second speaker is a person."""
    known = [(row.id, content_of(line)) for row in given.prior for line in row.text.splitlines()]
    restated: dict[str, None] = {}
    fresh: list[Line] = []
    said: list[Content] = []
    for line in _candidates(given.events, zone(given.timezone), among_people):
        content = content_of(line.text)
        held_by = [row_id for row_id, old in known if adds_nothing(content, old)]
        restated.update(dict.fromkeys(held_by))
        if not held_by and not any(adds_nothing(content, other) for other in said):
            fresh.append(line)
            said.append(content)
    lines, covered_to = _within(fresh, given)
    return Kept(tuple(lines), tuple(restated), covered_to)


# --- candidates ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Moment:
    """What a sentence is judged against: its event, its local day, who listens, and what was said just before."""

    event: Event
    today: date
    among_people: bool
    casual: bool
    before: Sentence | None

    @property
    def who(self) -> str:
        return self.event.name or "User"


_SPEAKING = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)


def _candidates(events: Sequence[Event], tz: ZoneInfo, among_people: bool) -> Iterator[Line]:
    names = {event.name for event in events if event.name}
    before: Sentence | None = None
    for event in events:
        said = sentences(event_text(event), names) if event.event_type in _SPEAKING else []
        if not said:
            continue
        today = local_time(event.created_at, tz).date()
        moment = _Moment(event, today, among_people, len(said) <= CASUAL_SENTENCES, before)
        if event.event_type is EventType.ASSISTANT_RESPONSE and not among_people:
            yield from _assistant_lines(said, moment)
        else:
            yield from _answer_lines(said[0], moment)
            yield from filter(None, (_statement(sentence, moment) for sentence in said))
        before = said[-1]


def _statement(sentence: Sentence, moment: _Moment) -> Line | None:
    """What a person said about themselves or their world."""
    if sentence.question:
        return None
    dated = annotate(with_subject(without_dangling_start(sentence.text)), moment.today)
    cue = judge(
        dated.text,
        dated=dated.found,
        corrects=sentence.corrects,
        among_people=moment.among_people,
        casual=moment.casual,
    )
    if cue is None:
        return None
    line = Line(cue.mark, "", cue.weight, moment.event.seq, moment.event.seq, moment.who)
    if cue.kind in ("remember", "remind", "rule", "request"):
        return replace(line, text=_cut(wish(moment.who, dated.text, cue.kind)))
    head = "Correction: " if cue.kind == "correction" else ""
    if cue.kind in ("correction", "identity") and _OF_ANOTHER.search(dated.text) and moment.before:
        said = f'{head}{moment.who} answered "{moment.before.text}" with: {dated.text}'
        return replace(line, text=_cut(said), seq_from=moment.event.seq - 1)
    return replace(line, text=_cut(f"{head}{about(moment.who, dated.text)}"))


def _assistant_lines(said: Sequence[Sentence], moment: _Moment) -> Iterable[Line]:
    """What an assistant completed for the user; its advice and its chat are not memory."""
    for sentence in said:
        if not sentence.question and assistant_did(sentence.text):
            text = from_assistant(annotate(sentence.text, moment.today).text)
            yield Line("✅", _cut(text), 6, moment.event.seq, moment.event.seq, "Assistant")


_OF_ANOTHER = re.compile(r"^(?:it|that|this|they|he|she|there|his|her|its|their)\b", re.IGNORECASE)
"""Begins with a word that stands for what was said just before."""
_PERSONAL = re.compile(
    r"^(?:and |so |but )?(?!what's (?:up|new|going on|happening)\b)"
    r"(?:what|where|when|who|which|how (?:old|many|much|long|often|far|big))\b"
    r".*\b(?:you|your|you're)\b",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"^"
    + any_of(
        "yes no ok okay sure thanks none nothing sorry that super wow oh maybe whatever good fine great cool hi hey",
        "not sure|i don't know|never mind",
    )
    + r"\b",
    re.IGNORECASE,
)
_LONGEST_ANSWER = 8


def _answer_lines(answer: Sentence, moment: _Moment) -> Iterable[Line]:
    """A bare answer ("Mary.") to a personal question keeps its question, which it means nothing without."""
    asked = moment.before
    if asked is None or not asked.question or not _PERSONAL.search(asked.text):
        return
    if answer.question or _NO_ANSWER.search(answer.text) or speaks_of_self(answer.text):
        return
    if len(answer.text.split()) <= _LONGEST_ANSWER:
        text = f'{moment.who}, asked "{asked.text}?": {annotate(answer.text, moment.today).text}'
        yield Line("🟡", _cut(text), 5, moment.event.seq - 1, moment.event.seq, moment.who)


# --- choice -------------------------------------------------------------------------------------

_RANK = {"🔴": 3, "✅": 2, "🟡": 1, "🟢": 0}


def _within(lines: list[Line], given: PassInput) -> tuple[list[Line], int | None]:
    """All lines if they are few enough; else neighbours are joined, and of the rest is kept what there is room for."""
    room = given.max_lines
    if len(lines) > room:
        lines = _joined(lines)
    if len(lines) <= room:
        return lines, None
    if not given.resumable:
        return _best(lines, room), None
    left_out = lines[room].seq_to
    first = given.events[0].seq
    covered_to = max((event.seq for event in given.events if event.seq < left_out), default=first)
    return _best([line for line in lines if line.seq_to <= covered_to], room), covered_to


def _best(lines: Sequence[Line], room: int) -> list[Line]:
    by_worth = sorted(range(len(lines)), key=lambda n: (-lines[n].weight, -_RANK[lines[n].mark], n))
    return [lines[n] for n in sorted(by_worth[:room])]


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Neighbouring lines of one event and one mark as one, where they fit."""
    out: list[Line] = []
    for line in lines:
        joint = _joint(out[-1], line) if out else None
        if joint:
            out[-1] = joint
        else:
            out.append(line)
    return out


def _joint(left: Line, right: Line) -> Line | None:
    if _source(left) != _source(right):
        return None
    text = f"{left.text}. {right.text}"
    if len(text) > LINE_CHARACTERS - 2:
        return None
    return replace(left, text=text, weight=max(left.weight, right.weight) + 1)


def _source(line: Line) -> tuple[str, int, int, str]:
    return line.mark, line.seq_from, line.seq_to, line.speaker


def _cut(text: str) -> str:
    """At most 300 characters with the mark, ended at a clause where there is one, never inside a resolved date."""
    room = LINE_CHARACTERS - 2
    if len(text) <= room:
        return text
    head = text[: room - 1]
    if head.rfind("(meaning") > head.rfind(")"):
        head = head[: head.rfind("(meaning")]
    end = max(head.rfind(mark) for mark in (", ", "; ", " - ", " but ", " and "))
    end = end if end > room // 2 else head.rfind(" ")
    return (head[:end] if end > 0 else head).rstrip(" ,;-(") + "…"
