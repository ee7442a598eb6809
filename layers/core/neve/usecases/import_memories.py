"""E9 ``memories/import``: bring rows in with their original ids and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from neve.domain.observation_text import fingerprint, observed_date, referenced_date, time_of_day
from neve.domain.records import Kind, LiveRow, Memory, MemoryPassage, Priority, Provenance, Scope, Status
from neve.domain.times import iso
from neve.domain.tokens import counter
from neve.ports import Conflict, WriteOp
from neve.store import rows
from neve.usecases.create_memory import default_priority, tier_of
from neve.wiring import Ports, Tenant

BATCH = 45
"""Rows per transaction: with the head's check and up to as many markers below the limit of 100 actions."""


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """One line. None = the default; times are stored-form strings."""

    text: str
    kind: Kind
    id: str | None = None
    session_id: str | None = None
    scope: Scope | None = None
    priority: Priority | None = None
    importance: int = 3
    confidence: float = 1.0
    status: Status = Status.ACTIVE
    label: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    passages: tuple[MemoryPassage, ...] = ()
    created_at: str | None = None
    observed_at: str | None = None
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
    """Repeating a call imports nothing twice, because ids are the caller's. Committed in batches, in order.

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
        ops += [rows.put_memory(keys, user, memory) for memory in fresh.values()]
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
    created_at = line.created_at or now
    observed_at = line.observed_at or created_at
    return Memory(
        id=str(line.id),
        kind=line.kind,
        tier=tier_of(line.kind),
        scope=line.scope or (Scope.SESSION if line.session_id else Scope.GLOBAL),
        session_id=line.session_id,
        text=line.text,
        passages=line.passages,
        priority=line.priority or default_priority(line.kind),
        importance=line.importance,
        confidence=line.confidence,
        label=line.label,
        group=line.group,
        tags=line.tags,
        fingerprint=fingerprint(line.text),
        status=line.status,
        provenance=Provenance(
            by="import", session_id=line.session_id, seq_from=line.seq_from, seq_to=line.seq_to, model=line.model
        ),
        created_at=created_at,
        observed_at=observed_at,
        observed_date=observed_date(observed_at, "UTC"),
        time_of_day=time_of_day(observed_at, "UTC"),
        referenced_date=referenced_date(line.text),
        last_used_at=line.last_used_at or created_at,
        tokens=counter(tenant.policy.token_counter)(line.text),
        rev=1,
        rev_at=now,
        born_gen=gen,
    )
