"""E9 ``memories/import``: bring rows in with their original ids and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from neve.domain.observe.trust import lowest
from neve.domain.records import LiveRow, Memory, MemoryPassage, Provenance, Scope, SessionMarker, Status, Trust
from neve.domain.times import iso
from neve.domain.tokens import Counter
from neve.ports import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.memories.written_memory import WrittenMemory, record_of

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
    trust: Trust | None = None


@dataclass(slots=True)
class ImportReport:
    """``unchanged``: ids that were here already with the same text. ``conflicting``: ids that were here with another
    text; the stored row stays."""

    imported: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    conflicting: list[str] = field(default_factory=list)


def import_memories(scope: UserScope, lines: Sequence[ImportedRow]) -> ImportReport:
    """Repeating a call imports nothing twice, because ids are the caller's. Committed in batches, in order. A row that
    was deleted comes back with the rev after its last one.

    A row of a session that exists joins its local layer; without a session it is global. Raises erasing,
    user_closed."""
    report = ImportReport()
    ids, clock = scope.ports.ids, scope.ports.clock
    named = [line if line.id else replace(line, id=f"mem_{ids.ulid(clock.now())}") for line in lines]
    for start in range(0, len(named), BATCH):
        batch = transact(scope.ports, partial(_import_batch, scope, named[start : start + BATCH]))
        report.imported += batch.imported
        report.unchanged += batch.unchanged
        report.conflicting += batch.conflicting
    return report


def _import_batch(scope: UserScope, lines: Sequence[ImportedRow]) -> ImportReport:
    keys, now = scope.keys, scope.ports.clock.now()
    markers = [keys.of_session(session).marker for session in sorted({m.session_id for m in lines if m.session_id})]
    memories = dict.fromkeys(keys.memory(str(line.id)) for line in lines)
    found = scope.ports.table.get_many([keys.head, *markers, *memories])
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    records = [_memory_of(line, iso(now), head.gen, scope.count) for line in lines]
    fresh, report = _sorted_out(records, {i: rows.read_memory(found[key]) for i, key in _stored(keys, records, found)})
    if fresh:
        puts = [rows.put_memory(keys, memory) for memory in _after_deletions(scope, fresh)]
        live = [rows.put_marker(keys, marker) for marker in _joined(found, markers, fresh)]
        scope.ports.table.write([rows.guard_user(keys, head, now), *puts, *live])
    return report


def _stored(keys: UserKeys, records: Sequence[Memory], found: Mapping[Key, Item]) -> list[tuple[str, Key]]:
    """Ids that are here already, and where."""
    places = [(memory.id, keys.memory(memory.id)) for memory in records]
    return [(i, key) for i, key in places if key in found]


def _sorted_out(records: Sequence[Memory], stored: Mapping[str, Memory]) -> tuple[dict[str, Memory], ImportReport]:
    """The rows to write by id, and what becomes of each line. An id that comes twice counts once."""
    fresh: dict[str, Memory] = {}
    report = ImportReport()
    for memory in records:
        before = fresh.get(memory.id) or stored.get(memory.id)
        if before is None:
            fresh[memory.id] = memory
            report.imported.append(memory.id)
        elif before.fingerprint == memory.fingerprint:
            report.unchanged.append(memory.id)
        else:
            report.conflicting.append(memory.id)
    return fresh, report


def _joined(found: Mapping[Key, Item], markers: Sequence[Key], fresh: Mapping[str, Memory]) -> Iterator[SessionMarker]:
    """The markers of sessions whose live list grows."""
    for key in markers:
        if key not in found:
            continue
        marker = rows.read_marker(found[key])
        own = [m for m in fresh.values() if m.session_id == marker.session_id and m.scope is Scope.SESSION]
        if own:
            yield replace(marker, live=(*marker.live, *(LiveRow(m.id, m.kind, m.tokens) for m in own)))


def _memory_of(line: ImportedRow, now: str, gen: int, count: Counter) -> Memory:
    passages = tuple(replace(passage, trust=_imported(passage.trust)) for passage in line.passages)
    trust = lowest([_imported(line.trust), *(passage.trust for passage in passages if passage.trust)])
    origin = Provenance("import", line.session_id, line.seq_from, line.seq_to, line.model, trust)
    memory = record_of(line, str(line.id), origin, line.created_at or now, gen, count)
    return replace(
        memory,
        passages=passages,
        status=line.status,
        last_used_at=line.last_used_at or memory.created_at,
        rev_at=now,
    )


def _imported(trust: Trust | None) -> Trust:
    """An import vouches for nobody, and a tool's word stays one."""
    return lowest(["import", trust or "import"])


def _after_deletions(scope: UserScope, fresh: Mapping[str, Memory]) -> list[Memory]:
    """The rows, those of deleted ids with a rev above their last one: the search index refuses what is below the
    deletion that it was told of. Read after the rows were seen missing, so that no deletion is overlooked."""
    deleted = scope.keys.deleted_memory
    found = scope.ports.table.get_many([deleted(i) for i in fresh])
    return [replace(memory, rev=rows.deleted_rev(found.get(deleted(i))) + 1) for i, memory in fresh.items()]
