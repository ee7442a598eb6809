"""Read every hit again from the row store before a caller sees it: what the words found while the query is embedded,
the others in one read together with the user's head (docs/rules/recall.md#hydration)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.ids import event_place, is_document_id, is_event_id
from neve.domain.records.sessions import SessionHead
from neve.domain.records.users import UserHead
from neve.domain.retract.derived import goes_with
from neve.domain.sessions.spans import holds
from neve.ports.errors import StoreUnavailable
from neve.ports.runtime import Task
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import LeftOut
from neve.usecases.ask.recall.recall_rows import TAKEN_BACK, Hidden, RecallRow, read_row, row_key
from neve.usecases.ask.recall.stages.documents import document_places, document_rows

Hydrated = Mapping[str, RecallRow | Hidden]
"""Rows by id."""


class GenerationMoved(Exception):
    """Raised when a replacement became visible while the rows were read, or the user took something back for the first
    time."""


MEMORIES_HOLD_MS = 300.0
"""*Chosen*, a prompt's budget. A memory that was deleted or changed since it was read moves no generation: behind an
embedding that takes longer it is read once more. What was taken back of a log, the session's row says at the end."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """The utterances and memories that were read while the query is still being embedded. ``rows``: ``items`` as the
    user's row has them that was read before. A row says by itself which generations see it: where the last read of the
    user's row gives the same one, these stand."""

    items: Mapping[str, Item | None]
    rows: Hydrated


@dataclass(frozen=True, slots=True)
class ReadAhead:
    """A read ahead under way. ``since_ms``: when it was started."""

    task: Task[Ahead]
    since_ms: float


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A read of the rows ``ids`` under way; ``ahead`` gets as many of them as it can."""

    ids: frozenset[str]
    ahead: ReadAhead


def read_by_id(ids: Iterable[str]) -> list[str]:
    """Return the ids of all but documents: two rows say where the revision of a document is kept, and whether it is the
    current one."""
    return [identifier for identifier in ids if not is_document_id(identifier)]


@dataclass(frozen=True, slots=True)
class Hydration:
    """The reads of rows of one search. Rows are answered as the generation of ``seen`` sees them; ``whatever_moved``:
    as the generation of now does."""

    scope: UserScope
    request: ResolvedRequest
    seen: UserHead
    ends_ms: float
    whatever_moved: bool

    def start_ahead(self, work: Callable[[], Ahead]) -> ReadAhead:
        since_ms = self.scope.ports.clock.monotonic_ms()
        return ReadAhead(self.scope.ports.tasks.start_read(work), since_ms)

    def read_ahead(self, ids: Iterable[str]) -> Ahead:
        """Read the utterances and memories ``ids`` in one read, in a task of its own. Raises StoreUnavailable."""
        places = self._places(ids)
        found = self.scope.ports.table.get_many([key for key in places.values() if key]) if places else {}
        items = _at(places, found)
        return Ahead(items, self._judged(items, self.seen))

    def read(
        self, wanted: Mapping[str, int], under_way: UnderWay | None = None, beside: Iterable[str] = ()
    ) -> tuple[Hydrated, dict[str, Item]]:
        """Read the rows, and the user's row behind them. ``wanted``: ids with the rev that was found. ``beside``: of
        memories that are read with them; last their rows as they are stored. Raises StoreUnavailable, DeadlineExceeded,
        GenerationMoved."""
        if not wanted:
            return {}, {}
        table, keys = self.scope.ports.table, self.scope.keys
        read_ahead = self._ids_still_valid(under_way)
        places = self._places(i for i in wanted if i not in read_ahead)
        documents, also = document_places(keys, wanted), {i: keys.memory(i) for i in beside}
        sessions = _sessions(self.scope, wanted) if self.seen.takes_back else {}
        others = [*sessions.values(), *(key for pair in documents.values() for key in pair), *also.values()]
        to_read = dict.fromkeys([keys.head, *filter(None, places.values()), *others])
        task = self.scope.ports.tasks.start_read(lambda: table.get_many(list(to_read)))
        found: dict[Key, Item] = task.result(self.ends_ms)
        now = rows.read_head(found.get(keys.head))
        moved = _state(now) != _state(self.seen)
        if moved and not self.whatever_moved:
            raise GenerationMoved
        stored = {i: found[key] for i, key in also.items() if key in found}
        hydrated = self._judged(stored, now) | self._judged(_at(places, found), now)
        if under_way and read_ahead:
            ahead = self._read_by(under_way)
            if moved:
                ahead = self._moved(ahead, now)
            hydrated |= {i: row for i, row in ahead.rows.items() if i in read_ahead}
            lacking = read_ahead - ahead.rows.keys()
            hydrated |= self._read_again([i for i in wanted if i in lacking], now)
        if more := _sessions_of_memories(self.scope, hydrated, sessions) if self.seen.takes_back else {}:
            logs_of_memories = self.scope.ports.tasks.start_read(lambda: table.get_many(list(more.values())))
            sessions, found = sessions | more, found | logs_of_memories.result(self.ends_ms)
        logs = {s: rows.read_session(found[key]) for s, key in sessions.items() if key in found}
        if any(log.retracted for log in logs.values()):
            hydrated = {i: Hidden(TAKEN_BACK) if _taken_back(i, row, logs) else row for i, row in hydrated.items()}
        return hydrated | document_rows(self.scope.ports, self.request, documents, found, self.ends_ms), stored

    def _ids_still_valid(self, under_way: UnderWay | None) -> frozenset[str]:
        """Return the ids that need not be read with the rest."""
        if under_way is None:
            return frozenset()
        if self.scope.ports.clock.monotonic_ms() - under_way.ahead.since_ms <= MEMORIES_HOLD_MS:
            return under_way.ids
        return frozenset(filter(is_event_id, under_way.ids))

    def _read_again(self, ids: Sequence[str], head: UserHead) -> Hydrated:
        """Read what could not be read ahead, as the generation of ``head`` sees it. Raises StoreUnavailable,
        DeadlineExceeded."""
        places, table = self._places(ids), self.scope.ports.table
        to_read = [key for key in places.values() if key]
        if not to_read:
            return {}
        found = self.scope.ports.tasks.start_read(lambda: table.get_many(to_read)).result(self.ends_ms)
        return self._judged(_at(places, found), head)

    def _read_by(self, under_way: UnderWay) -> Ahead:
        """Return what was read ahead, nothing where that failed: it is read again then. Raises DeadlineExceeded."""
        try:
            return under_way.ahead.task.result(self.ends_ms)
        except StoreUnavailable:
            return Ahead({}, {})

    def _moved(self, ahead: Ahead, now: UserHead) -> Ahead:
        """Keep the utterances that were read ahead of a replacement; a memory may not know yet that it was replaced."""
        utterances = {i: item for i, item in ahead.items.items() if is_event_id(i)}
        return Ahead(utterances, self._judged(utterances, now))

    def _places(self, ids: Iterable[str]) -> dict[str, Key | None]:
        """Return the keys of all rows but documents; None for an id that no row can have."""
        keys = self.scope.keys
        return {i: row_key(keys, i) for i in ids if not is_document_id(i)}

    def _judged(self, items: Mapping[str, Item | None], head: UserHead) -> dict[str, RecallRow | Hidden]:
        return {i: read_row(item, head, self.request.where) for i, item in items.items()}


def _state(head: UserHead) -> tuple[object, ...]:
    """Return what of the user's row decides which rows are shown, and which are read."""
    return head.gen, head.incarnation, head.state, head.takes_back


def _at(places: Mapping[str, Key | None], found: Mapping[Key, Item]) -> dict[str, Item | None]:
    return {i: found.get(key) if key else None for i, key in places.items()}


def _sessions(scope: UserScope, ids: Iterable[str]) -> dict[str, Key]:
    """Return the keys of the sessions that the events among ``ids`` are of, which say what of them was taken back."""
    named = (place[0] for i in ids if (place := event_place(i)))
    return {session: scope.keys.of_session(session).session_head for session in dict.fromkeys(named)}


def _sessions_of_memories(scope: UserScope, hydrated: Hydrated, known: Collection[str]) -> dict[str, Key]:
    """Name the sessions that memories were made from, and that are not known yet."""
    origins = (row.memory.provenance for row in hydrated.values() if isinstance(row, RecallRow) and row.memory)
    named = (origin.session_id for origin in origins if origin.session_id and origin.seq_from is not None)
    return {session: scope.keys.of_session(session).session_head for session in named if session not in known}


def _taken_back(identifier: str, row: RecallRow | Hidden, logs: Mapping[str, SessionHead]) -> bool:
    """Tell it of what was said then, and of what was made of it: no reader waits for the flip. What was said elsewhere,
    too, may stay."""
    if place := event_place(identifier):
        return place[0] in logs and holds(logs[place[0]].retracted, place[1])
    memory = row.memory if isinstance(row, RecallRow) else None
    log = logs.get(memory.provenance.session_id or "") if memory else None
    return memory is not None and log is not None and not memory.restatements and goes_with(memory, log)


def shown(rows_by_id: Hydrated, out: LeftOut) -> Hydrated:
    """Hide the rows that are left out: a row's own fingerprint is known only now."""

    def judged(row: RecallRow | Hidden) -> RecallRow | Hidden:
        reason = out.reason_of(row) if isinstance(row, RecallRow) else None
        return Hidden(reason) if reason else row

    return {i: judged(row) for i, row in rows_by_id.items()}
