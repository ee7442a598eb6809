"""E9 ``memories/forget`` without a confirmation: find what would be forgotten, show it, and keep the list
(docs/rules/forget.md#list)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from neve.domain.errors import not_found
from neve.domain.indexing.passage import Source
from neve.domain.metadata import as_entries
from neve.domain.records.memories import Memory
from neve.scope import UserScope
from neve.store import rows
from neve.store.memories import memories_of
from neve.usecases.ask.memories.list_memories import MemoryFilter, as_seen, list_memories
from neve.usecases.ask.recall.command import RecallCommand, RecallFilters
from neve.usecases.ask.recall.recall import recall
from neve.usecases.tell.forget.listed import GOOD_FOR, Listed, new_list

SHOWN = 100
"""Memories that an answer shows with their texts (*given*)."""
MAX_LISTED = 10_000
"""*Chosen*: what one job forgets; who has more lists again."""
HITS = 20
"""Memories that a query finds (*given*)."""
TIME_LIMIT_MS = 15_000
"""*Chosen*: half of what API Gateway lets a call take."""
PAGE = 1_000
EVERYTHING = MemoryFilter()


@dataclass(frozen=True, slots=True)
class ToForget:
    """A caller's wish: the memories of ``ids``; else those that a search for ``query`` finds, within ``where``; else
    all that ``where`` admits. ``conversations``: those of ``where.of_sessions``, too."""

    where: MemoryFilter = EVERYTHING
    query: str | None = None
    ids: tuple[str, ...] = ()
    conversations: bool = False


@dataclass(frozen=True, slots=True)
class ListedConversation:
    session_id: str
    last_seq: int


@dataclass(frozen=True, slots=True)
class ForgetList:
    """The list of what would be forgotten. ``confirm``: has exactly this forgotten; None where there is nothing.
    ``complete`` False: there is more, which another list has when this is forgotten."""

    memories: Sequence[Memory]
    count: int
    complete: bool = True
    conversations: Sequence[ListedConversation] = ()
    confirm: str | None = None
    expires_in_s: int = int(GOOD_FOR.total_seconds())
    degraded: Sequence[str] = ()


def list_to_forget(scope: UserScope, wanted: ToForget) -> ForgetList:
    """Find what is wanted, and keep the list of it for an hour. Nothing is forgotten. Raises memory_not_found of
    ``ids``, session_not_found of ``conversations``, erasing, user_closed, conflict, StoreUnavailable."""
    rows.writable(rows.read_head(scope.ports.table.get(scope.keys.head)))
    conversations = _conversations(scope, wanted)
    degraded: Sequence[str] = ()
    complete = True
    if wanted.ids:
        found = _by_id(scope, wanted.ids)
    elif wanted.query is not None:
        found, degraded = _by_query(scope, wanted.query, wanted.where)
    else:
        found, complete = _by_filter(scope, wanted.where)
    listed = [Listed("memory", memory.id, memory.rev) for memory in found]
    listed += [Listed("conversation", one.session_id, one.last_seq) for one in conversations]
    shown = ForgetList(found[:SHOWN], len(found), complete, conversations, degraded=degraded)
    return replace(shown, confirm=new_list(scope, listed)) if listed else shown


def _conversations(scope: UserScope, wanted: ToForget) -> list[ListedConversation]:
    """Read how far the conversations go. Raises session_not_found."""
    if not wanted.conversations:
        return []
    heads = {one: scope.of_session(one).keys.session_head for one in dict.fromkeys(wanted.where.of_sessions)}
    found = scope.ports.table.get_many(list(heads.values()))
    for session, key in heads.items():
        if not rows.is_there(found, key):
            raise not_found("session", session)
    last = {session: rows.read_session(found[key]).last_seq for session, key in heads.items()}
    return [ListedConversation(session, seq) for session, seq in last.items() if seq]


def _by_id(scope: UserScope, ids: Sequence[str]) -> list[Memory]:
    """Read memories by their ids. Raises memory_not_found where one is not there."""
    found = memories_of(scope.ports.table, scope.keys, ids)
    for one in ids:
        if all(memory.id != one for memory in found):
            raise not_found("memory", one)
    return found


def _by_query(scope: UserScope, query: str, where: MemoryFilter) -> tuple[list[Memory], Sequence[str]]:
    """Search as a model's tool does, and give the memories that ``where`` admits, with what the search lacked."""
    command = RecallCommand(
        query=query,
        k=HITS,
        mode="tool",
        sources=(Source.MEMORY,),
        filters=RecallFilters(
            group=where.group,
            tags=where.tags,
            metadata=as_entries(dict(where.metadata)),
            tier=where.tier,
            category=where.category,
            kind=where.kind,
            after=where.after,
            before=where.before,
            about=where.about,
        ),
        include_inbox=where.status == "inbox",
        include_superseded=where.status == "superseded",
    )
    answer = recall(scope, command)
    keys, table = scope.keys, scope.ports.table
    ids = dict.fromkeys(hit.id for hit in answer.hits)
    found = table.get_many([keys.head, *map(keys.memory, ids)])
    gen = rows.read_head(found.get(keys.head)).gen
    memories = (as_seen(found[key], gen) for key in map(keys.memory, ids) if key in found)
    return [memory for memory in memories if where.admits(memory, memory.status)], answer.degraded


def _by_filter(scope: UserScope, where: MemoryFilter) -> tuple[list[Memory], bool]:
    """List what ``where`` admits, and say whether that is all."""
    ends_ms = scope.ports.clock.monotonic_ms() + TIME_LIMIT_MS
    found: list[Memory] = []
    for page, is_last in _pages(scope, where):
        found += page
        if is_last:
            return found[:MAX_LISTED], len(found) <= MAX_LISTED
        if len(found) >= MAX_LISTED or scope.ports.clock.monotonic_ms() >= ends_ms:
            break
    return found[:MAX_LISTED], False


def _pages(scope: UserScope, where: MemoryFilter) -> Iterator[tuple[list[Memory], bool]]:
    cursor: str | None = None
    while True:
        page, cursor = list_memories(scope, where, PAGE, cursor)
        yield page, cursor is None
        if cursor is None:
            return
