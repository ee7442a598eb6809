"""Every store that holds something of a user: what removes it, and what is left in it (docs/rules/erase.md#stores).

A store that is added for users is added here, in ``UserKeys.objects``, or below the user's partition; a test compares
what is listed here with what a user leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import TypeVar

from neve.ports.engines import Ports
from neve.ports.table import Check, Item, Key, key_of
from neve.scope import UserData
from neve.store import rows
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
from neve.store.partitions import all_rows
from neve.usecases.jobs.messages.reflection import KIND
from neve.usecases.jobs.queued_jobs import ERASURE

WRITES = ("POST", "PUT", "PATCH", "DELETE")
"""Calls whose first answer is kept for a day."""

T = TypeVar("T")
Rows = Callable[[UserData[Ports]], Iterator[Key]]


def remove_everything(
    data: UserData[Ports], *, shared: bool = True, fence: Check | None = None
) -> Iterator[tuple[str, int]]:
    """Removes what each store holds, but for the user's head and the receipts of erasures; yields store and count
    after each piece, so that a worker can stop in between. May be repeated. ``shared`` False: not what lies among
    other users' rows and is looked for one by one. ``fence``: what has to hold for each removal of rows. Raises
    Conflict when it does not, StoreUnavailable."""
    ports, keys = data.ports, data.keys
    yield "passages", ports.search.erase(keys.owner)
    for name, prefix in keys.objects.items():
        for objects in _pieces(ports.objects.list(prefix)):
            for one in objects:
                ports.objects.delete(one)
            yield name, len(objects)
    if shared:
        yield "jobs", _without_their_name(data, fence)
    for name, rows_of in (ROWS | (SHARED if shared else {})).items():
        for some in _pieces(rows_of(data)):
            yield name, delete_rows(ports.table, some, fence)


def _without_their_name(data: UserData[Ports], fence: Check | None) -> int:
    """Of the user's part in a tenant's run that has ended only that is left: it was counted, and a message that is
    delivered once more would count it again. Raises Conflict."""
    ended = 0
    fenced = [] if fence is None else [fence]
    for some in _pieces(item for item in _jobs_of(data) if item["kind"] == KIND):
        jobs = [job for job in map(rows.read_job, some) if job.ended and "run" in job.state]
        nameless = [rows.put_job(data.keys, replace(job, user_id=None, state={}, result={})) for job in jobs]
        if nameless:
            data.ports.table.write([*fenced, *nameless])
        ended += len(nameless)
    return ended


def left_in_stores(data: UserData[Ports]) -> dict[str, int]:
    """How much each store holds, rows counted up to one. Raises StoreUnavailable."""
    ports, keys = data.ports, data.keys
    left = {"passages": ports.search.count(keys.owner)}
    left |= {name: len(ports.objects.list(prefix)) for name, prefix in keys.objects.items()}
    return left | {name: int(next(rows_of(data), None) is not None) for name, rows_of in (ROWS | SHARED).items()}


def _pieces(found: Iterable[T]) -> Iterator[list[T]]:
    """As many as one transaction takes."""
    rest = iter(found)
    while piece := list(islice(rest, DELETE_BATCH_SIZE)):
        yield piece


# --- rows ---------------------------------------------------------------------------------------


def _own(data: UserData[Ports], prefix: str | None = None) -> Iterator[Item]:
    return all_rows(data.ports.table, data.keys.partition, prefix=prefix)


def _events(data: UserData[Ports]) -> Iterator[Key]:
    """With the client ids, of the sessions that there are: their own rows go last."""
    table, keys = data.ports.table, data.keys
    for session in [session_of(key_of(item)) for item in all_rows(table, keys.partition, prefix=SESSION)]:
        if session is not None:
            yield from map(key_of, all_rows(table, keys.of_session(session).log))


def _partition(name: Callable[[UserKeys], str]) -> Rows:
    return lambda data: map(key_of, all_rows(data.ports.table, name(data.keys)))


def _beginning(*prefixes: str) -> Rows:
    return lambda data: (key_of(item) for prefix in prefixes for item in _own(data, prefix))


def _others(data: UserData[Ports]) -> Iterator[Key]:
    return (key for key in map(key_of, _own(data)) if key != data.keys.head)


def _jobs(data: UserData[Ports]) -> Iterator[Key]:
    return map(key_of, _jobs_of(data))


def _jobs_of(data: UserData[Ports]) -> Iterator[Item]:
    items = all_rows(data.ports.table, data.keys.jobs)
    return (item for item in items if item.get("user_id") == data.keys.user and item["kind"] != ERASURE)


def _answers(data: UserData[Ports]) -> Iterator[Key]:
    """What was answered to the user's own calls, not to the erasure itself."""
    table, keys = data.ports.table, data.keys
    for method in WRITES:
        yield from map(key_of, all_rows(table, keys.answers, prefix=f"{method} /v1/users/{keys.user}/"))


ROWS: dict[str, Rows] = {
    "events": _events,
    "recalls": _partition(lambda keys: keys.ledger),
    "vectors": _partition(lambda keys: keys.vectors),
    "token_vectors": _partition(lambda keys: keys.token_vectors),
    "memories": _beginning(MEMORY, MEMORY_PLACE),
    "deleted": _beginning(DELETED_MEMORY, DELETED_DOCUMENT),
    "documents": _beginning(DOCUMENT, DOCUMENT_REV, DOCUMENT_PLACE, DOCUMENT_SOURCE),
    "rows": _others,
}
"""In the order in which they are removed: a crash loses no way to a row."""
SHARED: dict[str, Rows] = {"jobs": _jobs, "answers": _answers}
