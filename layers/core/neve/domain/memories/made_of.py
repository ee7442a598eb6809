"""Tells which part of a log something was made from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from neve.domain.records.memories import Memory, Provenance
from neve.domain.records.sessions import Span, Spans
from neve.domain.sessions.spans import meets, without

Sources = tuple[tuple[str, int, int], ...]
"""Session, first and last seq of each log that something was made from, whatever was left out of it."""
MAX_SOURCES = 4
"""*Chosen*: sessions that are kept of something that is gone, 60 bytes each."""


def ranges_of(memory: Memory, session: str) -> Spans:
    """Give the ranges of a session's log that a memory was made from, or else those that a person wrote it over. What
    came with an import speaks of another log."""
    own = made_of(memory.provenance, session)
    return own or tuple((first, last) for one, first, last in memory.written_over if one == session)


def whole_range(memory: Memory, session: str | None) -> tuple[int | None, int | None]:
    """Give first and last seq of what ``ranges_of`` gives, whatever was left out of it; None where neither is known."""
    over = [(first, last) for one, first, last in memory.written_over if one == session]
    return (over[0][0], over[-1][1]) if over else (memory.provenance.seq_from, memory.provenance.seq_to)


def made_of(origin: Provenance, session: str) -> Spans:
    if origin.by == "import" or origin.session_id != session or origin.seq_from is None or origin.seq_to is None:
        return ()
    return tuple(without((origin.seq_from, origin.seq_to), origin.left_out))


def evolved_over(old: Memory) -> Sources:
    """Give what a successor of a memory is written over: a writer who replaces a statement has that statement in view,
    and what the new one keeps of it was said there."""
    session = old.provenance.session_id or ""
    return tuple((session, first, last) for first, last in made_of(old.provenance, session)) or old.written_over


def left_of_memory(memory: Memory) -> Sources | None:
    """Give the sources that are kept of a memory that is gone; None where they are not known."""
    return memory.written_over or sources_of([memory.provenance])


def sources_of(origins: Iterable[Provenance]) -> Sources | None:
    """Join the ranges of several origins into one for each session; None where there are more sessions than
    ``MAX_SOURCES``."""
    named = ((origin.session_id or "", replace(origin, left_out=())) for origin in origins)
    return joined_sources((session, *span) for session, origin in named for span in made_of(origin, session))


def joined_sources(sources: Iterable[tuple[str, int, int]]) -> Sources | None:
    """Join ranges into one for each session, from the first seq to the last; None where there are more sessions than
    ``MAX_SOURCES``."""
    joined: dict[str, Span] = {}
    for session, first, last in sources:
        known = joined.get(session, (first, last))
        joined[session] = (min(first, known[0]), max(last, known[1]))
    if len(joined) > MAX_SOURCES:
        return None
    return tuple((session, first, last) for session, (first, last) in joined.items())


def meets_any(sources: Sources | None, session: str, span: Span) -> bool:
    """Say whether something was made from events of a span. Unknown sources (None) count as yes."""
    return sources is None or any(one == session and meets([span], (first, last)) for one, first, last in sources)
