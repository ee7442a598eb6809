"""A document as the passages that the search index holds (docs/rules/documents.md#passages)."""

from __future__ import annotations

from neve.domain.documents.chunks import document_chunks
from neve.domain.indexing.memory_passages import date_text
from neve.domain.indexing.passage import Passage, Source
from neve.domain.memories.passages import chunks_of
from neve.domain.records.documents import Document

DOCUMENT_KIND = "document"


def document_passages(document: Document) -> list[Passage]:
    """Make a document's passages, without vectors, in the order of the text. Each carries the document's name and tags
    in front, so that what is said of the whole is found in every part; none has neighbours."""
    changed_at = document.updated_at or document.created_at
    shown_date, heading = date_text(changed_at), heading_of(document)
    return [
        Passage(
            item_id=str(document.id),
            n=n,
            version=document.rev,
            source=Source.DOCUMENT,
            text=f"{heading}: {chunk}",
            fingerprint=document.fingerprint,
            kind=DOCUMENT_KIND,
            status=document.status.value,
            scope="global",
            tier="semantic",
            observed_at=changed_at,
            date_text=shown_date,
            group=document.group,
            path=document.path,
            tags=document.tags,
            valid_from=document.valid_from,
            valid_until=document.valid_until,
            created_at=document.created_at,
            superseded_at=document.superseded_at,
        )
        for n, chunk in enumerate(document_chunks(document.text, document.kind))
    ]


def indexed_texts(document: Document) -> set[str]:
    """Give the texts of a document's passages, and of those that an older index has, where a heading was a passage of
    its own."""
    heading = heading_of(document)
    before = {f"{heading}: {chunk}" for chunk in chunks_of(document.text)}
    return before | {passage.text for passage in document_passages(document)}


def heading_of(document: Document) -> str:
    return f"{document.name} ({', '.join(document.tags)})" if document.tags else document.name
