"""No statement stands twice in a pack (docs/rules/pack.md#repeated-statements): a fact is said by the line that was
made of the same events, or by any line in the same words; a note or a manual entry by another one of the same text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from neve.domain.memories.made_of import made_of
from neve.domain.records.memories import TRUST, Kind, Memory, Trust
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import span_of
from neve.domain.words import QUERY_STOP_WORDS, is_emoji, plain_words

_OBSERVED = (Kind.OBSERVATION, Kind.REFLECTION)
_WRITTEN = (Kind.NOTE, Kind.MANUAL)
_DAY_BEHIND = re.compile(r" \(\d{4}-\d\d-\d\d\)\s*$")
_NEGATIONS = frozenset({"no", "not", "never", "none", "nobody", "nothing", "without", "cannot"})
_THIRD = re.compile(r"(?<=[a-z]{2})(?:(?<=ch|sh|ss|zz)es|(?<=x|o)es|(?<!s)s)$")
"""Of a verb that is told of another person."""

_USER = ("user",)

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that may state a fact. ``span``: of the session's log, where it was made from one."""

    words: Words
    trust: Trust
    session: str | None = None
    span: Span | None = None


def already_stated(rows: Sequence[Memory], documents: Iterable[str]) -> frozenset[str]:
    """Give the ids of the facts whose statement another line says, and of the notes and manual entries that are there
    twice. ``rows``: of both layers, as they are rendered; of two that say the same the first stays. ``documents``: the
    texts that are shown. A tool's line does not speak for what a person or an assistant said. Of facts, negations and
    the order of the words count, and no word is stemmed; of the others, the fingerprint of the whole text."""
    again = _written_twice(rows)
    facts = [memory for memory in rows if memory.kind is Kind.FACT]
    if not facts:
        return frozenset(again)
    others = [line for memory in rows if memory.kind is not Kind.FACT for line in _lines(memory)]
    others += [_Line(_words(line), "user") for text in documents for line in text.splitlines()]
    stated = {line.words: line.trust for line in sorted(others, key=lambda line: -TRUST.index(line.trust))}
    observed: dict[str, list[_Line]] = {}
    for line in others:
        if line.session is not None and line.span is not None:
            observed.setdefault(line.session, []).append(line)
    for fact in facts:
        words, trust = _words(fact.text), fact.provenance.trusted
        same = words != () and words in stated and may_speak_for(stated[words], trust)
        near = _lines_of_same_events(fact, observed.get(fact.provenance.session_id or "", ()))
        by_name = words[1:] if fact.about and words[:1] == _USER else words  # the lines of a participant name them
        if same or any(_says(line, trust, by_name) for line in near):
            again.add(fact.id)
        else:
            stated[words] = trust
    return frozenset(again)


def said_in_whole(text: str, other: str) -> bool:
    """Say whether both are the same words."""
    return _words(text) == _words(other)


def _written_twice(rows: Sequence[Memory]) -> set[str]:
    """Give the ids of notes and manual entries that repeat one before them. What an observer wrote stays: it stands in
    the order of a conversation, where saying so once more may be what counts."""
    seen: dict[str, Trust] = {}
    again = set()
    for row in (memory for memory in rows if memory.kind in _WRITTEN):
        trust = row.provenance.trusted
        if row.fingerprint in seen and may_speak_for(seen[row.fingerprint], trust):
            again.add(row.id)
        else:
            seen[row.fingerprint] = trust
    return again


def _lines(memory: Memory) -> Iterator[_Line]:
    origin = memory.provenance
    session = origin.session_id if memory.kind in _OBSERVED and origin.by != "import" else None
    if memory.passages:
        for one in memory.passages:
            yield _Line(_words(one.text), one.trust or origin.trusted, session, span_of(one.seq_from, one.seq_to))
        return
    for text in memory.text.splitlines():
        yield _Line(_words(text), origin.trusted, session, span_of(origin.seq_from, origin.seq_to))


def _words(text: str) -> Words:
    """Split a text into words, without the marks of priority, and without the day that a reflection writes behind a
    line."""
    return tuple(word for word in plain_words(_DAY_BEHIND.sub("", text)) if not is_emoji(word))


def _lines_of_same_events(fact: Memory, lines: Iterable[_Line]) -> Iterator[_Line]:
    """Give those of ``lines``, of the fact's own session, that were made of the same events. A long session has
    thousands of both."""
    for first, last in made_of(fact.provenance, fact.provenance.session_id or ""):
        yield from (line for line in lines if line.span and line.span[0] <= last and line.span[1] >= first)


def _says(line: _Line, trust: Trust, words: Words) -> bool:
    """Say whether a line says all that the fact says. ``trust``: the fact's."""
    if not may_speak_for(line.trust, trust) or len(_negations(line.words)) != len(_negations(words)):
        return False
    wanted, given = _content(words), iter(_content(line.words))
    return bool(wanted) and all(word in given for word in wanted)


def may_speak_for(one: Trust, other: Trust) -> bool:
    """Say whether a line of trust ``one`` may speak for ``other``. What a tool said is marked in a pack; between other
    words it makes no difference."""
    return one != "tool" or other == "tool"


def _content(words: Words) -> list[str]:
    """Give the words that carry meaning, in the form in which a speaker says them of themselves, too: ``User lives in
    Rome`` says what "I live in Rome" does."""
    plain = (word for word in words if word not in QUERY_STOP_WORDS and word not in _negations((word,)))
    return [_THIRD.sub("", word) for word in plain]


def _negations(words: Words) -> set[str]:
    return {word for word in words if word in _NEGATIONS or word.endswith("n't")}
