"""The parts of a document that are embedded and searched (docs/rules/documents.md#passages)."""

from __future__ import annotations

from neve.domain.memories.passages import chunks_of


def document_chunks(text: str) -> list[str]:
    """One a paragraph, of at most 500 tokens by the estimate; a longer paragraph is parted at its sentences. Never
    across paragraphs. A text of nothing but white space is one chunk: its name and tags are found all the same."""
    return chunks_of(text) or [""]
