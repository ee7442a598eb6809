"""Read every hit from the row store before a caller sees it, together with the user's head
(docs/rules/recall.md#hydration)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from neve.domain.ids import event_place, is_document_id
from neve.domain.records.sessions import SessionHead
from neve.domain.records.users import UserHead
from neve.domain.retract.derived import goes_with
from neve.domain.sessions.spans import holds
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import LeftOut
from neve.usecases.ask.recall.recall_rows import GONE, TAKEN_BACK, Hidden, RecallRow, read_row, row_key
from neve.usecases.ask.recall.stages.documents import document_places, document_rows

Hydrated = Mapping[str, RecallRow | Hidden]
"""Rows by id."""
BATCH = 100
"""Rows that DynamoDB reads at once; it would read further ones behind them."""


@dataclass(slots=True)
class Hydration:
    """The reads of rows of one search. ``seen``: the user, as the last read found them; rows are answered as that
    generation sees them."""

    scope: UserScope
    request: ResolvedRequest
    seen: UserHead
    ends_ms: float

    def read(self, wanted: Mapping[str, int], beside: Iterable[str] = ()) -> tuple[Hydrated, dict[str, Item]]:
        """Read the rows and the user's row. ``wanted``: ids with the rev that was found. ``beside``: of memories that
        are read with them; last their rows as they are stored. Nothing is left of a user who is being erased. Raises
        user_closed, StoreUnavailable, DeadlineExceeded."""
        if not wanted:
            return {}, {}
        keys = self.scope.keys
        places = {i: row_key(keys, i) for i in wanted if not is_document_id(i)}
        documents, also = document_places(keys, wanted), {i: keys.memory(i) for i in beside}
        sessions = self._sessions(wanted, {}, ()) if self.seen.takes_back else {}
        others = (*sessions.values(), *(key for pair in documents.values() for key in pair), *also.values())
        found = self._read([keys.head, *filter(None, places.values()), *others])
        self.seen = rows.read_head(found.get(keys.head))
        rows.not_closed(self.seen)
        if rows.hidden(self.seen):
            return dict.fromkeys(wanted, Hidden(GONE)), {}
        stored = {i: found[key] for i, key in also.items() if key in found}
        items = stored | {i: found.get(key) if key else None for i, key in places.items()}
        hydrated = {i: read_row(item, self.seen, self.request.where) for i, item in items.items()}
        if more := self._sessions(wanted, hydrated, sessions) if self.seen.takes_back else {}:
            sessions, found = sessions | more, found | self._read(more.values())
        logs = {s: rows.read_session(found[key]) for s, key in sessions.items() if key in found}
        if any(log.retracted for log in logs.values()):
            hydrated = {i: Hidden(TAKEN_BACK) if _taken_back(i, row, logs) else row for i, row in hydrated.items()}
        return hydrated | document_rows(self.scope.ports, self.request, documents, found, self.ends_ms), stored

    def _read(self, keys: Iterable[Key]) -> dict[Key, Item]:
        """Read rows, all batches beside each other. Raises StoreUnavailable, DeadlineExceeded."""
        start, table, wanted = self.scope.ports.tasks.start_read, self.scope.ports.table, list(dict.fromkeys(keys))
        batches = [wanted[first : first + BATCH] for first in range(0, len(wanted), BATCH)]
        tasks = [start(partial(table.get_many, batch)) for batch in batches]
        return {key: item for task in tasks for key, item in task.result(self.ends_ms).items()}

    def _sessions(self, ids: Iterable[str], hydrated: Hydrated, known: Collection[str]) -> dict[str, Key]:
        """Return the keys of the sessions, but for ``known``, that say what was taken back of these events, and of what
        the memories among ``hydrated`` were made from."""
        origins = (row.memory.provenance for row in hydrated.values() if isinstance(row, RecallRow) and row.memory)
        made_from = (one.session_id for one in origins if one.session_id and one.seq_from is not None)
        named = (*(place[0] for i in ids if (place := event_place(i))), *made_from)
        return {s: self.scope.keys.of_session(s).session_head for s in dict.fromkeys(named) if s not in known}


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
