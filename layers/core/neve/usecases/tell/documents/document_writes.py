"""Gives a document's write as operations, for a caller with a transaction of its own to put them into
(docs/rules/documents.md#writing)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from neve.domain.documents.change import DocumentChange, changed_document, new_document
from neve.domain.documents.paths import ARTIFACTS, CONVERSATIONS, PATH_RULE, normal_path
from neve.domain.errors import NeveError, invalid
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.domain.times import iso
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Item, Key, WriteOp
from neve.scope import UserScope
from neve.store.documents import (
    CONTENT_TYPE,
    MAX_ROW_TEXT_BYTES,
    first_version,
    put_announced_text,
    read_document,
    source_of,
    text_of,
    written_ops,
)
from neve.store.pins import note_pins
from neve.usecases.core.privacy.admit import admit_path, admitted, redacted
from neve.usecases.tell.documents.free_path import refuse_crossing

SCREENED_FIELDS = ("text", "name", "summary", "group", "tags", "prompt_label", "prompt_hint")
"""Fields of a change that hold a person's words, and so pass the gate."""


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """A document after a write. ``document`` with its text. ``changed`` False: it was so already, and nothing was
    written."""

    document: Document
    created: bool
    changed: bool = True


@dataclass(frozen=True, slots=True)
class DocumentWrites:
    """The operations of a write: at most eight, none when nothing changes; the transaction they are put into checks the
    user's head. They raise Conflict when the document moved since it was read."""

    written: WrittenDocument
    ops: tuple[WriteOp, ...] = ()


@dataclass
class LongText:
    """The objects that a call has made of a text which no row holds, by the document that it was to be the text of."""

    names: dict[str, str] = field(default_factory=dict)

    def put(self, scope: UserScope, document: Document, *, new: bool) -> str | None:
        """Store the text as an object and give its name; None for a text that a row holds. That of a ``new`` document
        is announced first: a process that dies before the transaction leaves it where no document is. Raises
        StoreUnavailable."""
        body, document_id = document.text.encode(), str(document.id)
        if len(body) <= MAX_ROW_TEXT_BYTES:
            return None
        if document_id not in self.names:
            name = f"{scope.keys.document_objects(document_id)}{scope.ports.ids.token()}.md"
            if new:
                scope.ports.table.write([put_announced_text(scope.keys, document_id, scope.ports.clock.now())])
            scope.ports.objects.put(name, body, content_type=CONTENT_TYPE)
            self.names[document_id] = name
        return self.names[document_id]

    def drop(self, scope: UserScope, used: str | None = None) -> None:
        """Delete the objects that no row names; not those of a write whose outcome is not known: a revision may name
        them. What stays lies under the document's id, and goes with the document, or where there is none with the
        sweep."""
        for name in self.names.values():
            if name != used:
                with suppress(StoreUnavailable):
                    scope.ports.objects.delete(name)


@dataclass(frozen=True, slots=True)
class WantedWrite:
    """The write that a call wants. ``revs``: what the document may be at; None: at any, or not there. ``create``: it
    must not be there. ``write_id``: names the call on the row (ADR 4). ``new_id``: of the document that it may make."""

    path: str
    change: DocumentChange
    revs: Collection[int] | None = None
    create: bool = False
    write_id: str | None = None
    new_id: str = ""
    long_text: LongText = field(default_factory=lambda: LongText())


def document_writes(
    scope: UserScope, path: str, change: DocumentChange, *, expected_rev: int | None, create: bool = False
) -> DocumentWrites:
    """Plan a write. Two reads, a third for a document whose outside source was seen under another path. A long text
    becomes an object here already, which stays, unread, when the transaction is not made. Raises validation_failed,
    precondition_failed, conflict (superseded, not editable, another document at the path), StoreUnavailable."""
    wanted = wanted_write(scope, path, change, revs_of(expected_rev), create=create)
    return planned_writes(scope, wanted, scope.ports.table.get_many(rows_to_read(scope, wanted)))


def writable_path(path: str, field: str = "path") -> str:
    """Give the path in its normal form. Raises 422 that names the ``field``."""
    try:
        normal = normal_path(path)
    except ValueError:
        raise invalid(field, PATH_RULE) from None
    if normal.startswith(ARTIFACTS):
        raise invalid(field, f"must not be below {ARTIFACTS}: only a compaction writes there")
    if f"{normal}/" in (ARTIFACTS, CONVERSATIONS):
        raise invalid(field, "must not be a folder in which the service itself keeps documents")
    return normal


def wanted_write(
    scope: UserScope,
    path: str,
    change: DocumentChange,
    revs: Collection[int] | None,
    *,
    create: bool = False,
    field: str = "path",
) -> WantedWrite:
    """Make the wanted write of a change, without what the gate takes out. ``field``: of the request, which holds the
    path. Raises 422 that names it, and ``pii_blocked`` for a caller's words; those of others, such as a model's, are
    kept without (docs/rules/privacy.md#records)."""
    ids = scope.ports.ids
    new_id = f"doc_{ids.ulid(scope.ports.clock.now())}"
    admit_path(scope, field, path)
    by_a_caller = change.provenance is None or change.provenance.by in ("human_edit", "import")
    screened = admitted(scope, change, SCREENED_FIELDS) if by_a_caller else redacted(scope, change, SCREENED_FIELDS)[0]
    return WantedWrite(writable_path(path, field), screened, revs, create, ids.token(), new_id)


def revs_of(expected_rev: int | None) -> Collection[int] | None:
    return None if expected_rev is None else (expected_rev,)


def rows_to_read(scope: UserScope, wanted: WantedWrite) -> list[Key]:
    """List the rows that ``planned_writes`` decides on."""
    change, keys = wanted.change, scope.keys
    places = [keys.document(wanted.path)]
    if change.source_type is not None and change.source_id is not None:
        places.append(keys.document_source(change.source_type, change.source_id))
    return places


def planned_writes(scope: UserScope, wanted: WantedWrite, found: Mapping[Key, Item]) -> DocumentWrites:
    """Plan a write on rows that were read. ``found``: the ``rows_to_read``. Raises what ``document_writes`` raises."""
    change, now = wanted.change, iso(scope.ports.clock.now())
    places = rows_to_read(scope, wanted)[1:]
    source = found.get(places[0]) if places else None
    before = _before(scope, wanted, found, source)
    _check(wanted, before)
    if before is None:
        if change.text is None:
            raise invalid("text", "is required for a new document")
        after = new_document(wanted.path, wanted.new_id, change, now, scope.count)
    else:
        before = with_text(scope, before)
        after = changed_document(before, wanted.path, change, now, scope.count)
    if after == before:
        return DocumentWrites(WrittenDocument(after, created=False, changed=False))
    return writes_of(scope, wanted, before, after, source)


def writes_of(
    scope: UserScope, wanted: WantedWrite, before: Document | None, after: Document, source: Item | None = None
) -> DocumentWrites:
    """Put ``after`` in place of ``before``, both with their texts. Raises conflict where its path is new and crosses
    another one, Conflict, also when it had to be noted first that the user has documents that stand in packs."""
    if before is None or before.path != after.path:
        refuse_crossing(scope.ports.table, scope.keys, after.path, leaving=[before.path] if before else ())
    same_text = before is not None and before.sha256 == after.sha256
    known_object = before.text_object if before and same_text else None
    text_object = known_object if same_text else wanted.long_text.put(scope, after, new=before is None)
    after = replace(after, write_id=wanted.write_id, text_object=text_object)
    note_pins(scope.ports.table, scope.keys, before, after, iso(scope.ports.clock.now()))
    ops = written_ops(scope.keys, before, after, source)
    version = before.version + 1 if before and before.path == after.path else first_version(after)
    return DocumentWrites(WrittenDocument(replace(after, version=version), created=before is None), tuple(ops))


def with_text(scope: UserScope, head: Document) -> Document:
    """Read the text of a head's document. Raises Conflict when it was deleted meanwhile, StoreUnavailable."""
    item = scope.ports.table.get(scope.keys.document_rev(str(head.id), head.rev))
    if item is None:
        raise Conflict
    return replace(head, text=text_of(scope.ports.objects, read_document(item)))


# --- what is there --------------------------------------------------------------------------------


def _before(scope: UserScope, wanted: WantedWrite, found: Mapping[Key, Item], source: Item | None) -> Document | None:
    """Find the document at the path or, from an outside source that was seen before, the one that it wrote then. Raises
    Conflict where that one is on its way."""
    item = found.get(scope.keys.document(wanted.path))
    here = read_document(item) if item else None
    if source is None or (here is not None and here.id == source["id"]):
        return here
    place = scope.ports.table.get(scope.keys.document_place(source["id"]))
    if place is None:
        return here
    head = scope.ports.table.get(scope.keys.document(place["path"]))
    there = read_document(head) if head else None
    if there is None or there.id != source["id"]:  # it was moved or deleted between the two reads
        raise Conflict
    if source_of(scope.keys, there) is None:
        return here
    if here is not None:
        raise NeveError("conflict", f"The source is that of '{there.path}'; '{here.path}' is another document.")
    return there


def _check(wanted: WantedWrite, before: Document | None) -> None:
    if wanted.create and before is not None:
        raise NeveError("precondition_failed", f"There is a document at '{before.path}', at rev {before.rev}.")
    check_rev(wanted.revs, before, wanted.path)
    if before is None:
        return
    not_superseded(before)
    by = wanted.change.provenance.by if wanted.change.provenance else "human_edit"
    if not before.editable and by in ("assistant", "tool"):
        raise NeveError("conflict", "The document is not editable: only a person may change it.")


def not_superseded(document: Document) -> None:
    """Refuse a superseded document. Raises conflict."""
    if document.status is Status.SUPERSEDED:
        raise NeveError("conflict", f"The document is superseded by '{document.superseded_by}' and cannot be changed.")


def check_rev(revs: Collection[int] | None, before: Document | None, path: str) -> None:
    """Refuse a document at another rev. Raises precondition_failed."""
    if revs is None or (before is not None and before.rev in revs):
        return
    at = f"The document is at rev {before.rev}." if before else f"There is no document at '{path}'."
    raise NeveError("precondition_failed", at)
