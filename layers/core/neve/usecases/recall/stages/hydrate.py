"""Every hit is read again from the row store, in one read together with the user's head, before anybody sees it
(docs/rules/recall.md#hydration)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neve.domain.records import Spans, UserHead
from neve.domain.sessions.spans import holds
from neve.ports import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.indexing.utterances import event_place
from neve.usecases.recall.command import ResolvedRequest
from neve.usecases.recall.dropped import LeftOut
from neve.usecases.recall.recall_rows import TAKEN_BACK, Hidden, RecallRow, read_row, row_key
from neve.usecases.recall.stages.documents import document_places, document_rows

Hydrated = Mapping[str, RecallRow | Hidden]
"""Rows by id."""


class GenerationMoved(Exception):
    """A replacement became visible while the rows were read."""


def hydrate(
    scope: UserScope,
    request: ResolvedRequest,
    seen: UserHead,
    wanted: Mapping[str, int],
    deadline_ms: float,
    *,
    whatever_moved: bool,
) -> Hydrated:
    """``wanted``: ids with the rev that was found. The rows as the generation of ``seen`` sees them;
    ``whatever_moved``: as that of now does. Raises StoreUnavailable, DeadlineExceeded, GenerationMoved."""
    if not wanted:
        return {}
    table, head_key = scope.ports.table, scope.keys.head
    places = {i: key for i in wanted if (key := row_key(scope.keys, i))}
    documents = document_places(scope.keys, wanted)
    sessions = _sessions(scope, wanted) if seen.takes_back else {}
    beside = [*sessions.values(), *(key for pair in documents.values() for key in pair)]
    to_read = dict.fromkeys([head_key, *places.values(), *beside])
    task = scope.ports.tasks.start(lambda: table.get_many(list(to_read)))
    found: dict[Key, Item] = task.result(deadline_ms)
    now = rows.read_head(found.get(head_key))
    before = (seen.gen, seen.incarnation, seen.state)
    if not whatever_moved and (now.gen, now.incarnation, now.state) != before:
        raise GenerationMoved
    retracted = {s: rows.read_session(found[key]).retracted for s, key in sessions.items() if key in found}
    items = {i: found.get(places[i]) if i in places else None for i in wanted if i not in documents}
    hydrated = {
        i: Hidden(TAKEN_BACK) if _taken_back(i, retracted) else read_row(item, now, request.where)
        for i, item in items.items()
    }
    return hydrated | document_rows(scope.ports, request, documents, found, deadline_ms)


def _sessions(scope: UserScope, ids: Iterable[str]) -> dict[str, Key]:
    """The sessions that the events among ``ids`` are of, which say what of them was taken back."""
    named = (place[0] for i in ids if (place := event_place(i)))
    return {session: scope.keys.of_session(session).session_head for session in dict.fromkeys(named)}


def _taken_back(identifier: str, retracted: Mapping[str, Spans]) -> bool:
    place = event_place(identifier)
    return place is not None and holds(retracted.get(place[0], ()), place[1])


def shown(rows_by_id: Hydrated, out: LeftOut) -> Hydrated:
    """With what is left out hidden: a row's own fingerprint is known only now."""

    def judged(row: RecallRow | Hidden) -> RecallRow | Hidden:
        reason = out.reason_of(row.passages) if isinstance(row, RecallRow) else None
        return Hidden(reason) if reason else row

    return {i: judged(row) for i, row in rows_by_id.items()}
