"""A document's rows (docs/rules/documents.md#rows): its head under the path, without the text; its place under the id;
each of its revisions, the one in force among them, with the text; and what an outside system calls it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from neve.correlation import carried
from neve.domain.memories.made_of import Sources
from neve.domain.records.documents import Document
from neve.domain.records.memories import EmbeddingState
from neve.ports.errors import StoreUnavailable
from neve.ports.objects import ObjectStore
from neve.ports.table import Delete, Expect, Item, Key, Put, Version, WriteOp
from neve.store.keys import UserKeys, recent_key
from neve.store.pins import pin_ops
from neve.store.rows import due_keys, expectation, left_sources, put_leaving, version_of

MAX_ROW_TEXT_BYTES = 300 * 1024
"""Bytes of a text in UTF-8 that a row holds; a row has at most 400 KB (*limit*, DynamoDB). Longer ones are objects."""
CONTENT_TYPE = "text/markdown; charset=utf-8"
HEAD, REVISION, PLACE = "document", "document_rev", "document_place"
SOURCE, DELETED, ANNOUNCED = "document_source", "deleted_document", "announced_text"

_document = TypeAdapter(Document)
_OF_THE_INDEX = ("embedding_state", "embedding_model", "embed_queued_at", "rev_at", "words_at", "write_id", "version")
"""The attributes that say where the search index is with a head. No revision holds it."""


def read_document(item: Item) -> Document:
    """Read a document from the row of a head, without the text; of a revision; or of an artifact, which is one row."""
    return _document.validate_python(item if "text" in item else item | {"text": ""})


def put_document(keys: UserKeys, document: Document) -> Put:
    """Make the put of a document's head. The index keys are those of a memory: ``recent`` and ``due`` (embed) while the
    search index lacks words or vectors of the rev, ``due`` (failed) while it is there without its vectors."""
    attributes = _attributes(document)
    attributes.pop("text")
    attributes.pop("version")
    key, identifier = keys.document(document.path), _id(document)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": HEAD, **attributes}
    item = carried(item | {"tenant_id": keys.tenant, "user_id": keys.user})
    if document.rev_at is not None:
        lacking = recent_key(identifier, rev_at=document.rev_at, words_at=document.words_at)
        item |= {"recent_pk": keys.partition, "recent_sk": lacking}
        item |= due_keys("embed", keys, identifier, datetime.fromisoformat(document.rev_at))
    elif document.embedding_state is EmbeddingState.FAILED:
        item |= due_keys("failed", keys, identifier, datetime.fromisoformat(document.created_at))
    return Put(item, expectation(document.version), first=first_version(document))


def first_version(document: Document) -> int:
    """Give the version at which a new head begins, and the row of what an outside system calls it: a path comes back by
    a move, and after a deletion."""
    return version_of(document.id, document.rev)


def put_revision(keys: UserKeys, document: Document) -> Put:
    """Make the put of a revision, without the text where that is an object. What does not move ``rev`` is changed in
    place, so nothing is expected: the head of the same transaction decides."""
    attributes = {name: value for name, value in _attributes(document).items() if name not in _OF_THE_INDEX}
    if document.text_object is not None:
        attributes["text"] = ""
    key = keys.document_rev(_id(document), document.rev)
    return Put({"pk": key.pk, "sk": key.sk, "type": REVISION, **attributes})


def put_place(keys: UserKeys, document: Document) -> Put:
    """Make the put that notes where a document stands, with the id of the call that wrote it last (ADR 4)."""
    key = keys.document_place(_id(document))
    item: Item = {"pk": key.pk, "sk": key.sk, "type": PLACE}
    item |= {"id": _id(document), "path": document.path, "rev": document.rev}
    return Put(item | ({"write_id": document.write_id} if document.write_id else {}))


def put_announced_text(keys: UserKeys, document_id: str, now: datetime) -> Put:
    """Make the put that announces a text that is about to be written as an object; the row is in the index ``due``
    (text) from now on."""
    key = keys.announced_text(document_id)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": ANNOUNCED, "id": document_id}
    item |= {"tenant_id": keys.tenant, "user_id": keys.user}
    return Put(item | due_keys("text", keys, document_id, now), Expect.ANY)


def written_ops(keys: UserKeys, before: Document | None, after: Document, source: Item | None) -> list[WriteOp]:
    """Make the operations that take the rows from one document to the other, at most eight; the head's expectation is
    that of what was read. ``source``: the row of what an outside system calls it, as it was read. The transaction
    checks the user's head itself."""
    at = replace(after, version=before.version if before and before.path == after.path else 0)
    ops: list[WriteOp] = [put_document(keys, at), put_revision(keys, after), put_place(keys, after)]
    if before is not None and before.path != after.path:
        ops.append(Delete(keys.document(before.path), Version(before.version)))
    old, new = (source_of(keys, one) if one else None for one in (before, after))
    if new is not None and new != old and (source is None or source["id"] != after.id):
        item: Item = {"pk": new.pk, "sk": new.sk, "type": SOURCE, "id": _id(after)}
        ops.append(Put(item, expectation(source["version"] if source else 0), first=first_version(after)))
    if old is not None and old != new:
        ops.append(Delete(old, Expect.ANY))
    return ops + pin_ops(keys, before, after)


def document_deletion(
    keys: UserKeys, document: Document, write_id: str, now: datetime, sources: Sources | None
) -> list[WriteOp]:
    """Make the operations that delete all of a document but its revisions, at most six. What is left is its last rev,
    which the search index knows its deletion by, the id of the call that deleted it (ADR 4), and ``sources``, what
    librarians had made it from: packs may hold it yet."""
    ops: list[WriteOp] = [Delete(keys.document(document.path), Version(document.version))]
    if document.id is None:
        return ops
    left = keys.deleted_document(document.id)
    item: Item = {"pk": left.pk, "sk": left.sk, "type": DELETED, "rev": document.rev, "write_id": write_id}
    ops.append(Put(item | left_sources(sources)))
    ops.append(put_leaving(keys, "document", document.id, document.rev, now))
    ops.append(Delete(keys.document_place(document.id)))
    ops += pin_ops(keys, document, None)
    source = source_of(keys, document)
    return ops if source is None else [*ops, Delete(source)]


def source_of(keys: UserKeys, document: Document) -> Key | None:
    """Give the key of the row of what an outside system calls the document; None where no outside system has named
    it."""
    if document.source_type is None or document.source_id is None:
        return None
    return keys.document_source(document.source_type, document.source_id)


def text_of(objects: ObjectStore, revision: Document) -> str:
    """Read a document's text. Raises StoreUnavailable, also for an object that is not there: its text must not look
    empty."""
    if revision.text_object is None:
        return revision.text
    body = objects.get(revision.text_object)
    if body is None:
        raise StoreUnavailable("objects", f"the text of {revision.id} rev {revision.rev} is missing")
    return body.decode()


def is_searched(item: Mapping[str, Any]) -> bool:
    """Say whether a row is the head of a document that the search index has: artifacts have no id."""
    return item.get("type") == HEAD and "id" in item


def _attributes(document: Document) -> dict[str, Any]:
    attributes: dict[str, Any] = _document.dump_python(document, mode="json", exclude_none=True)
    return attributes


def _id(document: Document) -> str:
    if document.id is None:
        raise ValueError(f"{document.path} is an artifact")
    return document.id
