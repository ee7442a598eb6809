"""Finds which revisions of a document hold what a librarian made of events that are taken back
(docs/rules/retract.md#documents). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from neve.domain.documents.change import next_rev
from neve.domain.memories.made_of import made_of
from neve.domain.records.documents import Document
from neve.domain.records.sessions import Span
from neve.domain.sessions.spans import meets

_PUT_BACK = (
    "text",
    "tokens",
    "fingerprint",
    "sha256",
    "name",
    "summary",
    "derived",
    "tags",
    "provenance",
    "importance",
    "extracted_at",
)


def touched_revisions(revisions: Iterable[Document], session: str, spans: Sequence[Span]) -> dict[int, Document]:
    """Give the revisions that are touched, by rev. ``revisions``: of one document, oldest first, their texts may be
    left out. A librarian's is touched by its own range, and by what it was made from: the revision before it. A
    person's never is, nor one that says word for word what an untouched one says."""
    touched: dict[int, Document] = {}
    clean: set[str] = set()
    before = False
    for revision in revisions:
        own = any(meets(spans, part) for part in made_of(revision.provenance, session))
        before = _by_librarian(revision) and (own or (before and revision.sha256 not in clean))
        if before:
            touched[revision.rev] = revision
        else:
            clean.add(revision.sha256)
    return touched


def newest_untouched(revisions: Sequence[Document], touched: Collection[int]) -> Document | None:
    return next((one for one in reversed(revisions) if one.rev not in touched), None)


def lost_with(revisions: Sequence[Document], touched: Collection[int]) -> list[Document]:
    """Give the revisions behind the newest that is untouched; none where that is in force."""
    left = newest_untouched(revisions, touched)
    return [one for one in revisions if left is None or one.rev > left.rev]


def put_back(head: Document, revision: Document, now: str) -> Document:
    """Give ``head`` the text of an earlier revision and whose word that is, at its next rev; where it stands, and what
    people have said of how it is shown, stay. Both with their texts."""
    fields = {name: getattr(revision, name) for name in _PUT_BACK}
    return next_rev(replace(head, **fields), now)


def _by_librarian(revision: Document) -> bool:
    return revision.provenance.by == "assistant"
