"""A fact is kept once however often it is said, and stands as long as one of its statements does
(docs/rules/retract.md#repeated-facts). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from neve.domain.memories.storage_decision import MAY_STATE, confidence_of
from neve.domain.memories.text import fingerprint, referenced_date
from neve.domain.records.memories import (
    BY_A_PERSON,
    DEFAULT_TRUST,
    TRUST,
    Memory,
    Provenance,
    Scope,
    Statement,
    Status,
)
from neve.domain.records.sessions import Span, Spans
from neve.domain.sessions.spans import meets

MAX_STATEMENTS = 8
"""Statements that a fact keeps beside the first one (*chosen*: 100 bytes each, and a fact's row has some 700 left of
its second kilobyte). Of more, the newest takes the place of the one before it; they are counted, and it is not known
any more where they were said."""
MAX_REPEATED_FACTS = 40
"""Facts that a session's marker names as said again (*chosen*). Of a session with more, every memory of the user is
looked at when something is taken back."""


def statement_of(origin: Provenance, observed_at: str, text: str | None = None) -> Statement:
    return Statement(
        origin.by, origin.session_id, origin.seq_from, origin.seq_to, origin.trust, observed_at=observed_at, text=text
    )


def first_statement(fact: Memory) -> Statement:
    """Give the statement by which the fact is kept."""
    return statement_of(fact.provenance, fact.observed_at)


def statements_of(fact: Memory) -> tuple[Statement, ...]:
    return (first_statement(fact), *fact.restatements)


def range_of(statement: Statement) -> tuple[str, Span] | None:
    """Give the session and the range of its log in which it was said. None for what no log of ours holds: a call's
    word, and an import's, whose ranges are of another log."""
    if (
        statement.by == "import"
        or statement.session_id is None
        or statement.seq_from is None
        or statement.seq_to is None
    ):
        return None
    return statement.session_id, (statement.seq_from, statement.seq_to)


def stated_ranges(fact: Memory) -> list[tuple[str, Span]]:
    """Give each place, as session and range, where logs of ours say the fact."""
    return list(dict.fromkeys(place for one in statements_of(fact) if (place := range_of(one)) is not None))


def is_retracted(statement: Statement, retracted: Mapping[str, Spans]) -> bool:
    """Say whether a statement's place was taken back. ``retracted``: spans by session."""
    place = range_of(statement)
    return place is not None and meets(retracted.get(place[0], ()), place[1])


# --- stated once more -------------------------------------------------------------------------------


def with_statement(fact: Memory, statement: Statement, *, counts: bool = True) -> Memory:
    """Add a statement to a fact and count it. ``counts`` False: the words were counted when they were read before,
    whatever range they had then."""
    fact = replace(fact, occurrences=fact.occurrences + counts)
    known = statements_of(fact)
    if any(_same_place(statement, one) if counts else _places_meet(statement, one) for one in known):
        return fact
    return replace(fact, restatements=_bounded((*fact.restatements, _in_words_of(fact.text, statement))))


def let_in_by(waiting: Memory, origin: Provenance, observed_at: str, *, counts: bool) -> Memory:
    """Let a fact that waited stand by ``origin``, which said it last; those before become its other statements."""
    again = _bounded((*waiting.restatements, first_statement(waiting)))
    new = statement_of(origin, observed_at)
    again = tuple(one for one in again if not _same_place(one, new))
    return replace(waiting, provenance=origin, restatements=again, occurrences=waiting.occurrences + counts)


def says_it_better(statement: Statement, fact: Memory) -> bool:
    """Say whether a fact is to stand in the words of a statement of it: a person's words stay, and else the longer
    ones stand, where whoever said them may state facts and is trusted as much."""
    new = statement in fact.restatements or range_of(statement) is None
    if statement.text is None or not new or not _may_state(statement) or fact.status is Status.SUPERSEDED:
        return False
    if fingerprint(statement.text) == fact.fingerprint:
        return False
    if any(one.by in BY_A_PERSON and one.text is None for one in statements_of(fact)) or fact.corrected:
        return False
    if statement.by in BY_A_PERSON:
        return True
    trusted = TRUST.index(statement.trust or DEFAULT_TRUST) <= TRUST.index(fact.provenance.trusted)
    return trusted and len(statement.text) > len(fact.text)


def in_words_of(fact: Memory, statement: Statement, origin: Provenance) -> Memory:
    """Let a fact stand in the words, at the place and with the trust of one of its statements; what it stood by before
    is one of the others. ``origin``: of the statement."""
    text = statement.text or fact.text
    others = (one for one in statements_of(fact) if not _same_place(one, statement))
    return replace(
        fact,
        text=text,
        fingerprint=fingerprint(text),
        referenced_date=referenced_date(text),
        passages=(),
        provenance=origin,
        observed_at=statement.observed_at or fact.observed_at,
        restatements=tuple(_with_words(one, text, fact.text) for one in others),
    )


def with_room_for(fact: Memory, statements: Iterable[Statement], words: str) -> tuple[Statement, ...]:
    """Choose those of ``statements``, of a fact in these words, that ``fact`` does not have and has room for."""
    own = statements_of(fact)
    new = [one for one in statements if not any(_same_place(one, other) for other in own)]
    return tuple(_with_words(one, fact.text, words) for one in new[: MAX_STATEMENTS - len(fact.restatements)])


def _same_place(statement: Statement, other: Statement) -> bool:
    return range_of(statement) == range_of(other)


def _places_meet(statement: Statement, other: Statement) -> bool:
    here, there = range_of(statement), range_of(other)
    if here is None or there is None:
        return here == there
    return here[0] == there[0] and meets([here[1]], there[1])


def _in_words_of(text: str, statement: Statement) -> Statement:
    return replace(statement, text=None) if statement.text == text else statement


def _bounded(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    return statements if len(statements) <= MAX_STATEMENTS else (*statements[: MAX_STATEMENTS - 1], statements[-1])


# --- taken back -----------------------------------------------------------------------------------


def without_retracted(fact: Memory, retracted: Mapping[str, Spans]) -> Memory:
    """Remove from the row those of its other statements that are taken back. The first one is not looked at."""
    left = tuple(one for one in fact.restatements if not is_retracted(one, retracted))
    gone = len(fact.restatements) - len(left)
    return replace(fact, restatements=left, occurrences=max(fact.occurrences - gone, 1)) if gone else fact


def restated(fact: Memory, remaining: Collection[Statement]) -> Memory | None:
    """Give the fact as it stands by what is left of its statements: in the words, at the place and with the trust of
    the first of them that may state facts, as if the others had never been said. Without such a one it waits in the
    inbox. None when nothing is left."""
    if not remaining:
        return None
    statements = statements_of(fact)
    by = next((one for one in remaining if _may_state(one)), next(iter(remaining)))
    gone = len(statements) - len(remaining)
    occurrences = max(fact.occurrences - gone, len(remaining))
    if by == statements[0]:
        others = tuple(one for one in remaining if one != by)
        return replace(fact, restatements=others, occurrences=occurrences)
    text = by.text or fact.text
    others = tuple(_with_words(one, text, fact.text) for one in remaining if one != by)
    status = fact.status if _may_state(by) or fact.status is Status.RESOLVED else Status.INBOX
    return replace(
        fact,
        text=text,
        fingerprint=fingerprint(text),
        referenced_date=referenced_date(text),
        passages=(),
        provenance=_origin(by, fact.provenance),
        session_id=by.session_id,
        scope=Scope.SESSION if by.session_id is not None else Scope.GLOBAL,
        observed_at=by.observed_at or fact.observed_at,
        confidence=confidence_of(by.by),
        person_at=None,
        written_over=(),
        status=status,
        restatements=others,
        occurrences=occurrences,
    )


def _with_words(statement: Statement, text: str, before: str) -> Statement:
    return _in_words_of(text, replace(statement, text=statement.text or before))


def _may_state(statement: Statement) -> bool:
    return statement.by in MAY_STATE and statement.trust != "tool"


def _origin(statement: Statement, before: Provenance) -> Provenance:
    model = before.model if range_of(statement) else None
    return Provenance(statement.by, statement.session_id, statement.seq_from, statement.seq_to, model, statement.trust)


def sessions_of(facts: Sequence[Memory]) -> set[str]:
    """Give the sessions in whose logs the facts were said."""
    return {session for fact in facts for session, _ in stated_ranges(fact)}
