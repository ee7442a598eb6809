"""Makes of a document what a write makes of it: the fields that it names, and what follows from them
(docs/rules/documents.md#writing)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from typing import Any

from neve.domain.documents.description import name_of, summary_of
from neve.domain.memories.text import fingerprint
from neve.domain.records.documents import Document, IncludePriority
from neve.domain.records.memories import EmbeddingState, Provenance, Status
from neve.domain.tokens import Counter
from neve.domain.validity import require_span

ALWAYS_LOAD = "/always-load/"
REVISED_BY = ("text", "name", "summary", "status", "group", "tags", "path", "valid_from", "valid_until")
"""Fields whose change moves ``rev``: what is searched, where it stands, and when it holds."""
BY_PEOPLE: Provenance = Provenance("human_edit", trust="user")
_CLEARED_BY_EMPTY = ("group", "prompt_label", "prompt_hint", "valid_from", "valid_until")
_TO_DERIVE = ("name", "summary")


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """The fields of a document that a write names. None: as it was, or the default of a new document. An empty
    ``group``, ``prompt_label``, ``prompt_hint`` or time takes it away, an empty ``name`` or ``summary`` has it follow
    from the text. ``provenance``: whose word the text is from now on; None: a person's."""

    text: str | None = None
    name: str | None = None
    summary: str | None = None
    tags: tuple[str, ...] | None = None
    group: str | None = None
    kind: str | None = None
    always_include: bool | None = None
    include_priority: IncludePriority | None = None
    prompt_label: str | None = None
    prompt_hint: str | None = None
    prompt_order: int | None = None
    editable: bool | None = None
    source_type: str | None = None
    source_id: str | None = None
    extracted_at: str | None = None
    importance: int | None = None
    status: Status | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    provenance: Provenance | None = None

    def given(self) -> dict[str, Any]:
        """Give the fields that are named, with their values, ``provenance`` left out."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "provenance"}
        return {name: value for name, value in values.items() if value is not None}


def new_document(path: str, document_id: str, change: DocumentChange, now: str, count: Counter) -> Document:
    """Make a document at rev 1. ``count``: the policy's counter."""
    blank = Document(path, "", 0, 0, now, id=document_id, derived=_TO_DERIVE)
    return changed_document(blank, path, change, now, count)


def changed_document(before: Document, path: str, change: DocumentChange, now: str, count: Counter) -> Document:
    """Give ``before`` with its text, at a path and with what a change names; itself when that is what it was. Its
    ``rev`` moves with the fields of ``REVISED_BY`` only. Raises 422 for an end before the beginning."""
    given = change.given()
    after = replace(before, path=path, **{name: _cleared(name, value) for name, value in given.items()})
    after = replace(after, derived=tuple(name for name in _TO_DERIVE if _follows_text(name, before, given)))
    if path.startswith(ALWAYS_LOAD):
        after = replace(after, always_include=True)
    if after.text != before.text or before.rev == 0:
        after = _with_text(after, change.provenance or BY_PEOPLE, count)
    if "name" in after.derived:
        after = replace(after, name=name_of(path, after.text))
    if "summary" in after.derived:
        after = replace(after, summary=summary_of(after.text))
    require_span(after.valid_from, after.valid_until)
    if after == before:
        return before
    moved = before.rev == 0 or any(getattr(after, name) != getattr(before, name) for name in REVISED_BY)
    return next_rev(after, now) if moved else after


def next_rev(document: Document, now: str) -> Document:
    """Give the document at its next rev, nothing of which is in the search index yet."""
    return replace(
        document,
        rev=document.rev + 1,
        updated_at=now,
        rev_at=now,
        words_at=None,
        embedding_state=EmbeddingState.PENDING,
        embedding_model=None,
    )


def _with_text(document: Document, provenance: Provenance, count: Counter) -> Document:
    encoded = document.text.encode()
    return replace(
        document,
        tokens=count(document.text),
        bytes=len(encoded),
        fingerprint=fingerprint(document.text),
        sha256=hashlib.sha256(encoded).hexdigest(),
        provenance=provenance,
    )


def _cleared(name: str, value: Any) -> Any:
    return None if name in _CLEARED_BY_EMPTY and value == "" else value


def _follows_text(name: str, before: Document, given: dict[str, Any]) -> bool:
    """Say whether the field follows from the text now."""
    return given[name] == "" if name in given else name in before.derived
