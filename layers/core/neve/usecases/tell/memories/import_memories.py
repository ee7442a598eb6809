"""E9 ``memories/import``: bring rows in with their original ids and times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice

from neve.domain.errors import NeveError
from neve.domain.ids import is_own_memory_id
from neve.domain.memories.fact_statements import let_in_by
from neve.domain.memories.live_rows import live_row, lives, no_live_room
from neve.domain.memories.revised import revised
from neve.domain.memories.visibility import born
from neve.domain.memories.written_memory import SCREENED_FIELDS, WrittenMemory, record_of
from neve.domain.observe.trust import lowest
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Provenance, Status, Trust
from neve.domain.same.meaning import place_of
from neve.domain.times import iso
from neve.domain.tokens import Counter
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.core.privacy.admit import admit, admitted
from neve.usecases.tell.memories.fact_place import HOLDING, holds, place_key
from neve.usecases.tell.memories.fact_writes import with_holders

BATCH = 24
"""Rows per transaction: with the place in the list, the marker and the place of a fact that each may have, and the
head, below the limit of 100 actions."""
OF_A_LINE = (*SCREENED_FIELDS, "superseded_reason")
"""Fields of a line that hold a person's words, beside its passages and the model that they are from."""
TIME_LIMIT_MS = 15_000
"""For how long one call reads and writes, from its acceptance on: the gateway waits 29 s for it, and the batch that is
under way then is written."""


@dataclass(frozen=True, slots=True)
class ImportedRow(WrittenMemory):
    """One line of an import. ``observed_date``, ``time_of_day``: None = those in UTC. ``at``: where it stands in the
    request."""

    id: str | None = None
    status: Status = Status.ACTIVE
    occurrences: int = 1
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    passages: tuple[MemoryPassage, ...] = ()
    created_at: str | None = None
    last_used_at: str | None = None
    observed_date: str | None = None
    time_of_day: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    model: str | None = None
    trust: Trust | None = None
    at: str = ""


@dataclass(slots=True)
class ImportReport:
    """The outcome of an import. ``unchanged``: ids that were here already with the same text. ``conflicting``: ids that
    were here with another text; the stored row stays. ``repeated``: facts that another memory here states, which is
    let in by an active one where it waited in the inbox. ``refused``: lines that hold what the policy
    blocks, by their ``at``. ``no_room``: the lines of a session whose live list is full."""

    imported: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    conflicting: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    refused: list[tuple[str, NeveError]] = field(default_factory=list)
    no_room: list[ImportedRow] = field(default_factory=list)

    @property
    def not_taken(self) -> list[tuple[str, NeveError]]:
        """Give the reason why each line of ``refused`` and ``no_room`` was not taken, by its ``at``."""
        return [*self.refused, *((line.at, no_live_room(f"{line.at}.session_id")) for line in self.no_room)]


def import_memories(scope: UserScope, lines: Iterable[ImportedRow], ends_ms: float | None = None) -> ImportReport:
    """Write the lines in batches, in order. Repeating a call imports nothing twice, because ids are the caller's. A
    line is taken from ``lines`` and passes the gate when it is reached, and none is taken after ``ends_ms``, on the
    clock of every time budget, but for the first. A row that was deleted comes back with the rev after its deletion's.

    A row of a session that exists joins its local layer; without a session it is global. Raises erasing, user_closed,
    and whatever ``lines`` does."""
    report = ImportReport()
    rows_to_write = _admitted(scope, _until(scope, lines, ends_ms), report)
    while batch := list(islice(rows_to_write, BATCH)):
        written = transact(scope.ports, partial(_import_batch, scope, batch))
        report.imported += written.imported
        report.unchanged += written.unchanged
        report.conflicting += written.conflicting
        report.repeated += written.repeated
        report.no_room += written.no_room
    return report


def _until(scope: UserScope, lines: Iterable[ImportedRow], ends_ms: float | None) -> Iterator[ImportedRow]:
    for line in lines:
        yield line
        if ends_ms is not None and scope.ports.clock.monotonic_ms() >= ends_ms:
            return


def _admitted(scope: UserScope, lines: Iterable[ImportedRow], report: ImportReport) -> Iterator[ImportedRow]:
    """Pass the lines through the gate and give each an id; those that the gate refuses are noted."""
    ids, clock = scope.ports.ids, scope.ports.clock
    for line in lines:
        try:
            row = _admitted_row(scope, line)
        except NeveError as refusal:
            report.refused.append((line.at, refusal))
        else:
            yield row if row.id else replace(row, id=f"mem_{ids.ulid(clock.now())}")


def _admitted_row(scope: UserScope, line: ImportedRow) -> ImportedRow:
    """Take out of a line what the gate takes out, of its passages and its origin too. Raises pii_blocked."""
    line = admitted(scope, line, OF_A_LINE, line.at)
    texts = admit(scope, {f"{line.at}.passages[{n}].text": one.text for n, one in enumerate(line.passages)})
    passages = tuple(replace(one, text=text) for one, text in zip(line.passages, texts.values(), strict=True))
    origin = admit(scope, {f"{line.at}.provenance.model": line.model} if line.model else {})
    return replace(line, passages=passages, model=next(iter(origin.values()), None))


def _import_batch(scope: UserScope, lines: Sequence[ImportedRow]) -> ImportReport:
    keys, now = scope.keys, scope.ports.clock.now()
    markers = [keys.of_session(session).marker for session in sorted({m.session_id for m in lines if m.session_id})]
    memories = dict.fromkeys(keys.memory(str(line.id)) for line in lines)
    places = dict.fromkeys(place_key(keys, line.text) for line in lines if line.kind is Kind.FACT)
    found = scope.ports.table.get_many([keys.head, *markers, *memories, *places])
    found = with_holders(scope, found)
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    records = [_memory_of(line, iso(now), head.gen, scope.count) for line in lines]
    fresh, report = _sorted_out(records, {i: rows.read_memory(found[key]) for i, key in _stored(keys, records, found)})
    report.no_room = _without_room(found, markers, lines, fresh, report)
    taken, let_in = _places(keys, found, fresh, report)
    if fresh or let_in:
        written = [*_after_deletions(scope, fresh), *let_in]
        puts = [rows.put_memory(keys, memory) for memory in written]
        puts += [rows.put_place(place, memory.id, found.get(place)) for place, memory in taken.items()]
        live = [rows.put_marker(keys, marker) for marker in _joined(found, markers, fresh)]
        listed = [rows.put_memory_place(keys, memory) for memory in fresh.values() if not is_own_memory_id(memory.id)]
        guard = rows.guard_user(keys, head, now, written)
        if listed and not head.foreign_ids:
            guard = rows.put_head(keys, replace(rows.used_again(head, now), foreign_ids=True))
        scope.ports.table.write([guard, *puts, *live, *listed])
    return report


def _stored(keys: UserKeys, records: Sequence[Memory], found: Mapping[Key, Item]) -> list[tuple[str, Key]]:
    """Give the ids that are here already, and where."""
    places = [(memory.id, keys.memory(memory.id)) for memory in records]
    return [(i, key) for i, key in places if key in found]


def _sorted_out(records: Sequence[Memory], stored: Mapping[str, Memory]) -> tuple[dict[str, Memory], ImportReport]:
    """Give the rows to write by id, and what becomes of each line. An id that comes twice counts once."""
    fresh: dict[str, Memory] = {}
    report = ImportReport()
    for memory in records:
        before = fresh.get(memory.id) or stored.get(memory.id)
        if before is None:
            fresh[memory.id] = memory
            report.imported.append(memory.id)
        elif before.text == memory.text:
            report.unchanged.append(memory.id)
        else:
            report.conflicting.append(memory.id)
    return fresh, report


def _without_room(
    found: Mapping[Key, Item],
    markers: Sequence[Key],
    lines: Sequence[ImportedRow],
    fresh: dict[str, Memory],
    report: ImportReport,
) -> list[ImportedRow]:
    """Give the lines of sessions whose live list has no room for them; their rows leave ``fresh`` and the report."""
    refused: set[str] = set()
    for item in (found[key] for key in markers if rows.is_there(found, key)):
        session, joining = rows.read_marker(item).session_id, list[LiveRow]()
        for memory in fresh.values():
            if memory.session_id == session and lives(memory):
                if rows.has_live_room(item, [*joining, live_row(memory)]):
                    joining.append(live_row(memory))
                else:
                    refused.add(memory.id)
    for memory_id in refused:
        del fresh[memory_id]
    for told in (report.imported, report.unchanged, report.conflicting) if refused else ():
        told[:] = [memory_id for memory_id in told if memory_id not in refused]
    return [line for line in lines if line.id in refused]


def _places(
    keys: UserKeys, found: Mapping[Key, Item], fresh: dict[str, Memory], report: ImportReport
) -> tuple[dict[Key, Memory], list[Memory]]:
    """Give the places that new facts take, and the stored facts that are let in; a fact whose place is taken leaves
    ``fresh``."""
    taken: dict[Key, Memory] = {}
    let_in: dict[Key, Memory] = {}
    for memory in [one for one in fresh.values() if one.has_place and one.status in HOLDING]:
        place = place_key(keys, memory.text)
        same = taken.get(place) or let_in.get(place) or _holder(keys, found, memory)
        if same is None:
            taken[place] = memory
            continue
        del fresh[memory.id]
        report.imported.remove(memory.id)
        report.repeated.append(memory.id)
        waits = same.status is Status.INBOX and born(same.born_gen, memory.born_gen)
        if waits and memory.status is Status.ACTIVE:
            if place in taken:
                taken[place] = fresh[same.id] = _let_in(same, memory)
            else:
                let_in[place] = revised(_let_in(same, memory), memory.rev_at)
    return taken, list(let_in.values())


def _holder(keys: UserKeys, found: Mapping[Key, Item], memory: Memory) -> Memory | None:
    """Give the stored fact that says the same."""
    item = found.get(place_key(keys, memory.text))
    holder = found.get(keys.memory(str(item["memory_id"]))) if item else None
    same = rows.read_memory(holder) if holder else None
    return same if same and holds(same, place_of(memory.text)) else None


def _let_in(waiting: Memory, active: Memory) -> Memory:
    """Let a fact that waits stand by the word of an active fact that says the same (docs/rules/facts.md#decision)."""
    held = let_in_by(waiting, active.provenance, active.observed_at, counts=True)
    return replace(held, status=Status.ACTIVE, confidence=max(waiting.confidence, active.confidence))


def _joined(found: Mapping[Key, Item], markers: Sequence[Key], fresh: Mapping[str, Memory]) -> Iterator[SessionMarker]:
    """Give the markers of sessions whose live list grows."""
    for key in markers:
        if not rows.is_there(found, key):
            continue
        marker = rows.read_marker(found[key])
        own = [m for m in fresh.values() if m.session_id == marker.session_id and lives(m)]
        if own:
            yield replace(marker, live=(*marker.live, *map(live_row, own)))


def _memory_of(line: ImportedRow, now: str, gen: int, count: Counter) -> Memory:
    passages = tuple(replace(passage, trust=_imported(passage.trust)) for passage in line.passages)
    trust = lowest([_imported(line.trust), *(passage.trust for passage in passages if passage.trust)])
    origin = Provenance("import", line.session_id, line.seq_from, line.seq_to, line.model, trust)
    memory = record_of(line, str(line.id), origin, line.created_at or now, gen, count)
    return replace(
        memory,
        passages=passages,
        status=line.status,
        occurrences=line.occurrences,
        supersedes=line.supersedes,
        superseded_by=line.superseded_by,
        superseded_at=line.superseded_at,
        superseded_reason=line.superseded_reason,
        last_used_at=min(line.last_used_at or memory.created_at, now),  # else it would lead every pack until then
        observed_date=line.observed_date or memory.observed_date,
        time_of_day=line.time_of_day or memory.time_of_day,
        rev_at=now,
    )


def _imported(trust: Trust | None) -> Trust:
    """Bound a trust to an import's: an import vouches for no speaker, and a tool's word stays one."""
    return lowest(["import", trust or "import"])


def _after_deletions(scope: UserScope, fresh: Mapping[str, Memory]) -> list[Memory]:
    """Give the rows, those of deleted ids with a rev above that of their deletion, which is one above their last one:
    the search index refuses what is below. Read after the rows were seen missing, so that no deletion is overlooked."""
    deleted = scope.keys.deleted_memory
    found = scope.ports.table.get_many([deleted(i) for i in fresh])
    left = {i: found.get(deleted(i)) for i in fresh}
    return [replace(memory, rev=rows.deleted_rev(left[i]) + 2) if left[i] else memory for i, memory in fresh.items()]
