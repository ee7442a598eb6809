"""Lists every store that holds something of a user: what removes it, and what is left in it
(docs/rules/erase.md#stores).

A store that is added for users is added here, in ``UserKeys.objects``, or below the user's partition; a test compares
what is listed here with what a user leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from neve.ports.engines import Ports
from neve.ports.table import MAX_WRITE_OPS, Delete, Expect, Item, Key, WriteOp, key_of
from neve.scope import UserData
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
from neve.store.partitions import all_rows, readable_whole
from neve.usecases.work.erase.user_events import remove_events
from neve.usecases.work.erase.user_jobs import remove_jobs

WRITES = ("POST", "PUT", "PATCH", "DELETE")
"""Calls whose first answer is kept for a day."""

PASSAGES = 5_000
"""Passages of one piece (*chosen*): five pages of a search domain, some seconds."""

PIECE = MAX_WRITE_OPS - 2
"""Rows of one piece, beside the user's row and that of the work; objects, too."""

Rows = Callable[[UserData[Ports]], Iterator[Key]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of one store that one transaction removes. ``removed``: how much it is; passages and objects are gone by
    then, rows go with ``ops``. ``behind``: of jobs, behind which row the next piece begins."""

    store: str
    removed: int
    ops: Sequence[WriteOp] = ()
    behind: str = ""


def next_piece(data: UserData[Ports], store: str = "", behind: str = "", *, shared: bool = True) -> Piece | None:
    """Find what is to be removed next, in the store of the last piece or those behind it; None when nothing is left but
    the user's head and the receipts of erasures. ``shared`` False: not what lies among other users' rows. Raises
    StoreUnavailable."""
    stores = ["passages", *data.keys.objects, *ROWS, *((*SHARED, *PAGED) if shared else ())]
    for name in stores[stores.index(store) if store else 0 :]:
        piece = _piece(data, name, behind if name == store else "")
        if piece.removed or piece.behind:
            return piece
    return None


def _piece(data: UserData[Ports], store: str, behind: str) -> Piece:
    ports, objects = data.ports, data.keys.objects
    if store == "passages":
        return Piece(store, ports.search.erase(data.keys.owner, at_most=PASSAGES))
    if store in objects:
        names = ports.objects.page(objects[store])[:PIECE]
        for name in names:
            ports.objects.delete(name)
        return Piece(store, len(names))
    if store == FEED:
        ops, behind, removed = remove_events(data, behind, PIECE)
        return Piece(store, removed, ops, behind)
    if store == JOBS:
        ops, behind = remove_jobs(data, behind, PIECE)
    else:
        ops = [Delete(key, Expect.ANY) for key in islice((ROWS | SHARED)[store](data), PIECE)]
    removed = sum(isinstance(op, Delete) for op in ops)
    return Piece(store, removed, ops, behind if store == JOBS else "")


def left_in_stores(data: UserData[Ports]) -> dict[str, int]:
    """Count how much each store but ``PAGED`` holds, rows counted up to one, objects up to a page. Raises
    StoreUnavailable."""
    ports, keys = data.ports, data.keys
    left = {"passages": ports.search.count(keys.owner)}
    left |= {name: len(ports.objects.page(prefix)) for name, prefix in keys.objects.items()}
    return left | {name: int(next(rows_of(data), None) is not None) for name, rows_of in (ROWS | SHARED).items()}


# --- rows ---------------------------------------------------------------------------------------


def _all(data: UserData[Ports], partition: str, prefix: str | None = None) -> Iterator[Item]:
    return all_rows(readable_whole(data.ports.table), partition, prefix=prefix, page=PIECE)


def _own(data: UserData[Ports], prefix: str | None = None) -> Iterator[Item]:
    return _all(data, data.keys.partition, prefix)


def _events(data: UserData[Ports]) -> Iterator[Key]:
    """Give events with the client ids, session by session, its own row behind them: a crash loses no way to an event,
    and a worker that goes on does not look through the logs again that are empty."""
    for item in _own(data, SESSION):
        session = session_of(key_of(item))
        if session is not None:
            yield from map(key_of, _all(data, data.keys.of_session(session).log))
            yield key_of(item)


def _partition(name: Callable[[UserKeys], str]) -> Rows:
    return lambda data: map(key_of, _all(data, name(data.keys)))


def _beginning(*prefixes: str) -> Rows:
    return lambda data: (key_of(item) for prefix in prefixes for item in _own(data, prefix))


def _others(data: UserData[Ports]) -> Iterator[Key]:
    return (key for key in map(key_of, _own(data)) if key != data.keys.head)


def _answers(data: UserData[Ports]) -> Iterator[Key]:
    """Give what was answered to the user's own calls, not to the erasure itself."""
    for method in WRITES:
        yield from map(key_of, _all(data, data.keys.answers, f"{method} /v1/users/{data.keys.user}/"))


ROWS: dict[str, Rows] = {
    "events": _events,
    "recalls": _partition(lambda keys: keys.ledger),
    "vectors": _partition(lambda keys: keys.vectors),
    "passage_rows": _partition(lambda keys: keys.passages),
    "memories": _beginning(MEMORY, MEMORY_PLACE),
    "deleted": _beginning(DELETED_MEMORY, DELETED_DOCUMENT),
    "documents": _beginning(DOCUMENT, DOCUMENT_REV, DOCUMENT_PLACE, DOCUMENT_SOURCE),
    "rows": _others,
}
"""Stores in the order in which they are removed: a crash loses no way to a row."""
SHARED: dict[str, Rows] = {"answers": _answers}
JOBS, FEED = "jobs", "outgoing_events"
PAGED = (FEED, JOBS)
"""The stores that are looked through page by page."""
