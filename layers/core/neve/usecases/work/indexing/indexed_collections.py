"""Define the rows that index workers bring into the search index by rev: a user's memories, and their documents. A
collection knows where its rows are and what passages they have; everything else is the same for both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, Protocol, TypeVar

from neve.domain.indexing.document_passages import document_passages
from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.passage import Passage
from neve.domain.records.documents import Document
from neve.domain.records.memories import Memory
from neve.ports.objects import ObjectStore
from neve.ports.table import Item, Key, Put, Table
from neve.scope import UserData
from neve.store import rows
from neve.store.delete_rows import delete_rows
from neve.store.documents import put_document, read_document, text_of
from neve.store.filings import proposals_about
from neve.store.idempotency import answers_about
from neve.store.keys import UserKeys
from neve.store.partitions import object_pages

Kind = Literal["memory", "document"]
R = TypeVar("R", Memory, Document)
_LOOKS = 3
"""How often a document that moves while it is looked for is looked for."""


class Stores(Protocol):
    """The stores of the rows, and of texts too long for one."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...


class IndexedCollection(Protocol[R]):
    """A kind of rows that are indexed by rev. Every method that reads raises StoreUnavailable."""

    @property
    def kind(self) -> Kind: ...

    def find(
        self, table: Table, keys: UserKeys, ids: Sequence[str], beside: Key | None = None
    ) -> tuple[dict[str, R], Item | None]:
        """Read the rows that are there, by id, as they are now, and the row ``beside`` in the same read. Their texts
        may be missing."""

    def whole(self, data: UserData[Stores], found: Iterable[R]) -> dict[str, R]:
        """Return the rows with their texts, by id. A row without one was deleted meanwhile."""

    def put(self, keys: UserKeys, row: R) -> Put: ...

    def passages(self, row: R) -> list[Passage]: ...

    def no_longer_said(
        self, data: UserData[Stores], before: R, passages: Sequence[Passage], now: R | None
    ) -> list[Passage]:
        """Return those of the ``passages`` of ``before`` that the row says no more. ``now``: the row of another rev;
        None when it is gone."""

    def clear_away(self, data: UserData[Stores], gone: str) -> None:
        """Delete what the deletion of a row may have left."""


class _Memories:
    kind: Kind = "memory"

    def find(
        self, table: Table, keys: UserKeys, ids: Sequence[str], beside: Key | None = None
    ) -> tuple[dict[str, Memory], Item | None]:
        places = {i: keys.memory(i) for i in ids}
        found = table.get_many([*([beside] if beside else []), *places.values()])
        there = {i: rows.read_memory(found[key]) for i, key in places.items() if key in found}
        return there, found.get(beside) if beside else None

    @staticmethod
    def whole(_data: UserData[Stores], found: Iterable[Memory]) -> dict[str, Memory]:
        return {memory.id: memory for memory in found}

    @staticmethod
    def put(keys: UserKeys, row: Memory) -> Put:
        return rows.put_memory(keys, row)

    @staticmethod
    def passages(row: Memory) -> list[Passage]:
        return memory_passages(row)

    @staticmethod
    def no_longer_said(
        _data: UserData[Stores], _before: Memory, passages: Sequence[Passage], now: Memory | None
    ) -> list[Passage]:
        said = {passage.text for passage in memory_passages(now)} if now else set()
        return [passage for passage in passages if passage.text not in said]

    @staticmethod
    def clear_away(data: UserData[Stores], gone: str) -> None:
        """Delete the kept answers to its changes and to its decision."""
        table = data.ports.table
        delete_rows(table, list(answers_about(table, data.keys, [gone])))


class _Documents:
    kind: Kind = "document"

    def find(
        self, table: Table, keys: UserKeys, ids: Sequence[str], beside: Key | None = None
    ) -> tuple[dict[str, Document], Item | None]:
        """Read where the documents are, then the rows there. A document that has moved between the two is looked for
        again."""
        places = {i: keys.document_place(i) for i in ids}
        at = table.get_many([*([beside] if beside else []), *places.values()])
        also = at.get(beside) if beside else None
        known: dict[str, Document] = {}
        for _ in range(_LOOKS):
            heads = {i: keys.document(at[place]["path"]) for i, place in places.items() if place in at}
            found = table.get_many(list(heads.values())) if heads else {}
            here = {i: read_document(found[key]) for i, key in heads.items() if key in found}
            known |= {i: head for i, head in here.items() if head.id == i}
            places = {i: places[i] for i in heads if i not in known}
            if not places:
                break
            at = table.get_many(list(places.values()))
        return known, also

    @staticmethod
    def whole(data: UserData[Stores], found: Iterable[Document]) -> dict[str, Document]:
        stores, keys = data.ports, data.keys
        heads = {keys.document_rev(str(head.id), head.rev): head for head in found}
        revisions = stores.table.get_many(list(heads)) if heads else {}
        return {
            str(head.id): replace(head, text=text_of(stores.objects, read_document(revisions[key])))
            for key, head in heads.items()
            if key in revisions
        }

    @staticmethod
    def put(keys: UserKeys, row: Document) -> Put:
        return put_document(keys, row)

    @staticmethod
    def passages(row: Document) -> list[Passage]:
        return document_passages(row)

    @staticmethod
    def no_longer_said(
        data: UserData[Stores], before: Document, passages: Sequence[Passage], now: Document | None
    ) -> list[Passage]:
        """Return the passages, none where the revision before stays: it stays unless it holds what was deleted."""
        revision = data.keys.document_rev(str(before.id), before.rev)
        stays = now is not None and data.ports.table.get(revision) is not None
        return [] if stays else list(passages)

    @staticmethod
    def clear_away(data: UserData[Stores], gone: str) -> None:
        """Delete the document's long texts, where its deletion did not come to that, and what was proposed for it,
        which holds its text, with the kept answers to those decisions. One that was moving all the while is there, and
        keeps them."""
        stores, keys = data.ports, data.keys
        if stores.table.get(keys.document_place(gone)) is not None:
            return
        for names in object_pages(stores.objects, keys.document_objects(gone)):
            for name in names:
                stores.objects.delete(name)
        proposed = proposals_about(stores.table, keys, gone)
        answers = answers_about(stores.table, keys, proposed)
        delete_rows(stores.table, [*answers, *map(keys.proposal, proposed)])


MEMORIES: IndexedCollection[Memory] = _Memories()
DOCUMENTS: IndexedCollection[Document] = _Documents()
