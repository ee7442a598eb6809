"""Read every hit from the row store before a caller sees it, together with the user's head
(docs/rules/recall.md#hydration): memories, utterances, the messages before short replies, and documents. A
document's hit names the id and the rev that were indexed; the place of the id says whether that is what there is now,
and the revision has the text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest

from neve.domain.ids import event_id, event_place, is_document_id
from neve.domain.records.documents import Document
from neve.domain.records.sessions import SessionHead
from neve.domain.records.users import UserHead
from neve.domain.retract.derived import goes_with
from neve.domain.sessions.spans import holds
from neve.ports.engines import Ports
from neve.ports.errors import StoreUnavailable
from neve.ports.runtime import Task
from neve.ports.table import Item, Key, Table
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import HEAD, read_document, text_of
from neve.store.keys import UserKeys
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import CHANGED, LeftOut
from neve.usecases.ask.recall.recall_rows import (
    GONE,
    NOT_READ,
    TAKEN_BACK,
    UNREADABLE,
    Hidden,
    RecallRow,
    allowed,
    document_row,
    read_row,
    row_key,
)
from neve.usecases.ask.recall.stages.gate import Gated

NO_TEXT = "text_not_read"
"""Its text is an object that cannot be read now."""


def document_places(keys: UserKeys, wanted: Mapping[str, int]) -> dict[str, tuple[Key, Key]]:
    """Return for each id of a document the keys of its place and of the revision that was found."""
    ids = filter(is_document_id, wanted)
    return {i: (keys.document_place(i), keys.document_rev(i, wanted[i])) for i in ids}


def document_rows(
    ports: Ports,
    request: ResolvedRequest,
    places: Mapping[str, tuple[Key, Key]],
    found: Mapping[Key, Item],
    deadline_ms: float,
) -> dict[str, RecallRow | Hidden]:
    """Make the rows of documents. ``found``: what is at these places. Long texts are fetched side by side. Raises
    DeadlineExceeded."""
    rows: dict[str, RecallRow | Hidden] = {}
    fetched: dict[str, tuple[Document, Task[str]]] = {}
    for identifier, (place, revision) in places.items():
        item = found.get(revision)
        if place not in found or item is None:
            rows[identifier] = Hidden(CHANGED if place in found else GONE)
        elif found[place]["rev"] != item["rev"]:
            rows[identifier] = Hidden(CHANGED)
        elif (document := _read(item)) is None:
            rows[identifier] = Hidden(UNREADABLE)
        elif document.text_object is None:
            rows[identifier] = _allowed(request, document)
        else:
            fetched[identifier] = (document, ports.tasks.start(_fetch(ports, document)))
    for identifier, (document, task) in fetched.items():
        try:
            rows[identifier] = _allowed(request, replace(document, text=task.result(deadline_ms)))
        except StoreUnavailable:
            rows[identifier] = Hidden(NO_TEXT)
    return rows


def with_texts(table: Table, keys: UserKeys, new: Iterable[Item]) -> list[Item]:
    """Return the rows that are too new for the index, documents among them with their texts; those whose text is an
    object are left out: they are found as soon as the index has them. One read where there are documents."""
    items = list(new)
    places = {keys.document_rev(item["id"], item["rev"]): item for item in items if item["type"] == HEAD}
    if not places:
        return items
    texts = {places[key]["id"]: item for key, item in table.get_many(list(places)).items() if "text_object" not in item}
    return [
        item if item["type"] != HEAD else item | {"text": texts[item["id"]]["text"]}
        for item in items
        if item["type"] != HEAD or item["id"] in texts
    ]


def _read(item: Item) -> Document | None:
    try:
        return read_document(item)
    except NOT_READ:
        return None


def _fetch(ports: Ports, document: Document) -> Callable[[], str]:
    return lambda: text_of(ports.objects, document)


def _allowed(request: ResolvedRequest, document: Document) -> RecallRow | Hidden:
    return allowed(document_row(document), request.where)


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


SHORT_TERMS = 10
"""*Measured*: index terms of a message, its speaker's name included (docs/retrieval.md)."""


def is_short(terms: int) -> bool:
    """Say whether a message is a short reply. ``terms``: index terms of the whole message, as a search index counts its
    length."""
    return terms <= SHORT_TERMS


MOST = 10
"""*Chosen*: of nine hits one is such a reply, and each row that is read takes its time."""


def message_before(identifier: str) -> str | None:
    """Return the id of the event directly before an event; None for any other id, and for the first one."""
    place = event_place(identifier)
    return event_id(place[0], place[1] - 1) if place and place[1] > 1 else None


def before_replies(gated: Gated, known: Collection[str]) -> list[str]:
    """Return the ids of the events before the short candidates of both legs, the best placed ones first. ``known``:
    what is read anyway."""
    best = (one for pair in zip_longest(gated.lexical or (), gated.vector or ()) for one in pair if one)
    found = dict.fromkeys(before for one in best if is_short(one.length) and (before := message_before(one.item_id)))
    return [identifier for identifier in found if identifier not in known][:MOST]
