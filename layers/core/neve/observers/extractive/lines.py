"""Turns the events of a pass into the lines that are kept. Where more qualify than an answer may hold, the pass ends
before the first event that has no room. Lines are told in the order in which they were said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from neve.domain.observe.lines import MAX_LINES
from neve.domain.records.memories import Kind as MemoryKind
from neve.domain.same.meaning import may_be_the_same, say_the_same
from neve.observers.extractive.candidates import Line, Moment, answer_line, moments, statement
from neve.observers.extractive.classifier import Kind
from neve.observers.extractive.english.clauses import needs_another
from neve.observers.extractive.english.dates import annotate
from neve.observers.extractive.english.sentences import Sentence
from neve.observers.extractive.facts import slot_of, tells_who_one_is
from neve.observers.extractive.quotes import behind, quoted, what_it_follows
from neve.observers.extractive.sameness import Content, adds_nothing, content_of, on_one_matter
from neve.observers.extractive.sequels import (
    Earlier,
    corrected,
    is_bare_correction,
    lines_before,
    open_problem,
    replaced,
    said_before,
    solves,
)
from neve.observing import PassInput, PriorMemory

_BORN = re.compile(r"\b(?:birthday|born|birth)\b", re.IGNORECASE)
_NAMES_ONESELF = re.compile(r"(?:I am|I'm) [A-Z]")
ENOUGH = 3
"""Reading ends at so many times as many lines as there is room for; corrections take few of them away."""
LEFT_S = 10.0
"""Seconds: with less left for the worker, reading ends too, and the commit comes."""


@dataclass(frozen=True, slots=True)
class PassLines:
    """The lines of a pass, the prior memories that its statements restate, by id with the line that does, and the last
    event that was done justice to (None = the last of the pass). ``left_out``: seq of the event at which each line
    begins, of those up to there, that had no room."""

    lines: tuple[Line, ...]
    restated: Mapping[str, Line]
    covered_to: int | None
    left_out: tuple[int, ...] = ()


def lines_of_pass(given: PassInput, *, among_people: bool) -> PassLines:
    """Return the lines that a pass keeps. A statement that a prior memory already holds is not repeated; the memory is
    reported. ``among_people``: the second speaker is a person."""
    notes = _Notes(given.prior, given.events[0].seq)
    read_to: int | None = None
    for n, (moment, spoken) in enumerate(moments(given, among_people=among_people)):
        in_time = given.seconds_left() >= LEFT_S or n == 0
        if len(notes.lines) > ENOUGH * given.max_lines or not in_time:  # none of what follows can have room
            read_to = moment.event.seq - 1
            break
        for line in _lines_of_moment(moment, spoken, notes):
            notes.take(line)
    lines, covered_to, left_out = _within(notes.lines, given)
    return PassLines(tuple(lines), notes.restated, read_to if covered_to is None else covered_to, left_out)


@dataclass(frozen=True, slots=True)
class _Known:
    """A line of the pass or of a prior memory. ``slot``: of what it fills only one can be true."""

    text: str
    content: Content
    slot: str | None
    row: PriorMemory | None = None

    def restates(self, other: _Known) -> bool:
        if adds_nothing(self.content, other.content):
            return may_be_the_same(self.text, other.text)
        in_part = not self.content.words.isdisjoint(other.content.words)
        return in_part and what_it_follows(self.text) is None and say_the_same(self.text, other.text)

    def is_about(self, other: _Known) -> bool:
        on_it = (self.slot is not None and self.slot == other.slot) or on_one_matter(self.content, other.content)
        return on_it or self.restates(other)


def _content_of_line(text: str, row: PriorMemory | None = None) -> _Known:
    return _Known(text, content_of(text), slot_of(text), row)


class _Notes:
    """The lines so far. ``restated``: by id of a prior memory the line that says it again."""

    def __init__(self, prior: Sequence[PriorMemory], first_seq: int) -> None:
        self.prior = prior
        self.first_seq = first_seq
        self.lines: list[Line] = []
        self.restated: dict[str, Line] = {}
        self._contents: list[_Known] = []
        in_time = sorted(prior, key=lambda row: row.observed_at)
        known = [_content_of_line(line, row) for row in in_time for line in row.text.splitlines()]
        self._facts = [old for old in known if old.row and old.row.kind is MemoryKind.FACT]
        self._known = known

    def take(self, line: Line) -> None:
        """Add a line unless it is known. The last line of this pass on the same matter decides that, and where there is
        none, the prior memories."""
        new = _content_of_line(line.text)
        before = [other for other in self._contents if new.is_about(other)]
        if before and new.restates(before[-1]):
            return
        if not before and not what_it_follows(line.text) and self._is_known(new):
            self.restated.update({old.row.id: line for old in self._known if old.row and new.restates(old)})
            return
        self.lines.append(line)
        self._contents.append(new)

    def _is_known(self, new: _Known) -> bool:
        """Say whether a content is known. A fact holds until another takes its place, so it is asked first. Of other
        lines the newest holds: what was true before it may be true again."""
        filled = [fact for fact in self._facts if new.slot is not None and fact.slot == new.slot]
        if filled:
            return new.restates(filled[-1])
        if any(new.restates(fact) for fact in self._facts):
            return True
        about = [old for old in self._known if new.is_about(old)]
        return bool(about) and new.restates(about[-1])

    def pop(self, at: int) -> Line:
        del self._contents[at]
        return self.lines.pop(at)

    def earlier(self) -> list[Earlier]:
        return [Earlier(line.text, line.speaker, line.seq_to, line.mark) for line in self.lines]


def _lines_of_moment(moment: Moment, spoken: Sequence[Sentence], notes: _Notes) -> Iterator[Line]:
    if moment.of_assistant:
        return
    if (answer := answer_line(spoken[0], moment)) and not spoken[0].played:
        yield answer
    before: Sentence | None = None
    for sentence in spoken:
        if sentence.doubtful or sentence.played:
            line = _doubtful(sentence, moment)
        else:
            line = _sequel(sentence, moment, notes) or statement(sentence, moment, behind_another=before is not None)
        if line and line.kind is Kind.CORRECTION:
            at = replaced(line.text, notes.earlier(), moment.who)
            if at is not None:
                notes.pop(at)
        if line:
            yield _join_clause_before(line, sentence, before, moment, notes)
        before = sentence


def _join_clause_before(line: Line, sentence: Sentence, before: Sentence | None, moment: Moment, notes: _Notes) -> Line:
    """Join the line with that of the clause or the sentence before it in its message, where both are of one sentence,
    or the line speaks of what the one before names."""
    last = notes.lines[-1] if notes.lines and notes.lines[-1].seq_to == moment.event.seq else None
    if before is None or what_it_follows(line.text) or not needs_another(sentence.text):
        return line
    said = f"{before.said} {line.said}"
    first = last if last and last.said.endswith(before.said) else None
    if first:
        notes.pop(-1)
        said = f"{first.said} {line.said}"
    return _both(first or line, line, said, moment.quote(said))


def _both(first: Line, line: Line, said: str, text: str) -> Line:
    states = dict.fromkeys((*first.states, *line.states))
    mark = max(first.mark, line.mark, key=lambda mark: _RANK[mark])
    weight = max(first.weight, line.weight)
    asked = first.asked or line.asked
    return replace(line, mark=mark, weight=weight, said=said, text=text, states=tuple(states), asked=asked)


def _doubtful(sentence: Sentence, moment: Moment) -> Line | None:
    """Make a line of a sentence that may be another person's, or be said for the sake of a part, unless it says who the
    user is, or what they wish or take back; said to a part it is no more than a note."""
    line = statement(sentence, moment)
    if line is None or line.kind in (Kind.WISH, Kind.CORRECTION) or _NAMES_ONESELF.match(sentence.text):
        return None
    if any(map(tells_who_one_is, line.states)):
        return None
    return replace(line, mark="🟡" if line.mark == "🔴" else line.mark, played=True) if sentence.played else line


def _sequel(sentence: Sentence, moment: Moment, notes: _Notes) -> Line | None:
    """Make a line in the place of an earlier one, which the sentence corrects or closes."""
    if solves(sentence) and (line := _solved(sentence, moment, notes)):
        return line
    if not is_bare_correction(sentence):
        return None
    earlier = notes.earlier()
    at = corrected(sentence.text, earlier, moment.who)
    if at is not None:
        return correction_of(notes.pop(at), sentence, moment)
    if any(line.speaker == moment.who for line in earlier):
        return None
    return _correct_pass_before(sentence, moment, notes)


def _correct_pass_before(sentence: Sentence, moment: Moment, notes: _Notes) -> Line | None:
    """Make a line that corrects one of the pass before: most passes are one turn, so a correction comes in the pass
    behind that of what it corrects."""
    known = said_before(notes.prior, notes.first_seq, moment.who, among_people=moment.among_people)
    at = corrected(sentence.text, known, moment.who)
    if at is None:
        return None
    old = known[at]
    return correction_of(replace(moment.line(old.mark, "", 9), text=old.text), sentence, moment)


def correction_of(old: Line, sentence: Sentence, moment: Moment) -> Line:
    """Make the line that a bare correction puts in the place of ``old``. A day of a birthday is of no year near by."""
    said = sentence.said if _BORN.search(old.text) else annotate(sentence.said, moment.today).text
    text = behind(old.text, quoted(moment.who, said))
    mark = "🟡" if old.mark == "🟢" else old.mark
    return replace(old, mark=mark, text=text, said=sentence.said, weight=9, seq_to=moment.event.seq, states=())


def _solved(sentence: Sentence, moment: Moment, notes: _Notes) -> Line | None:
    """Make a line of a sentence that closes a problem: in the place of the problem's line, or behind the line of an
    earlier pass."""
    said = moment.quote(sentence.said)
    own = [one if one.speaker == moment.who else replace(one, mark="✅") for one in notes.earlier()]
    at = open_problem(sentence, own)
    if at is not None:
        old = notes.pop(at)
        return replace(moment.line("✅", sentence.said, 8), text=behind(old.text, said), seq_from=old.seq_from)
    known = lines_before(notes.prior)
    at = open_problem(sentence, known)
    return replace(moment.line("✅", sentence.said, 8), text=behind(known[at].text, said)) if at is not None else None


# --- choice -------------------------------------------------------------------------------------

_RANK = {"🔴": 3, "✅": 2, "🟡": 1, "🟢": 0}


def _within(lines: list[Line], given: PassInput) -> tuple[list[Line], int | None, tuple[int, ...]]:
    """Return all lines if they are few enough; else the pass ends before the first event that has no room. Its first
    event has that of a pass of one event, and where even that is not enough, the best are kept; at last, where those
    begin that are not."""
    room = given.max_lines
    if len(lines) <= room:
        return lines, None, ()
    without_room = sorted(line.seq_from for line in lines)[room]
    first = given.events[0].seq
    covered_to = max((event.seq for event in given.events if event.seq < without_room), default=first)
    covered = [line for line in lines if line.seq_from <= covered_to]
    best = _best(covered, max(room, MAX_LINES) if covered_to == first else room)
    return best, covered_to, (first,) * (len(covered) - len(best))


def _best(lines: Sequence[Line], room: int) -> list[Line]:
    by_worth = sorted(range(len(lines)), key=lambda n: (-lines[n].weight, -_RANK[lines[n].mark], n))
    return [lines[n] for n in sorted(by_worth[:room])]
