"""A librarian by rules: the user's plain statements, each on the document that its kind belongs to
(docs/rules/librarian.md#extractive). The same events and documents give the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from neve.domain.compact.cues import PLAIN, USER_CUES
from neve.domain.documents.paths import PEOPLE
from neve.domain.librarian.answer import MAX_ACTIONS, MAX_TEXT
from neve.domain.librarian.filing import Action, ShownDocument, Verb
from neve.domain.librarian.looking import names_in
from neve.domain.librarian.paths import IDENTITY, PREFERENCES, decision_path, person_path, slug
from neve.domain.sessions.transcript import event_text
from neve.domain.words import QUERY_STOP_WORDS, plain_words
from neve.observers.extractive.candidates import Line, Moment, as_statement, moments, statement
from neve.observers.extractive.classifier import Kind
from neve.observers.extractive.english.person import about
from neve.observers.extractive.english.sentences import Sentence
from neve.observers.extractive.english.vocabulary import any_of
from neve.observers.extractive.librarian.document import Displaced, with_line
from neve.observers.extractive.librarian.projects import project_in
from neve.observers.extractive.librarian.put_right import Statement, corrected_words
from neve.observers.extractive.lines import correction_of
from neve.observers.extractive.sequels import MAX_CORRECTION_WORDS, Earlier, corrected, is_bare_correction
from neve.observers.extractive.speech import own_events
from neve.observing import FilingInput, PassInput

ABOUT_WORDS = 5

_RELATIVE = any_of(
    "wife husband partner fiancé fiancée girlfriend boyfriend mother mom mum father dad sister brother son daughter",
    "baby grandma grandpa grandmother grandfather aunt uncle cousin niece nephew friend roommate flatmate neighbor",
    "neighbour boss manager colleague coworker teammate mentor therapist doctor teacher",
)
_NAME = r"(?P<name>[^\W\d_a-z][^\W\d_]+)"
_PERSON = (
    re.compile(rf"\b[Mm]y (?:[\w-]+ )?{_RELATIVE},? {_NAME}\b"),
    re.compile(rf"^{_NAME}(?:,| is| was) my (?:[\w-]+ )?{_RELATIVE}\b"),
    re.compile(rf"\bmy (?:[\w-]+ )?{_RELATIVE}(?:'s name is| is (?:called|named)) {_NAME}\b", re.IGNORECASE),
)
_PASSING = re.compile(
    r"\b(?:today|tonight|right now|at the moment|this (?:morning|afternoon|evening)|a bit|so)\b.*"
    + r"\b(?:tired|hungry|sleepy|bored|busy|stressed|exhausted|cold|happy|sad|great|fine|sick)\b"
    r"|\b(?:i'm|i am|i feel|feeling) (?:\w+ )?"
    r"(?:tired|hungry|sleepy|bored|busy|stressed|exhausted|cold|happy|sad|great|fine|sick)\b",
    re.IGNORECASE,
)
"""Words for how a person is at the moment, which does not belong in a document."""
_DECIDES = re.compile(
    "|".join(pattern.pattern for weight, pattern in USER_CUES["decisions"] if weight == PLAIN), re.IGNORECASE
)
_PREFERS = re.compile("|".join(pattern.pattern for _, pattern in USER_CUES["preferences"]), re.IGNORECASE)
_OF_SELF = re.compile(r"^(?:user\b|remember this: user\b|correction: user\b)(?!.*\b(?:asked|said)\b)", re.IGNORECASE)
_IDENTITY = re.compile(
    r"\b(?:i'm|i am|i was born|i work|i live|i study|i teach|i speak|i have|my name|i(?:'ve| have)? (?:just )?"
    r"(?:left|quit|joined|moved|changed|switched|started|retired|graduated))\b",
    re.IGNORECASE,
)
_MEANT = re.compile(r"I mean(?:t)?\b", re.IGNORECASE)


class _Stated(NamedTuple):
    """A statement of the user: ``line`` as it was made, which says where it belongs; ``says``: as it was corrected."""

    moment: Moment
    sentence: Sentence
    line: Line
    says: Line


@dataclass
class _Pile:
    """The text that goes onto one document: all of its text, or what is added at its end."""

    text: str
    title: str
    seqs: set[int] = field(default_factory=set)


def actions_of(given: FilingInput) -> tuple[Action, ...]:
    """Return one action for each document that changes, in the order in which they were spoken of."""
    shown = {document.path: document for document in given.documents}
    long = {document.path for document in given.documents if _is_long(document)}
    piles: dict[str, _Pile] = {}
    for moment, sentence, line, says in _statements(given):
        path, title = _place(sentence, line, moment, given, shown)
        if path is None or (path not in piles and len(piles) == MAX_ACTIONS):
            continue
        displaced, date = Displaced.by(sentence.text, line, corrected=says is not line), moment.today.isoformat()
        if path in long and with_line(shown[path].text, says.text, displaced, date) is None:
            continue
        begun = shown[path].text if path in shown and path not in long else ""
        before = piles[path].text if path in piles else begun
        after = with_line(before or f"# {title}", says.text, displaced, date)
        if after is None:
            continue
        pile = piles.setdefault(path, _Pile(after, title))
        pile.text = after
        pile.seqs.update((moment.event.seq, says.seq_to))
    return tuple(_action(path, pile, shown.get(path)) for path, pile in piles.items())


def _is_long(document: ShownDocument) -> bool:
    """Say whether a text is too long for a change that holds all of it, and that may have to wait for a person in a row
    of its own."""
    return len(document.text) > MAX_TEXT


def _action(path: str, pile: _Pile, document: ShownDocument | None) -> Action:
    verb: Verb = "create" if document is None else "append" if _is_long(document) else "update"
    return Action(
        verb=verb,
        path=path,
        text=pile.text,
        base_rev=document.rev if document else None,
        title=pile.title,
        certainty="medium",
        seqs=tuple(sorted(pile.seqs)),
    )


def _statements(given: FilingInput) -> Iterable[_Stated]:
    """Return what the user stated, as they corrected it in a few words later. A sentence about a person who has a
    document counts whatever it says of them."""
    known = {document.path for document in given.documents if document.path.startswith(PEOPLE)}
    read = PassInput(given.session_id, own_events(given.events), (), given.timezone, output_cap=0)
    stated: list[_Stated] = []
    for moment, spoken in moments(read, among_people=False):
        if moment.of_assistant:
            continue
        for sentence in spoken:
            if sentence.question or _PASSING.search(sentence.text) or _corrects(sentence, moment, stated):
                continue
            line = statement(sentence, moment) or _line_about_known_person(sentence, moment, known)
            if line:
                line = replace(line, text=line.told or line.text)
                stated.append(_Stated(moment, sentence, line, line))
    return _put_right(stated, given)


def _put_right(stated: Sequence[_Stated], given: FilingInput) -> list[_Stated]:
    """Return the statements in the words that a person has put in the place of some of them."""
    said_at = {event.seq: event.created_at for event in given.events}
    theirs = [Statement(one.says.text, one.moment.event.seq, said_at[one.says.seq_to]) for one in stated]
    words = corrected_words(theirs, given.remembered)
    return [one._replace(says=replace(one.says, text=words[n])) if n in words else one for n, one in enumerate(stated)]


def _corrects(sentence: Sentence, moment: Moment, stated: list[_Stated]) -> bool:
    """Say whether a sentence is a bare correction of one of ``stated``, and add it to that one, which then says
    both."""
    meant = _MEANT.match(sentence.text) is not None and len(sentence.text.split()) <= MAX_CORRECTION_WORDS
    if not (meant or is_bare_correction(sentence)):
        return False
    at = corrected(sentence.text, [Earlier(one.line.text, one.line.speaker) for one in stated], moment.who)
    if at is None:
        return False
    stated[at] = stated[at]._replace(says=correction_of(stated[at].says, sentence, moment))
    return True


def _line_about_known_person(sentence: Sentence, moment: Moment, known: set[str]) -> Line | None:
    first = next(iter(names_in(sentence.text)), None)
    if first is None or not sentence.text.startswith(first) or person_path(first) not in known:
        return None
    text = about(moment.who, as_statement(sentence, moment.today).text)
    return Line("🟡", text, 4, moment.event.seq, moment.event.seq, moment.who)


def _place(
    sentence: Sentence, line: Line, moment: Moment, given: FilingInput, shown: dict[str, ShownDocument]
) -> tuple[str | None, str]:
    """Return path and title; no path for what belongs on no document."""
    text = sentence.text
    if name := _person(text, shown):
        return person_path(name), name
    if _DECIDES.search(text):
        project = project_in(text) or project_in(event_text(moment.event)) or given.title or "general"
        path = decision_path(project, moment.today.isoformat(), _about(text))
        return path, _about(text).replace("-", " ").capitalize()
    if line.kind is Kind.WISH or _PREFERS.search(text):
        return PREFERENCES, "Preferences"
    if line.kind in (Kind.SELF, Kind.CORRECTION, Kind.DONE) and (_IDENTITY.search(text) or _OF_SELF.search(line.text)):
        return IDENTITY, "Identity"
    return None, ""


def _person(text: str, shown: dict[str, ShownDocument]) -> str | None:
    for pattern in _PERSON:
        if found := pattern.search(text):
            return found["name"]
    return next((name for name in names_in(text) if person_path(name) in shown), None)


def _about(text: str) -> str:
    """Return a slug of the words that say what a statement is about."""
    words = [word for word in plain_words(text) if word not in QUERY_STOP_WORDS and not _DECIDING.fullmatch(word)]
    return slug(" ".join(words[:ABOUT_WORDS]), "decision")


_DECIDING = re.compile(r"decided|chose|chosen|settled|agreed|picked|opted|decision|go|going|use|let")
