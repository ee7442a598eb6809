"""Documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from neve.domain.records.memories import EmbeddingState, Provenance, Status

IncludePriority = Literal["high", "normal", "low"]

_BY_A_PERSON = Provenance("human_edit", trust="user")


@dataclass(frozen=True, slots=True)
class Document:
    """Text under a path (docs/rules/documents.md). ``id`` stays when the document moves; one below ``/artifacts/`` has
    none: the content of a tool result that a compaction took out of the log, of the session and the event it names,
    which no search finds. ``text`` is empty in what a list gives; ``text_object`` names the object of one that is too
    long for a row. ``derived``: which of ``name`` and ``summary`` follow from the text, because no caller gave them.
    ``fingerprint``: of the statement, as a memory's; ``sha256``, ``bytes``: of the very text, in UTF-8. ``supersedes``,
    ``superseded_by``: paths. ``extracted_at``: when it was last drawn from a conversation; ``updated_at``: when ``rev``
    last moved. ``valid_from``, ``valid_until``: between which it holds. The fields from ``embedding_state`` on are
    those of a memory."""

    path: str
    text: str
    tokens: int
    rev: int
    created_at: str
    session_id: str | None = None
    seq: int | None = None
    id: str | None = None
    name: str = ""
    summary: str = ""
    derived: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    group: str | None = None
    kind: str = "document"
    always_include: bool = False
    include_priority: IncludePriority = "normal"
    prompt_label: str | None = None
    prompt_hint: str | None = None
    prompt_order: int | None = None
    editable: bool = True
    source_type: str | None = None
    source_id: str | None = None
    extracted_at: str | None = None
    importance: int = 3
    status: Status = Status.ACTIVE
    provenance: Provenance = _BY_A_PERSON
    fingerprint: str = ""
    sha256: str = ""
    bytes: int | None = None
    updated_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    text_object: str | None = None
    embedding_state: EmbeddingState = EmbeddingState.PENDING
    embedding_model: str | None = None
    embed_queued_at: str | None = None
    rev_at: str | None = None
    words_at: str | None = None
    write_id: str | None = None
    version: int = 0
