"""Statements that do not hold, and which other words say them (docs/rules/facts.md#what-does-not-hold). Pure.

A fact is a single statement, and the messages and lines that it was drawn from say it, too. Once it was superseded or
rejected, or has ended, or while it waits for a decision, they must not go on saying it as if it held."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from neve.domain.memories.fact_statements import stated_ranges
from neve.domain.memories.statements import normalised, statements
from neve.domain.memories.visibility import active, born, status_at
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import meets
from neve.domain.validity import has_ended
from neve.domain.words import QUERY_STOP_WORDS, is_emoji, plain_words

MAX_STEPS = 200
"""Successors of successors that are followed: as many as there are rows (``UNHELD_ROWS``)."""
ROOT = 6
"""Letters of a word that are compared, without its ending (*chosen*): "pregnant" is "pregnancy" then. Nothing stems
where packs are built, and only words of the same events are compared."""
_CACHED_TEXTS = 2_000

_FILLERS = """
user actually already correction currently day days hello hey hi know moment note now nowadays okay ok presently
remember still today well
"""
_WITHOUT_MEANING = QUERY_STOP_WORDS | frozenset(_FILLERS.split())
_PAST = re.compile(r"\b(?:used to|formerly|previously|no longer|not any ?more|anymore)\b", re.I)
"""A sentence with these tells of the past, and so holds, unless the fact says so itself."""
_DENIES = re.compile(
    r"\b(?:not|never|no longer|any ?more|any longer|stopped|quit|left|lost|gave up|sold|broke up|divorced|resigned"
    r"|fired|died)\b|n't\b",
    re.I,
)
_TWO_CLAUSES = re.compile(r";|\b(?:and|but)\s+(?:user|they|i|we|he|she)\b", re.I)
_RESOLVED = re.compile(r"\(meaning [^()]*\)")
"""A date as an observer writes it behind the words that were said."""
_SIGNS_BEFORE = re.compile(r"[^\w\[(\"'“]*")


@dataclass(frozen=True, slots=True)
class Unheld:
    """A fact that does not hold. ``why``: superseded, as which one that has ended counts, too; or inbox, or archived,
    which is rejected. ``successor``: the fact that holds instead."""

    fact: Memory
    why: Status
    successor: Memory | None = None


@dataclass(frozen=True, slots=True)
class Retold:
    """A text after ``retold``. ``text``: without what is left out, empty where that is all of it. ``said``: the facts
    in it that do not hold; ``rest``: whether it has sentences beside those that say them."""

    text: str
    said: tuple[Unheld, ...] = ()
    rest: bool = True


Tell = Callable[[Unheld, bool], str | None]
"""Gives the mark in front of a sentence that says it, or None to leave the sentence out; told whether it says more."""


def is_unheld(memory: Memory) -> bool:
    """Say whether it is a fact, said in a log, that does not hold: by its status, which a replacement may be about to
    change, or one day, by its end. What was taken back has no successor, and neither have its events any reader."""
    if memory.kind is not Kind.FACT or not (_unheld(memory.status, memory) or memory.valid_until is not None):
        return False
    return bool(stated_ranges(memory))


def unheld_since(memory: Memory) -> str:
    """Give the time since when, or from which on, a fact does not hold."""
    if _unheld(memory.status, memory):
        return memory.superseded_at or memory.created_at
    return memory.valid_until or memory.created_at


def may_repeat(memory: Memory) -> bool:
    """Say whether it was made of what was said in a log of ours, and not in a person's words."""
    if memory.provenance.by in ("human_edit", "import"):
        return False
    return memory.kind in (Kind.OBSERVATION, Kind.REFLECTION, Kind.SESSION_SUMMARY)


def _unheld(status: Status, fact: Memory) -> bool:
    """Say whether a fact of this status does not hold. One that waits because a tool or an assistant said it is not
    meant: wherever else it stands, it is marked as their word."""
    if status is Status.INBOX:
        return fact.judged is None or fact.judged.criteria.provenance
    return status is Status.ARCHIVED or (status is Status.SUPERSEDED and fact.superseded_by is not None)


def unheld_facts(facts: Iterable[Memory], gen: int, at: str) -> list[Memory]:
    """Give those of the facts that do not hold as generation ``gen`` sees them, or have ended by the time ``at``."""
    return [fact for fact in facts if born(fact.born_gen, gen) and _why(fact, gen, at)]


def _why(fact: Memory, gen: int, at: str) -> Status | None:
    status = status_at(fact, gen)
    if _unheld(status, fact):
        return status
    return Status.SUPERSEDED if status is Status.ACTIVE and has_ended(fact, at) else None


def last_successors(facts: Sequence[Memory]) -> dict[str, str]:
    """Find, by the id of a superseded fact, what has taken the place of what took its place, and so on: the first one
    that is not among ``facts``."""
    by = {fact.id: fact.superseded_by for fact in facts if fact.status is Status.SUPERSEDED and fact.superseded_by}
    last: dict[str, str] = {}
    for identifier, successor in by.items():
        for _ in range(MAX_STEPS):
            if successor not in by:
                break
            successor = by[successor]
        last[identifier] = successor
    return last


def with_successors(facts: Sequence[Memory], known: Mapping[str, Memory], gen: int, at: str) -> tuple[Unheld, ...]:
    """Pair each fact of ``unheld_facts`` with what holds instead, and leave out those that hold again, because what
    took their place says the same. ``known``: the rows of ``last_successors`` by id."""
    last = last_successors(facts)
    found = []
    for fact in facts:
        after = known.get(last.get(fact.id, ""))
        after = after if after is not None and active(after, gen, at) else None
        if after is None or not _says_again(after.text, fact.text):
            found.append(Unheld(fact, _why(fact, gen, at) or fact.status, after))
    return tuple(found)


def _says_again(newer: str, older: str) -> bool:
    """Say whether a newer text has all that an older one says. It does not where one of them denies what the other
    says: "User is not vegan anymore" has all words of "is vegan"."""
    alike = (_DENIES.search(newer) is None) == (_DENIES.search(older) is None)
    return alike and _content(newer) >= _content(older)


def retold(
    text: str, session: str | None, span: Span | None, unheld: Iterable[Unheld], tell: Tell, *, reply: bool = False
) -> Retold:
    """Tell a text that was made of ``span`` of a session's log again, sentence by sentence, each that says an unheld
    fact marked or left out as ``tell`` decides. ``reply``: it may answer the message that the fact was drawn from.
    Without a span it may be made of any events."""
    near = [(one, _share(one.fact, session, span, reply=reply)) for one in unheld]
    near = [(one, share) for one, share in near if share]
    if not near:
        return Retold(text)
    whole = normalised(text)
    told: list[str] = []
    said: dict[str, Unheld] = {}
    behind, rest = 0, False
    for sentence in statements(whole):
        at = whole.index(sentence, behind)
        between, behind = whole[behind:at], at + len(sentence)
        of_it = [one for one, share in near if _says(sentence, one, share, _is_of(one.successor, session, span))]
        marks = [tell(one, not _says_nothing_else(sentence, one, of_it)) for one in of_it]
        said |= {one.fact.id: one for one in of_it}
        rest = rest or (not of_it and bool(_content(sentence)))
        if None not in marks:
            told.append(between + _marked(sentence, [mark for mark in marks[:1] if mark]))
    if not said:
        return Retold(text)
    return Retold("".join(told).strip(), tuple(said.values()), rest)


def of_its_words(text: str, session: str | None, span: Span | None, fact: Memory) -> bool:
    """Say whether a text that was made of ``span`` of a session's log says what a fact says that was drawn from it."""
    wanted = _said(fact.text)
    return _is_of(fact, session, span) and 2 * len(wanted & _said(text)) >= len(wanted)


def _is_of(fact: Memory | None, session: str | None, span: Span | None) -> bool:
    return (
        fact is not None
        and span is not None
        and any(own == session and meets([place], span) for own, place in stated_ranges(fact))
    )


def _share(fact: Memory, session: str | None, span: Span | None, *, reply: bool) -> float:
    """Give the share of the fact's words that a sentence has to hold to say it: half, where the text is of no more
    events than the fact; all, where it is of more, or may be of others; 0 where it can say nothing of it."""
    if span is None:
        return 1.0
    for own, (first, last) in stated_ranges(fact):
        if own == session and meets([(first, last)], span):
            return 0.5 if first <= span[0] and span[1] <= last else 1.0
        if own == session and reply and span == (last + 1, last + 1):
            return 1.0
    return 0.0


def _says(sentence: str, one: Unheld, share: float, of_successor: bool) -> bool:
    wanted, held = _said(one.fact.text), _said(sentence)
    if not wanted or not held or (_PAST.search(sentence) and not _PAST.search(one.fact.text)):
        return False
    newer = _said(one.successor.text) if one.successor else frozenset()
    if of_successor and len(held & newer) * len(wanted) >= len(held & wanted) * max(len(newer), 1):
        return False
    own = wanted - newer
    return len(held & wanted) >= share * len(wanted) and (not own or not own.isdisjoint(held))


def _says_nothing_else(sentence: str, one: Unheld, said: Sequence[Unheld]) -> bool:
    """Say whether a sentence that says it says nothing that holds. What a person rejected, or has not confirmed, takes
    its whole sentence along. Of a fact of two clauses it is not known which one was meant."""
    if one.why is not Status.SUPERSEDED:
        return True
    return not _TWO_CLAUSES.search(one.fact.text) and _said(sentence) <= frozenset().union(
        *(_said(other.fact.text) for other in said)
    )


def _marked(sentence: str, marks: Sequence[str]) -> str:
    """Put the marks into a sentence, behind the signs in front of it."""
    before = _SIGNS_BEFORE.match(sentence)
    at = before.end() if before else 0
    return sentence[:at] + "".join(f"{mark} " for mark in marks) + sentence[at:]


def _said(text: str) -> frozenset[str]:
    """Give the content words as they were said: a message has no resolved dates."""
    return _content(_RESOLVED.sub("", text))


@lru_cache(maxsize=_CACHED_TEXTS)
def _content(text: str) -> frozenset[str]:
    words = (word for word in plain_words(text) if word not in _WITHOUT_MEANING and not is_emoji(word))
    return frozenset(map(_root, words))


def _root(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            word = word.removesuffix(ending)
            break
    return word.rstrip("e")[:ROOT] if len(word) > 2 else word
