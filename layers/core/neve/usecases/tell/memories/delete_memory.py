"""E9 DELETE: remove one memory for good, say where its words may still stand, and take them away there, too, if
that was asked for (docs/rules/memories.md#delete)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any, NamedTuple

from neve.domain.errors import NeveError
from neve.domain.ids import is_own_memory_id
from neve.domain.memories.passages import texts_of_memory
from neve.domain.memories.visibility import being_replaced
from neve.domain.records.memories import Memory, Status
from neve.domain.records.packs import PackEntry
from neve.domain.records.users import UserHead
from neve.ports.errors import Conflict
from neve.ports.table import Delete, Key, Put, Version, WriteOp, key_of
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import DELETED_MEMORY, deleted_memory_id
from neve.store.memories import deleted_ops
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.core.memories.replace_rows import ReplacementBusy, resolve_replacement
from neve.usecases.core.pack.purge_versions import BEGINNING, Holds, PackVersion, PurgePlace, packs_with, purge_pages
from neve.usecases.tell.memories.copies.also_in import AlsoIn, also_in
from neve.usecases.tell.memories.copies.derived_memories import derived_memories
from neve.usecases.tell.memories.copies.sources_left import sources_left
from neve.usecases.tell.memories.fact_place import leave_place
from neve.usecases.tell.memories.memory_to_change import memory_to_change

TIME_LIMIT_MS = 15_000
"""*Chosen*: half of what API Gateway lets a call take."""
MAX_PACKS = 1_000
"""Named in an answer (*chosen*): with ids of 128 characters 180 KB, in an answer that is kept in a row of 400."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The answer of a deletion. ``in_packs``: immutable pack versions that still hold the text. ``derived``: memories
    that were made from it and still there. ``purged_packs`` and ``deleted_derived``: those of them that went with it.
    ``packs_complete`` False: not all packs are named, or had time to go. ``also_in``: where else it may stand, of which
    nothing goes with it; None where the memory had been deleted before."""

    id: str
    in_packs: list[PackVersion]
    derived: list[str]
    purged_packs: list[PackVersion] = field(default_factory=list)
    deleted_derived: list[str] = field(default_factory=list)
    also_in: AlsoIn | None = None
    packs_complete: bool = True


def delete_memory(
    scope: UserScope,
    memory_id: str,
    if_match: Collection[int] | None,
    *,
    purge_packs: bool = False,
    cascade: bool = False,
) -> Deleted:
    """Delete the row and its entry in its session's live list in one transaction; the change stream takes it out of the
    search index and erases its vectors, and until then hydration hides it. Its last rev stays, for an import of the
    same id. ``cascade``: what was made of it is deleted before it, so that a call which broke off can be repeated.
    ``purge_packs``: the pack versions that hold any of it go behind it; a repeat of such a call goes on with them.

    Raises memory_not_found, precondition_failed, conflict (it is being replaced), erasing, user_closed."""
    delete = _Delete(scope, memory_id, if_match, scope.ports.ids.token(), cascade)
    try:
        memory = transact(scope.ports, delete.attempt)
    except NeveError as refusal:
        if refusal.code != "memory_not_found" or not purge_packs:
            raise
        return _purge_later(scope, memory_id, refusal, cascade=cascade)
    gone = sorted(delete.gone | _deleted_with(scope, memory_id)) if cascade else []
    packs = _find_or_purge_packs(scope, memory_id, gone, purge_packs)
    derived = [] if cascade else [row.id for row in derived_memories(scope, memory)]
    return Deleted(
        memory_id,
        in_packs=[] if purge_packs else packs.named,
        derived=derived,
        purged_packs=packs.named if purge_packs else [],
        deleted_derived=gone,
        also_in=also_in(scope, memory, [*derived, *gone]),
        packs_complete=packs.complete,
    )


def foresee_deletion(
    scope: UserScope,
    memory_id: str,
    if_match: Collection[int] | None,
    *,
    purge_packs: bool = False,
    cascade: bool = False,
) -> Deleted:
    """Find what ``delete_memory`` would answer as things are now, and write nothing. Raises memory_not_found,
    precondition_failed, erasing, user_closed."""
    _, memory = memory_to_change(scope, memory_id, if_match)
    made = [row.id for row in derived_memories(scope, memory)]
    packs = _find_or_purge_packs(scope, memory_id, made if cascade else [], purge=False)
    return Deleted(
        memory_id,
        in_packs=[] if purge_packs else packs.named,
        derived=[] if cascade else made,
        purged_packs=packs.named if purge_packs else [],
        deleted_derived=sorted(made) if cascade else [],
        also_in=also_in(scope, memory, made),
        packs_complete=packs.complete,
    )


def delete_listed(scope: UserScope, memory_id: str, rev: int, write_id: str) -> None:
    """Delete the row alone, as ``delete_memory`` does, if it is at ``rev``. Do nothing where a call of the same
    ``write_id`` has deleted it. Raises as ``delete_memory``."""
    delete = _Delete(scope, memory_id, (rev,), write_id)
    try:
        transact(scope.ports, delete.attempt)
    except NeveError as refusal:
        if refusal.code != "memory_not_found" or not delete._is_done():
            raise


def _delete_derived(scope: UserScope, memory: Memory, root: str) -> set[str]:
    """Delete what was made of a memory, the youngest first, and give the ids. ``root``: see ``_Delete``. Raises what
    stands in the way of deleting one of them."""
    gone: set[str] = set()
    for row in reversed(derived_memories(scope, memory)):
        delete = _Delete(scope, row.id, None, scope.ports.ids.token(), cascade=True, root=root)
        try:
            transact(scope.ports, delete.attempt)
        except NeveError as refusal:
            if refusal.code != "memory_not_found":
                raise
        gone |= {row.id, *delete.gone}
    return gone


def _deleted_with(scope: UserScope, memory_id: str) -> set[str]:
    """Give the ids of what was made of a memory and deleted to go with it, by this call or by one that broke off."""
    left = all_rows(scope.ports.table, scope.keys.partition, prefix=DELETED_MEMORY)
    return {deleted_memory_id(key_of(item)) for item in left if rows.was_deleted_with(item, memory_id)}


def _purge_later(scope: UserScope, memory_id: str, refusal: NeveError, *, cascade: bool) -> Deleted:
    """Purge the packs of a memory that is gone by now, and of what went with it. Raises ``refusal`` when none is left,
    and where nothing is left of such a memory: there was none."""
    if scope.ports.table.get(scope.keys.deleted_memory(memory_id)) is None:
        raise refusal
    gone = sorted(_deleted_with(scope, memory_id)) if cascade else []
    packs = _find_or_purge_packs(scope, memory_id, gone, purge=True)
    if packs.complete and not packs.named:
        raise refusal
    return Deleted(memory_id, [], [], purged_packs=packs.named, deleted_derived=gone, packs_complete=packs.complete)


class _Packs(NamedTuple):
    named: list[PackVersion]
    complete: bool


def _find_or_purge_packs(scope: UserScope, memory_id: str, gone: Collection[str], purge: bool) -> _Packs:
    """Find, or purge, the versions that hold or held it, or something of ``gone``, as far as there is time."""
    ids = frozenset((memory_id, *gone))

    def is_one(entry: PackEntry) -> bool:
        return entry.id in ids

    ends_ms = scope.ports.clock.monotonic_ms() + TIME_LIMIT_MS
    if not purge:
        return _find_packs(scope, is_one, ends_ms)
    of = sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]
    return _purge_packs(scope, is_one, ends_ms, scope.keys.deleted_memory(memory_id), of)


def _find_packs(scope: UserScope, holds: Holds, ends_ms: float) -> _Packs:
    named: list[PackVersion] = []
    for version in packs_with(scope, holds):
        if scope.ports.clock.monotonic_ms() >= ends_ms or (version and len(named) == MAX_PACKS):
            return _Packs(named, complete=False)
        named += [version] if version else []
    return _Packs(named, complete=True)


def _purge_packs(scope: UserScope, holds: Holds, ends_ms: float, row: Key, of: str) -> _Packs:
    """Purge page by page. ``row``: what is left of the memory. It notes behind which page a call had no more time, for
    the call that repeats it: there may be more packs than one call can look through. ``of``: names what they may
    hold."""
    left = scope.ports.table.get(row) or {}
    noted = left.get("purge", {})
    place = PurgePlace(*noted["place"]) if noted.get("of") == of else BEGINNING
    purged: list[PackVersion] = []
    for page in purge_pages(scope, holds, place):
        purged += page.versions
        if scope.ports.clock.monotonic_ms() >= ends_ms:
            note = partial(_note_purge_place, scope, row, left.get("write_id"), {"of": of, "place": list(page.place)})
            transact(scope.ports, note)
            return _Packs(purged[:MAX_PACKS], complete=False)
    return _Packs(purged[:MAX_PACKS], complete=len(purged) <= MAX_PACKS)


def _note_purge_place(scope: UserScope, row: Key, write_id: str | None, purge: Mapping[str, Any]) -> None:
    """Note the place, but not where the memory came back meanwhile and was deleted once more: other packs hold it then.
    Raises Conflict."""
    left = scope.ports.table.get(row)
    if left is not None and left.get("write_id") == write_id:
        scope.ports.table.write([Put(left | {"purge": purge}, Version(left["version"]))])


@dataclass
class _Delete:
    """One call. ``write_id`` names it on what is left of the row (ADR 4). ``tried``: what its last attempt deleted.
    ``gone``: ids of what was made of it, deleted by any attempt. ``root``: the memory with which it goes, where it was
    made of one that takes it along: a repeated call finds it by this."""

    scope: UserScope
    memory_id: str
    if_match: Collection[int] | None
    write_id: str
    cascade: bool = False
    root: str | None = None
    tried: Memory | None = None
    gone: set[str] = field(default_factory=set)

    def attempt(self) -> Memory:
        """Delete the memory and give it as it was. Raises Conflict, also while it is being replaced: what is made of it
        names it, and is found, when that is over."""
        scope, keys = self.scope, self.scope.keys
        if self.tried and self._is_done():
            return self.tried
        head, memory = memory_to_change(scope, self.memory_id, self.if_match)
        if head.replacement_job and being_replaced(memory) and memory.status is not Status.SUPERSEDED:
            _end_replacement(scope, head)
            raise Conflict
        if self.cascade:  # what comes behind this look moves the row
            self.gone |= _delete_derived(scope, memory, self.root or memory.id)
        now = scope.ports.clock.now()
        ops: list[WriteOp] = [
            rows.guard_user(keys, head, now),
            *deleted_ops(keys, memory, now, texts_of_memory(memory)),
            self._left(memory),
            *leave_place(scope, memory),
        ]
        if not is_own_memory_id(memory.id):
            ops.append(Delete(keys.memory_at(datetime.fromisoformat(memory.created_at), memory.id)))
        marker_item = scope.ports.table.get(keys.of_session(memory.session_id).marker) if memory.session_id else None
        if marker_item:
            marker = rows.read_marker(marker_item)
            live = tuple(row for row in marker.live if row.id != self.memory_id)
            if live != marker.live:
                ops.append(rows.put_marker(keys, replace(marker, live=live)))
        self.tried = memory
        scope.ports.table.write(ops)
        return memory

    def _left(self, memory: Memory) -> Put:
        sources = sources_left(self.scope, memory)
        return rows.put_deleted_memory(
            self.scope.keys, memory, self.write_id, sources, by_a_person=True, with_memory=self.root
        )

    def _is_done(self) -> bool:
        """Say whether a call of this ``write_id`` has deleted it."""
        left = self.scope.ports.table.get(self.scope.keys.deleted_memory(self.memory_id))
        return left is not None and left.get("write_id") == self.write_id


def _end_replacement(scope: UserScope, head: UserHead) -> None:
    """End a replacement whose worker is dead; do nothing where it may live. Raises Conflict."""
    with suppress(ReplacementBusy):
        resolve_replacement(scope, head)
