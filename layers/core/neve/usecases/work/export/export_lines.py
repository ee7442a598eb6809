"""Writes all that is kept of a user as JSON lines (docs/rules/export.md#lines). A memory's line is one that an import
takes, and a document's has the members of the call that writes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from neve.domain.documents.change import DocumentChange
from neve.domain.documents.paths import ARTIFACTS
from neve.domain.librarian.filing import Proposal
from neve.domain.memories.visibility import born, status_at
from neve.domain.records.documents import Document
from neve.domain.records.memories import Memory, Provenance, Status
from neve.domain.records.sessions import Event, SessionHead
from neve.domain.sessions.spans import holds
from neve.domain.times import iso
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.documents import text_of
from neve.store.filings import read_proposal
from neve.store.keys import SUMMARY
from neve.store.partitions import all_rows
from neve.store.sessions.thinking import read_thinking, shown_thinking, with_thinking
from neve.usecases.ask.documents.list_documents import list_documents
from neve.usecases.work.observe.images import with_images

FORMAT = 1
Line = dict[str, Any]

_OF_A_MEMORY = (
    *(
        "id",
        "text",
        "kind",
        "session_id",
        "scope",
        "priority",
        "importance",
        "confidence",
        "label",
        "group",
        "category",
        "written_by",
        "valid_from",
        "valid_until",
    ),
    "metadata",
    "audience",
    *("outcome", "emotional_tone", "occurrences", "superseded_by", "superseded_at", "superseded_reason"),
    *("created_at", "observed_at", "observed_date", "time_of_day", "last_used_at"),
)
_OF_A_DOCUMENT = tuple(name for name in DocumentChange.__dataclass_fields__ if name != "provenance")
_OF_A_SESSION = (
    "session_id",
    "status",
    "title",
    "user_meta",
    "metadata",
    "outcome",
    "started_at",
    "last_event_at",
    "last_seq",
)


class Place(NamedTuple):
    """A line behind which the rest can be written by another worker. ``part``: one of those below; ``at``: the sort key
    of a memory or a proposal, the path of a document, the id of a session; ``seq``: of the session's event, 0 in front
    of them."""

    part: str
    at: str
    seq: int = 0


MEMORIES, PROPOSALS, DOCUMENTS, SESSIONS, PUT_AWAY = _PARTS = (
    *("memories", "proposals", "documents", "sessions", "artifacts"),
)
"""In this order: what is approved meanwhile is read as a document, what is put away as an artifact, and nothing is in
neither place."""
Placed = tuple[Line, Place | None]
"""A line without a place belongs to the next one that has one."""


def export_lines(scope: UserScope, behind: Place | None = None, gen: int | None = None) -> Iterator[Placed]:
    """Yield the line that says what this is, then memories, what waits to be made of documents, documents, each session
    with its log and summaries, and what was put away of it; of an export that goes on, those ``behind`` a place.
    ``gen``: of the user as the export began, so that what is replaced meanwhile is not in it beside what takes its
    place; None: as it is now. Raises StoreUnavailable."""
    if behind is None:
        yield {"type": "export", "format": FORMAT, "user_id": scope.user, "at": iso(scope.ports.clock.now())}, None
    begun = _PARTS.index(behind.part) if behind else 0
    for part in _PARTS[begun:]:
        after = behind if behind and behind.part == part else None
        if part == MEMORIES:
            yield from _memories(scope, after, gen)
        elif part == SESSIONS:
            yield from _sessions(scope, after)
        elif part == PROPOSALS:
            yield from _proposals(scope, after)
        else:
            yield from _documents(scope, part, after)


def _memories(scope: UserScope, after: Place | None, begun: int | None) -> Iterator[Placed]:
    gen = rows.read_head(scope.ports.table.get(scope.keys.head)).gen if begun is None else begun
    bounds = scope.keys.memories_behind(after.at if after else None)
    for item in all_rows(scope.ports.table, scope.keys.partition, between=bounds):
        memory = rows.read_memory(item)
        if born(memory.born_gen, gen):
            yield memory_line(memory, status_at(memory, gen)), Place(MEMORIES, item["sk"])


def _documents(scope: UserScope, part: str, after: Place | None) -> Iterator[Placed]:
    prefix = ARTIFACTS if part == PUT_AWAY else "/"
    for document in list_documents(scope, prefix, after.at if after else None):
        yield document_line(document, text_of(scope.ports.objects, document)), Place(part, document.path)


def _proposals(scope: UserScope, after: Place | None) -> Iterator[Placed]:
    """Yield the proposals, decided ones too: what was rejected is still kept."""
    bounds = scope.keys.proposals_behind(after.at if after else None)
    for item in all_rows(scope.ports.table, scope.keys.partition, between=bounds):
        yield proposal_line(read_proposal(item)), Place(PROPOSALS, item["sk"])


def _sessions(scope: UserScope, after: Place | None) -> Iterator[Placed]:
    if after:
        yield from _event_lines(scope.of_session(after.at), after.seq + 1)
    bounds = scope.keys.sessions_behind(after.at if after else None)
    for item in all_rows(scope.ports.table, scope.keys.partition, between=bounds):
        if item.get("deleted"):
            continue
        session = scope.of_session(item["session_id"])
        *first, last = _lines_above_events(session, rows.read_session(item))
        yield from ((line, None) for line in first)
        yield last, Place(SESSIONS, session.session)
        yield from _event_lines(session, 1)


def _lines_above_events(scope: SessionScope, session: SessionHead) -> list[Line]:
    items = all_rows(scope.ports.table, scope.keys.partition, prefix=f"{SUMMARY}{scope.session}#")
    return [
        {"type": "session", **_given(_session_fields(session))},
        *({"type": "summary", **_given(asdict(rows.read_summary(item)) | {"version": None})} for item in items),
    ]


def _session_fields(session: SessionHead) -> Line:
    fields = {name: getattr(session, name) for name in _OF_A_SESSION} | {"room": session.room or None}
    return fields | {"participants": [_given(asdict(one)) for one in session.participants] or None}


def _event_lines(scope: SessionScope, first: int) -> Iterator[Placed]:
    head = scope.ports.table.get(scope.keys.session_head)
    session = rows.read_session(head) if head else None
    retracted = session.retracted if session else ()
    thinking = read_thinking(scope.ports.table, scope.keys, shown_thinking(session)) if session else {}
    for item in all_rows(scope.ports.table, scope.keys.log, between=scope.keys.events(first)):
        (event,) = with_thinking([with_images(scope.ports.objects, rows.read_event(item))], thinking)
        line = event_line(scope.session, event, retracted=holds(retracted, event.seq))
        yield line, Place(SESSIONS, scope.session, event.seq)


def memory_line(memory: Memory, status: Status) -> Line:
    """Write the line of a memory. ``status``: as readers see it now."""
    line = _given({name: getattr(memory, name) for name in _OF_A_MEMORY})
    line |= {
        name: list(getattr(memory, name))
        for name in ("tags", "key_topics", "supersedes", "about")
        if getattr(memory, name)
    }
    if memory.never_recall:
        line["never_recall"] = True
    if memory.passages:
        line["passages"] = [_given(asdict(passage)) for passage in memory.passages]
    return {"type": "memory", **line, "status": status.value, "provenance": _origin(memory.provenance)}


def document_line(document: Document, text: str) -> Line:
    fields = {name: getattr(document, name) for name in _OF_A_DOCUMENT if name not in document.derived}
    line = _given(fields | {"text": text, "tags": list(document.tags)})
    rest = _given(
        {name: getattr(document, name) for name in ("id", "rev", "created_at", "updated_at", "session_id", "seq")}
    )
    return {"type": "document", "path": document.path, **line, **rest, "provenance": _origin(document.provenance)}


def proposal_line(proposal: Proposal) -> Line:
    rest = {name: value for name, value in asdict(proposal).items() if name not in ("action", "write_id", "version")}
    return {"type": "proposal", **_given(rest), "action": _given(asdict(proposal.action))}


def event_line(session: str, event: Event, *, retracted: bool) -> Line:
    """Write the line of an event. ``retracted``: an export keeps what was taken back, and its reader has to see that it
    was."""
    return {
        "type": "event",
        "session_id": session,
        **_given(asdict(event)),
        **({"retracted": True} if retracted else {}),
    }


def _origin(origin: Provenance) -> Line:
    """Write the origin of a memory without the parts of its range that were taken back: elsewhere they never were."""
    return _given({name: value for name, value in asdict(origin).items() if name != "left_out"})


def _given(fields: Mapping[str, Any]) -> Line:
    """Leave out absent members: they are never null."""
    return {name: value for name, value in fields.items() if value is not None and value != {} and value != ""}
