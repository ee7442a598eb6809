"""Lists every store that holds something of a user: what removes it, and what is left in it
(docs/rules/erase.md#stores).

A store that is added for users is added here, in ``UserKeys.objects``, or below the user's partition; a test compares
what is listed here with what a user leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeVar

from neve.ports.engines import Ports
from neve.ports.table import Check, Item, Key, key_of
from neve.scope import UserData
from neve.store.delete_rows import DELETE_BATCH_SIZE, delete_rows
from neve.store.keys import (
    DELETED_DOCUMENT,
    DELETED_MEMORY,
    DOCUMENT,
    DOCUMENT_PLACE,
    DOCUMENT_REV,
    DOCUMENT_SOURCE,
    MEMORY,
    MEMORY_PLACE,
    SESSION,
    UserKeys,
    session_of,
)
from neve.store.partitions import all_rows, object_pages, whole
from neve.usecases.work.erase.user_jobs import remove_jobs

WRITES = ("POST", "PUT", "PATCH", "DELETE")
"""Calls whose first answer is kept for a day."""

PASSAGES = 5_000
"""Passages of one piece (*chosen*): five pages of a search domain, some seconds."""

T = TypeVar("T")
Rows = Callable[[UserData[Ports]], Iterator[Key]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A removal. ``removed``: how much of one store. ``jobs_behind``: of jobs, behind which row a worker that stops
    here goes on."""

    store: str
    removed: int
    jobs_behind: str | None = None


def remove_everything(
    data: UserData[Ports], *, shared: bool = True, fence: Check | None = None, jobs_behind: str = ""
) -> Iterator[Piece]:
    """Remove what each store holds, but for the user's head and the receipts of erasures; yields after each piece, so
    that a worker can stop in between. May be repeated. ``shared`` False: not what lies among other users' rows.
    ``fence``: what has to hold for each removal of rows. ``jobs_behind``: of jobs only those behind that row, where an
    earlier call has stopped. Raises Conflict when the fence does not hold, StoreUnavailable."""
    ports, keys = data.ports, data.keys
    yield from _passages(data)
    for name, prefix in keys.objects.items():
        for objects in _pieces(chain.from_iterable(object_pages(ports.objects, prefix))):
            for one in objects:
                ports.objects.delete(one)
            yield Piece(name, len(objects))
    for name, rows_of in (ROWS | (SHARED if shared else {})).items():
        for some in _pieces(rows_of(data)):
            yield Piece(name, delete_rows(ports.table, some, fence))
    if shared:
        for behind, removed in remove_jobs(data, jobs_behind, fence):
            yield Piece(JOBS, removed, behind)


def _passages(data: UserData[Ports]) -> Iterator[Piece]:
    """Erase passages in at least one piece, be it empty."""
    erased = PASSAGES
    while erased >= PASSAGES:
        erased = data.ports.search.erase(data.keys.owner, at_most=PASSAGES)
        yield Piece("passages", erased)


def left_in_stores(data: UserData[Ports]) -> dict[str, int]:
    """Count how much each store but that of jobs holds, rows counted up to one, objects up to a page. Raises
    StoreUnavailable."""
    ports, keys = data.ports, data.keys
    left = {"passages": ports.search.count(keys.owner)}
    left |= {name: len(ports.objects.page(prefix)) for name, prefix in keys.objects.items()}
    return left | {name: int(next(rows_of(data), None) is not None) for name, rows_of in (ROWS | SHARED).items()}


def _pieces(found: Iterable[T]) -> Iterator[list[T]]:
    """Cut into pieces of as many as one transaction takes."""
    rest = iter(found)
    while piece := list(islice(rest, DELETE_BATCH_SIZE)):
        yield piece


# --- rows ---------------------------------------------------------------------------------------


def _own(data: UserData[Ports], prefix: str | None = None) -> Iterator[Item]:
    return all_rows(whole(data.ports.table), data.keys.partition, prefix=prefix)


def _events(data: UserData[Ports]) -> Iterator[Key]:
    """Give events with the client ids, session by session, its own row behind them: a crash loses no way to an event,
    and a worker that goes on does not look through the logs again that are empty."""
    for item in _own(data, SESSION):
        session = session_of(key_of(item))
        if session is not None:
            yield from map(key_of, all_rows(whole(data.ports.table), data.keys.of_session(session).log))
            yield key_of(item)


def _partition(name: Callable[[UserKeys], str]) -> Rows:
    return lambda data: map(key_of, all_rows(whole(data.ports.table), name(data.keys)))


def _beginning(*prefixes: str) -> Rows:
    return lambda data: (key_of(item) for prefix in prefixes for item in _own(data, prefix))


def _others(data: UserData[Ports]) -> Iterator[Key]:
    return (key for key in map(key_of, _own(data)) if key != data.keys.head)


def _answers(data: UserData[Ports]) -> Iterator[Key]:
    """Give what was answered to the user's own calls, not to the erasure itself."""
    table, keys = whole(data.ports.table), data.keys
    for method in WRITES:
        yield from map(key_of, all_rows(table, keys.answers, prefix=f"{method} /v1/users/{keys.user}/"))


ROWS: dict[str, Rows] = {
    "events": _events,
    "recalls": _partition(lambda keys: keys.ledger),
    "vectors": _partition(lambda keys: keys.vectors),
    "memories": _beginning(MEMORY, MEMORY_PLACE),
    "deleted": _beginning(DELETED_MEMORY, DELETED_DOCUMENT),
    "documents": _beginning(DOCUMENT, DOCUMENT_REV, DOCUMENT_PLACE, DOCUMENT_SOURCE),
    "rows": _others,
}
"""Stores in the order in which they are removed: a crash loses no way to a row."""
SHARED: dict[str, Rows] = {"answers": _answers}
JOBS = "jobs"
"""The store that is looked through page by page."""
