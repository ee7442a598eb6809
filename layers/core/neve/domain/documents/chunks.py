"""The parts of a document that are embedded and searched (docs/rules/documents.md#passages)."""

from __future__ import annotations

import re

from neve.domain.memories.passages import chunks_of, together

MAX_CHUNKS = 8_000
"""*Chosen*: with their vectors 80 MB of requests to the search index, for which a worker has 60 s."""
CONVERSATION = "conversation"
"""The kind, and the source type, of a session's summary."""
_HEADINGS = re.compile(r"(?:#{1,6}[ \t][^\n]*(?:\n|\Z))+")
_BLANK_LINES = re.compile(r"\n[^\S\n]*+\n\s*+")
_ABOUT = re.compile(r"(?:- (?:Date|Outcome|Tone|Topics): [^\n]*(?:\n|\Z))+")
"""The lines that a session's summary says of itself below its title."""


def document_chunks(text: str, kind: str | None = None) -> list[str]:
    """Cut a document into chunks: one a paragraph, of at most 500 tokens by the estimate; a longer paragraph is parted
    at its sentences. Never across paragraphs, but for headings, which stand with the paragraph below them, and where a
    text of very short ones would have more than ``MAX_CHUNKS``: there as many stand together as make 500 tokens. What a
    ``conversation`` says of itself is left out where it says anything else. A blank text has none."""
    paragraphs = [paragraph.strip() for paragraph in _BLANK_LINES.split(text)]
    if kind == CONVERSATION:
        content = [one for one in paragraphs if not _ABOUT.fullmatch(one)]
        paragraphs = paragraphs if all(map(_HEADINGS.fullmatch, content)) else content
    chunks = [chunk for paragraph in _with_headings(paragraphs) for chunk in chunks_of(paragraph)]
    return chunks if len(chunks) <= MAX_CHUNKS else together(chunks, "\n\n")


def _with_headings(paragraphs: list[str]) -> list[str]:
    joined: list[str] = []
    above: list[str] = []
    for paragraph in filter(None, paragraphs):
        if _HEADINGS.fullmatch(paragraph):
            above.append(paragraph)
        else:
            joined.append("\n".join([*above, paragraph]))
            above = []
    return [*joined, "\n".join(above)]
