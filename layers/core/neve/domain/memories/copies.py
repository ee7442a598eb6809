"""Finds where else a memory may be told: what was made of the same events, and what says it in the same words
(docs/rules/memories.md#also-in). Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from neve.domain.memories.fact_statements import stated_ranges
from neve.domain.memories.made_of import made_of
from neve.domain.records.documents import Document
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.sessions import SessionHead, Spans
from neve.domain.sessions.spans import joined, meets, without

Place = Literal["events", "summary", "document", "memory"]
"""The log; what a compaction put in place of its middle; a document; a memory."""
Because = Literal["same_words", "same_events"]
_CHRONICLE = (Kind.OBSERVATION, Kind.REFLECTION)


@dataclass(frozen=True, slots=True)
class Copy:
    """A place that says what a memory says. ``id``: of a memory or a document; ``path``: of a document; ``seq_from``
    and ``seq_to``: of events, or of the events that a summary covers."""

    place: Place
    because: Because
    id: str | None = None
    path: str | None = None
    status: Status | None = None
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None


def spoken_of(memory: Memory) -> dict[str, Spans]:
    """Give the events that a memory was made from, by session; for a fact also those that said it again. A memory that
    came by a call or an import has none."""
    if memory.kind is not Kind.FACT:
        session = memory.provenance.session_id
        own = made_of(memory.provenance, session) if session is not None else ()
        return {session: own} if session is not None and own else {}
    places = stated_ranges(memory)
    return {session: joined(span for one, span in places if one == session) for session, _ in places}


def made_in(memory: Memory) -> set[str]:
    """Give the sessions that a memory was made of, or was written down in."""
    return set(spoken_of(memory)) | {one for one in (memory.session_id, memory.provenance.session_id) if one}


def made_of_any(row: Memory, events: Mapping[str, Spans]) -> bool:
    """Say whether a row was made from any of ``events`` (spans by session). The ranges of its passages decide where it
    has any: an observation is of many events, a line of few."""
    session = row.provenance.session_id or ""
    own = made_of(row.provenance, session)
    lines = [(p.seq_from, p.seq_to) for p in row.passages if p.seq_from is not None and p.seq_to is not None]
    if own and lines:
        own = joined(lines)
    if any(meets(events.get(session, ()), part) for part in own):
        return True
    return row.kind is Kind.FACT and any(
        meets(events.get(one, ()), part) for one, parts in spoken_of(row).items() for part in parts
    )


def document_copy(head: Document, of: Memory, events: Mapping[str, Spans], filed: Collection[str]) -> Copy | None:
    """Give a document as a copy of the memory ``of``: one that says the same words, or that a librarian made of the
    events, also where a person has written on it since. ``filed``: ids of the documents that were filed of the
    sessions. None where it is no copy."""
    if head.fingerprint == of.fingerprint:
        return Copy("document", "same_words", id=head.id, path=head.path, status=head.status)
    by_range = any(
        meets(spans, part) for session, spans in events.items() for part in made_of(head.provenance, session)
    )
    source = (head.source_id or "").partition(":")[0] if head.source_type == "session" else None
    rewritten = source in events and head.provenance.session_id != source
    if by_range or rewritten or head.id in filed:
        return Copy("document", "same_events", id=head.id, path=head.path, status=head.status)
    return None


def log_copies(session: SessionHead, epoch: SessionEpoch | None, spans: Spans) -> Iterator[Copy]:
    """Give the events of ``spans`` that are still in the log, and the summary that stands for them in prompts."""
    removed = epoch.removed_to if epoch is not None else 0
    for span in spans:
        for first, last in without(span, session.retracted):
            if last > removed:
                yield Copy(
                    "events",
                    "same_events",
                    session_id=session.session_id,
                    seq_from=max(first, removed + 1),
                    seq_to=last,
                )
    if epoch is None or epoch.covers_from is None or epoch.covers_to is None:
        return
    covers = (epoch.covers_from, epoch.covers_to)
    if meets(spans, covers):
        yield Copy("summary", "same_events", session_id=session.session_id, seq_from=covers[0], seq_to=covers[1])


def nearest(live: Sequence[LiveRow], written_from: str, most: int) -> list[str]:
    """Give the ids of the live rows of a session that may say what was written at a time, observations and reflections
    before facts, each from the nearest on. ``written_from``: the id that a row of that time would at least have."""
    at = bisect_left([row.id for row in live], written_from)
    placed = sorted(enumerate(live), key=lambda one: (one[1].kind not in _CHRONICLE, abs(one[0] - at)))
    return [row.id for _, row in placed[:most]]


def in_order(copies: Sequence[Copy]) -> list[Copy]:
    """Sort copies: the log first, which takes the rest along when it is taken back; memories last, the same words
    before the same events."""
    places: tuple[Place, ...] = ("events", "summary", "document", "memory")
    return sorted(
        copies,
        key=lambda one: (
            places.index(one.place),
            one.because == "same_events",
            one.session_id or "",
            one.seq_from or 0,
        ),
    )
