"""From the events of a pass to the lines that are kept: at most five, each at most 300 characters, best first chosen,
then in the order in which they were said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol
from zoneinfo import ZoneInfo

from neve.domain.extractive_cues import assistant_did, judge, with_subject
from neve.domain.extractive_dates import annotate
from neve.domain.extractive_person import about, from_assistant, wish
from neve.domain.extractive_sentences import Sentence, sentences
from neve.domain.extractive_sameness import restates
from neve.domain.records import Event, EventType
from neve.domain.transcript import event_text
from neve.domain.zones import local_time

MAX_LINES = 5
LINE_CHARACTERS = 300


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


class Row(Protocol):
    """A prior memory."""

    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Kept:
    """The lines of a pass, and the prior memories that its statements restate."""

    lines: tuple[Line, ...]
    restated: tuple[str, ...]


def lines_of_pass(events: Sequence[Event], prior: Sequence[Row], tz: ZoneInfo) -> Kept:
    """What a pass keeps. A statement that a prior memory already holds is not repeated; the memory is reported."""
    restated: dict[str, None] = {}
    fresh: list[Line] = []
    for line in _candidates(events, tz):
        known = [row.id for row in prior if any(restates(line.text, old) for old in row.text.splitlines())]
        restated.update(dict.fromkeys(known))
        if not known and not any(restates(line.text, other.text) for other in fresh):
            fresh.append(line)
    return Kept(tuple(_best(fresh)), tuple(restated))


# --- candidates ---------------------------------------------------------------------------------


def _candidates(events: Sequence[Event], tz: ZoneInfo) -> Iterable[Line]:
    names = {event.name for event in events if event.name}
    asked: Sentence | None = None
    for event in events:
        said = sentences(event_text(event), names) if event.event_type in _SPEAKING else []
        today = local_time(event.created_at, tz).date()
        if event.event_type is EventType.ASSISTANT_RESPONSE and not event.name:
            yield from _assistant_lines(event, said)
        elif said:
            lines = [line for sentence in said if (line := _statement(sentence, event, today))]
            yield from lines or _answer_lines(asked, said, event)
        if said:
            asked = said[-1] if said[-1].question else None


_SPEAKING = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)


def _statement(sentence: Sentence, event: Event, today: date) -> Line | None:
    """What a person said about themselves or their world."""
    if sentence.question:
        return None
    dated = annotate(with_subject(sentence.text), today)
    cue = judge(dated.text, dated=dated.found, corrects=sentence.corrects)
    if cue is None:
        return None
    who = event.name or "User"
    text = wish(who, dated.text, cue.kind) if cue.kind in ("remember", "remind", "rule") else about(who, dated.text)
    if cue.kind == "correction":
        text = f"Correction: {text}"
    return Line(cue.mark, _cut(text), cue.weight, event.seq, event.seq, who)


def _assistant_lines(event: Event, said: Sequence[Sentence]) -> Iterable[Line]:
    """What an assistant completed for the user; its advice and its chat are not memory."""
    for sentence in said:
        if not sentence.question and assistant_did(sentence.text):
            yield Line("✅", _cut(from_assistant(sentence.text)), 6, event.seq, event.seq, "Assistant")


_PERSONAL = re.compile(
    r"^(?:and |so |but )?(?:what|where|when|who|which|how (?:old|many|much|long|often|far|big))\b.*\b(?:you|your|you're)\b",
    re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"^(?:yes|no|ok|okay|sure|thanks|none|nothing|not sure|i don't know|maybe|never mind|whatever|good|fine|great|cool|hi|hey)\b",
    re.IGNORECASE,
)
_LONGEST_ANSWER = 8


def _answer_lines(asked: Sentence | None, said: Sequence[Sentence], event: Event) -> Iterable[Line]:
    """A bare answer ("Mary.") to a personal question keeps its question, which it means nothing without."""
    answer = said[0].text
    if asked is None or said[0].question or not _PERSONAL.search(asked.text) or _NO_ANSWER.search(answer):
        return
    if len(answer.split()) <= _LONGEST_ANSWER and len(said) <= 2:
        who = event.name or "User"
        yield Line("🟡", _cut(f'{who}, asked "{asked.text}?": {answer}'), 5, event.seq - 1, event.seq, who)


# --- choice -------------------------------------------------------------------------------------

_RANK = {"🔴": 3, "✅": 2, "🟡": 1, "🟢": 0}


def _best(lines: list[Line]) -> list[Line]:
    """All lines if they are few enough; else neighbours are joined, and the best of the rest are kept."""
    if len(lines) > MAX_LINES:
        lines = _joined(lines)
    by_worth = sorted(range(len(lines)), key=lambda n: (-lines[n].weight, -_RANK[lines[n].mark], n))
    return [lines[n] for n in sorted(by_worth[:MAX_LINES])]


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Neighbouring lines of one event and one mark as one, where they fit."""
    out: list[Line] = []
    for line in lines:
        if out and (both := _joint(out[-1], line)):
            out[-1] = both
        else:
            out.append(line)
    return out


def _joint(left: Line, right: Line) -> Line | None:
    if (left.mark, left.seq_from, left.seq_to, left.speaker) != (right.mark, right.seq_from, right.seq_to, right.speaker):
        return None
    text = f"{left.text}. {right.text}"
    if len(text) > LINE_CHARACTERS - 2:
        return None
    return replace(left, text=text, weight=max(left.weight, right.weight) + 1)


def _cut(text: str) -> str:
    """At most 300 characters with the mark, ended at a clause where there is one."""
    room = LINE_CHARACTERS - 2
    if len(text) <= room:
        return text
    head = text[: room - 1]
    end = max(head.rfind(", "), head.rfind("; "), head.rfind(" - "), head.rfind(" but "), head.rfind(" and "))
    end = end if end > room // 2 else head.rfind(" ")
    return (head[:end] if end > 0 else head).rstrip(" ,;-(") + "…"
