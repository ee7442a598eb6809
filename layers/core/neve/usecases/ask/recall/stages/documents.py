"""Documents among the candidates. A hit names the id and the rev that were indexed; the place of the id says whether
that is what there is now, and the revision has the text: both are read in the batch that reads the other rows
(docs/rules/recall.md#hydration)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from neve.domain.ids import is_document_id
from neve.domain.records.documents import Document
from neve.ports.engines import Ports
from neve.ports.errors import StoreUnavailable
from neve.ports.runtime import Task
from neve.ports.table import Item, Key, Table
from neve.store.documents import HEAD, read_document, text_of
from neve.store.keys import UserKeys
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import CHANGED
from neve.usecases.ask.recall.recall_rows import GONE, NOT_READ, UNREADABLE, Hidden, RecallRow, allowed, document_row

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
