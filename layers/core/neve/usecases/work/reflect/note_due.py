"""Keeps the sparse index of users who have rows for a night; the outbox does it, so that no request pays for it
(docs/rules/reflect.md#due)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from neve.domain.records.memories import Memory, Status
from neve.domain.records.users import ReflectDue
from neve.domain.reflect.nightly import is_candidate
from neve.ports.engines import Ports
from neve.ports.table import Item, Key
from neve.scope import UserData
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.stream_records import Change
from neve.store.transact import transact


def new_candidates(changes: Sequence[Change]) -> dict[UserKeys, str]:
    """Return for each user when the oldest new row was created that a night may condense."""
    new = (change.new for change in changes if change.new is not None and _may_be_unnoticed(change))
    memories = (item for item in new if item.get("type") == "memory" and _is_candidate(item))
    return _oldest((UserKeys(item["tenant_id"], item["user_id"]), item["created_at"]) for item in memories)


def candidates_of(memories: Iterable[tuple[UserKeys, Memory]]) -> dict[UserKeys, str]:
    """Return the same as ``new_candidates``, of rows that were read."""
    may_be = (
        one for one in memories if _may_be_condensed(one[1].status, one[1].kind, one[1].scope, one[1].never_recall)
    )
    return _oldest((keys, memory.created_at) for keys, memory in may_be)


def _oldest(created: Iterable[tuple[UserKeys, str]]) -> dict[UserKeys, str]:
    oldest: dict[UserKeys, str] = {}
    for keys, at in created:
        oldest[keys] = min(at, oldest.get(keys, at))
    return oldest


def _may_be_unnoticed(change: Change) -> bool:
    """Say whether the index may not know a row: a new one; and one whose rev moves before the index had it. The batch
    that told of it may have been given up, and when the index has it behind this one, the sweep does not find it."""
    if change.old is None or change.new is None:
        return change.old is None
    return "rev_at" in change.old and change.old.get("rev") != change.new.get("rev")


def _is_candidate(item: Item) -> bool:
    return _may_be_condensed(item["status"], item["kind"], item["scope"], item.get("never_recall", False))


def _may_be_condensed(status: str, kind: str, scope: str, never_recall: bool) -> bool:
    return status == Status.ACTIVE and not never_recall and is_candidate(kind, scope)


def rows_of_due(users: Mapping[UserKeys, str]) -> set[Key]:
    """Return the keys of the rows that ``note_due`` needs; a caller reads them with what it reads anyway."""
    return {key for keys in users for key in (keys.head, keys.reflect_due)}


def note_due(ports: Ports, users: Mapping[UserKeys, str], found: Mapping[Key, Item]) -> None:
    """See to it that the index names the users. ``found``: ``rows_of_due`` as they were just now; they are read again
    where another worker was faster. Raises StoreUnavailable."""
    for keys, created_at in users.items():
        known: list[Mapping[Key, Item]] = [found]

        def attempt(keys: UserKeys = keys, at: str = created_at, known: list[Mapping[Key, Item]] = known) -> None:
            seen = known.pop() if known else ports.table.get_many(sorted(rows_of_due({keys: at})))
            _note(UserData(ports, keys), at, seen)

        transact(ports, attempt)


def _note(data: UserData[Ports], created_at: str, found: Mapping[Key, Item]) -> None:
    """Note one user. A user who is erased is left alone: the row would be all that there is of them."""
    ports, keys = data.ports, data.keys
    head = rows.read_head(found.get(keys.head))
    if head.version == 0 or head.state != "active":
        return
    due = rows.read_reflect_due(found.get(keys.reflect_due))
    noted = _noted(due, created_at)
    if noted != due:
        noting = rows.put_reflect_due(keys, noted, ports.ids.token())
        ports.table.write([rows.check_head(keys, head), noting])


def _noted(due: ReflectDue | None, created_at: str) -> ReflectDue:
    """Return the row of a user with the new rows noted. While a worker is at the user, the row says what came
    meanwhile: the worker may have looked before, and would take the user out of the index."""
    if due is None:
        return ReflectDue(since=created_at)
    if due.job is not None:
        return replace(due, again=min(created_at, due.again or created_at))
    return replace(due, since=min(created_at, due.since))
