"""Turns what was said into candidates for lines: sentences that are kept whole, with their mark and range."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from neve.domain.observe.scenes import goes_on, is_role, may_set
from neve.domain.records.markers import Scene
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.zones import local_time, zone
from neve.observers.extractive.classifier import Kind
from neve.observers.extractive.english.clauses import needs_another, speaks_of_self, whole_clauses, with_subject
from neve.observers.extractive.english.dates import Dated, annotate
from neve.observers.extractive.english.person import about, as_said, called, to_remember
from neve.observers.extractive.english.sentences import Sentence, sentences
from neve.observers.extractive.english.vocabulary import any_of
from neve.observers.extractive.english.wishes import is_how_to_answer
from neve.observers.extractive.judgement import judge
from neve.observers.extractive.quotes import behind, quoted
from neve.observers.extractive.speech import outside_scenes, own_words, quotes_another
from neve.observing import PassInput

CASUAL_SENTENCES = 6
"""A longer message is likely to hold pasted text: plain statements in it are not taken for the user's own."""


@dataclass(frozen=True, slots=True)
class Line:
    """A candidate for a line of a memory. ``text``: the quotation, without its mark; ``said``: what is quoted.
    ``told``: the same in the third person, for documents, and ``states``: each of its whole clauses, for facts; empty
    where it says nothing by itself. ``weight`` orders the lines of a pass. ``asked``: it was asked to be remembered.
    ``played``: said to a listener who plays a part, and so no fact."""

    mark: str
    text: str
    weight: int
    seq_from: int
    seq_to: int
    speaker: str
    kind: Kind = Kind.NOTE
    said: str = ""
    told: str = ""
    states: tuple[str, ...] = ()
    asked: bool = False
    played: bool = False

    @property
    def shown(self) -> str:
        return f"{self.mark} {self.text}"


@dataclass(frozen=True, slots=True)
class Before:
    """The last sentence of the message before, whose it is and where it stands."""

    sentence: Sentence
    who: str
    seq: int


@dataclass(frozen=True, slots=True)
class Moment:
    """The circumstances in which a sentence is judged: its event, its local day, who listens, and what was said just
    before. ``asks``: its message asks something, too."""

    event: Event
    today: date
    among_people: bool
    casual: bool
    before: Before | None
    asks: bool = False

    @property
    def who(self) -> str:
        return "Assistant" if self.of_assistant else self.event.name or "User"

    @property
    def of_assistant(self) -> bool:
        return self.event.event_type is EventType.ASSISTANT_RESPONSE and not self.among_people

    def quote(self, said: str) -> str:
        """Return ``said`` as a quotation of its speaker, with its dates resolved."""
        return quoted(self.who, annotate(said, self.today).text)

    def line(self, mark: str, said: str, weight: int) -> Line:
        """Make a line of ``said`` that has the range and the speaker of this event."""
        seq = self.event.seq
        return Line(mark, self.quote(said), weight, seq, seq, self.who, said=said)

    def behind(self, line: Line) -> Line:
        """Put the sentence of the message before in front of the line, which means nothing without it."""
        asked = self.before
        if asked is None:
            return line
        first = quoted(asked.who, annotate(asked.sentence.said, self.today).text)
        return replace(line, text=behind(first, line.text), seq_from=asked.seq, states=())


_SPEAKING = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)


def moments(given: PassInput, *, among_people: bool) -> Iterator[tuple[Moment, list[Sentence]]]:
    """Yield each event in which a speaker says something, with the sentences that are the speaker's own.
    ``among_people``: the second speaker is a person."""
    names = {event.name for event in given.events if event.name}
    tz = zone(given.timezone)
    before: Before | None = None
    scene = None if among_people else given.scene
    for event in given.events:
        spoken, scene = _own(event, names, scene) if event.event_type in _SPEAKING else ([], scene)
        scene = None if among_people else scene
        if spoken:
            today = local_time(event.created_at, tz).date()
            asks = any(sentence.question for sentence in spoken)
            moment = Moment(event, today, among_people, len(spoken) <= CASUAL_SENTENCES, before, asks)
            yield moment, spoken
            before = Before(spoken[-1], moment.who, event.seq)


def scene_at(given: PassInput, covered_to: int | None) -> Scene | None:
    """Return the scene that is being played behind the event of that seq (None = the last event)."""
    scene = given.scene
    for event in given.events:
        covered = covered_to is None or event.seq <= covered_to
        if not covered or event.event_type is not EventType.USER_MESSAGE:
            continue
        if scene or may_set(event_text(event)):
            _, scene = _own(event, (), scene)
    return scene


def _own(event: Event, names: Iterable[str], scene: Scene | None) -> tuple[list[Sentence], Scene | None]:
    """Return the sentences that are the speaker's own, up to the one with which a role begins; and the scene behind
    them. ``scene``: from before, which only a user sets or ends."""
    spoken = _spoken(event_text(event), set(names))
    texts, scene = [sentence.text for sentence in spoken], goes_on(scene, event.created_at)
    if event.event_type is EventType.USER_MESSAGE:
        own, scene = outside_scenes(texts, scene, event.created_at)
        return [replace(spoken[n], played=played) for n, played in own], scene
    if scene and scene.both:
        return [], scene
    role = next((n for n, text in enumerate(texts) if is_role(text)), len(texts))
    return [sentence for sentence in spoken[:role] if not quotes_another(sentence.text)], scene


def _spoken(text: str, names: Collection[str]) -> list[Sentence]:
    """Return the sentences that may be the speaker's own. Where it is unclear whether they are, those that are not said
    elsewhere in the message are ``doubtful``."""
    own, surely_own = own_words(text), own_words(text, surely=True)
    spoken = sentences(own, names)
    if own == surely_own:
        return spoken
    sure = {sentence.text for sentence in sentences(surely_own, names)}
    return [replace(sentence, doubtful=sentence.text not in sure) for sentence in spoken]


def as_statement(sentence: Sentence, today: date) -> Dated:
    """Return the sentence as it is judged: with a subject, and its dates resolved."""
    return annotate(with_subject(sentence.text), today)


def statement(sentence: Sentence, moment: Moment, *, behind_another: bool = False) -> Line | None:
    """Make a line of what a person said about themselves or their world, if it is worth keeping. ``behind_another``:
    another sentence of its message stands before it."""
    if sentence.question:
        return None
    dated = as_statement(sentence, moment.today)
    if moment.asks and is_how_to_answer(dated.text):
        return None
    verdict = judge(
        dated.text,
        dated=dated.found,
        corrects=sentence.corrects,
        among_people=moment.among_people,
        casual=moment.casual,
    )
    if verdict is None:
        return None
    asked = verdict.wording == "remember"
    says = to_remember(dated.text) if asked else dated.text
    wanted = called(moment.who, says)
    told = wanted or about(moment.who, says)
    line = replace(
        moment.line(verdict.mark, sentence.said, verdict.weight),
        kind=verdict.kind,
        told="" if as_said(told) else told,
        states=(wanted,) if wanted else tuple(about(moment.who, clause) for clause in whole_clauses(says)),
        asked=asked,
    )
    if verdict.kind in (Kind.CORRECTION, Kind.SELF) and needs_another(dated.text) and not behind_another:
        return moment.behind(line)
    return line


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
_MAX_ANSWER = 8


def answer_line(answer: Sentence, moment: Moment) -> Line | None:
    """Make a line of a bare answer ("Mary.") to a personal question, with the question, without which it means
    nothing."""
    asked = moment.before
    if asked is None or not asked.sentence.question or not _PERSONAL.search(asked.sentence.text):
        return None
    if answer.question or _NO_ANSWER.search(answer.text) or speaks_of_self(answer.text):
        return None
    if len(answer.text.split()) > _MAX_ANSWER:
        return None
    return moment.behind(moment.line("🟡", answer.said, 5))
