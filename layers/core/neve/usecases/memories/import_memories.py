"""E9 ``memories/import``: bring rows in with their original ids and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from neve.domain.records import LiveRow, Memory, MemoryPassage, Provenance, Scope, Status
from neve.domain.times import iso
from neve.ports import Conflict, WriteOp
from neve.store import rows
from neve.store.keys import Keys
from neve.usecases.memories.written_memory import WrittenMemory, record_of
from neve.wiring import Ports, Tenant

BATCH = 45
"""Rows per transaction: with the head's check and up to as many markers below the limit of 100 actions."""


@dataclass(frozen=True, slots=True)
class ImportedRow(WrittenMemory):
    """One line."""

    id: str | None = None
    status: Status = Status.ACTIVE
    passages: tuple[MemoryPassage, ...] = ()
    created_at: str | None = None
    last_used_at: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    model: str | None = None


@dataclass(slots=True)
class ImportReport:
    """``unchanged``: ids that were here already with the same text. ``conflicting``: ids that were here with another
    text; the stored row stays."""

    imported: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    conflicting: list[str] = field(default_factory=list)


def import_memories(ports: Ports, tenant: Tenant, user: str, lines: Sequence[ImportedRow]) -> ImportReport:
    """Repeating a call imports nothing twice, because ids are the caller's. Committed in batches, in order. A row that
    was deleted comes back with the rev after its last one.

    A row of a session that exists joins its local layer; without a session it is global. Raises erasing,
    user_closed."""
    report = ImportReport()
    named = [line if line.id else replace(line, id=f"mem_{ports.ids.ulid(ports.clock.now())}") for line in lines]
    for start in range(0, len(named), BATCH):
        _import_batch(ports, tenant, user, named[start : start + BATCH], report)
    return report


def _import_batch(ports: Ports, tenant: Tenant, user: str, lines: Sequence[ImportedRow], report: ImportReport) -> None:
    keys = tenant.keys
    while True:
        now = ports.clock.now()
        sessions = sorted({line.session_id for line in lines if line.session_id})
        found = ports.table.get_many(
            [
                keys.head(user),
                *(keys.marker(user, session) for session in sessions),
                *dict.fromkeys(keys.memory(user, str(line.id)) for line in lines),
            ]
        )
        head = rows.read_head(found.get(keys.head(user)))
        rows.writable(head)
        batch = ImportReport()
        fresh: dict[str, Memory] = {}
        for line in lines:
            memory = _memory_of(tenant, line, iso(now), head.gen)
            stored = found.get(keys.memory(user, memory.id))
            before = fresh.get(memory.id) or (rows.read_memory(stored) if stored else None)
            if before is None:
                fresh[memory.id] = memory
                batch.imported.append(memory.id)
            else:
                same = before.fingerprint == memory.fingerprint
                (batch.unchanged if same else batch.conflicting).append(memory.id)
        ops: list[WriteOp] = [rows.guard_user(keys, user, head, now)]
        ops += [rows.put_memory(keys, user, memory) for memory in _after_deletions(ports, keys, user, fresh)]
        for session in sessions:
            item = found.get(keys.marker(user, session))
            added = tuple(
                LiveRow(m.id, m.kind, m.tokens)
                for m in fresh.values()
                if m.session_id == session and m.scope is Scope.SESSION
            )
            if item and added:
                marker = rows.read_marker(item)
                ops.append(rows.put_marker(keys, user, replace(marker, live=(*marker.live, *added))))
        try:
            if fresh:
                ports.table.write(ops)
        except Conflict:
            continue
        report.imported += batch.imported
        report.unchanged += batch.unchanged
        report.conflicting += batch.conflicting
        return


def _memory_of(tenant: Tenant, line: ImportedRow, now: str, gen: int) -> Memory:
    origin = Provenance("import", line.session_id, line.seq_from, line.seq_to, line.model)
    memory = record_of(tenant, line, str(line.id), origin, line.created_at or now, gen)
    return replace(
        memory,
        passages=line.passages,
        status=line.status,
        last_used_at=line.last_used_at or memory.created_at,
        rev_at=now,
    )


def _after_deletions(ports: Ports, keys: Keys, user: str, fresh: Mapping[str, Memory]) -> list[Memory]:
    """The rows, those of deleted ids with a rev above their last one: the search index refuses what is below the
    deletion that it was told of. Read after the rows were seen missing, so that no deletion is overlooked."""
    found = ports.table.get_many([keys.deleted_memory(user, i) for i in fresh]) if fresh else {}
    revs = {i: rows.deleted_rev(found.get(keys.deleted_memory(user, i))) for i in fresh}
    return [replace(memory, rev=revs[i] + 1) for i, memory in fresh.items()]
