"""The passages of a memory: the units that are embedded and searched (docs/rules/memories.md#passages)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Trust
from neve.domain.tokens import estimate, trim_to

PASSAGE_TOKENS = 500
"""Longest passage (docs/rules/memories.md#passages), by the estimate whatever the tenant's counter: the encoder is the
same for all."""
MAX_PASSAGES = 2_000
"""Passages of a memory that have no ranges of their own. *Chosen*: a worker has 60 s for ten memories' words."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*+\n\s*+")
_SENTENCE = re.compile(r"(?<=[.!?…。！？])\s+|(?<=[。！？])|\n")


def passages_of(memory: Memory) -> list[MemoryPassage]:
    """Split a memory into passages: an observation's bullets with their own ranges, otherwise the paragraphs with the
    row's range; each at most ``PASSAGE_TOKENS``, longer ones split at sentence ends, then hard. A passage never spans
    bullets or paragraphs, unless these are so short that there would be more than ``MAX_PASSAGES``."""
    found = [
        MemoryPassage(chunk, part.seq_from, part.seq_to, part.trust)
        for part in _parts_of(memory)
        for chunk in chunks_of(part.text)
    ]
    if memory.passages or len(found) <= MAX_PASSAGES:
        return found
    seq_from, seq_to = memory.provenance.seq_from, memory.provenance.seq_to
    return [MemoryPassage(text, seq_from, seq_to) for text in together([one.text for one in found], "\n")]


def texts_of_memory(memory: Memory) -> set[str]:
    """Give the fingerprints of its passages, by which their vectors are kept."""
    return {fingerprint(part.text) for part in passages_of(memory)}


def passage_trust(memory: Memory, n: int) -> Trust:
    """Say whose word the ``n``-th passage is: the row's, unless its passages say so themselves."""
    own = passages_of(memory)[n].trust if memory.passages else None
    return own or memory.provenance.trusted


def _parts_of(memory: Memory) -> list[MemoryPassage]:
    if memory.passages:
        return list(memory.passages)
    texts = memory.text.splitlines() if memory.kind is Kind.OBSERVATION else [memory.text]
    return [MemoryPassage(text, memory.provenance.seq_from, memory.provenance.seq_to) for text in texts]


def chunks_of(text: str) -> list[str]:
    """Cut a text into paragraphs of at most ``PASSAGE_TOKENS``, stripped; blank ones are left out."""
    return [chunk for paragraph in _PARAGRAPH.split(text) for chunk in _pieces(paragraph.strip()) if chunk]


def together(chunks: Iterable[str], joint: str) -> list[str]:
    """Join chunks in their order, as many with each other as make at most ``PASSAGE_TOKENS``."""
    found: list[str] = []
    for chunk in chunks:
        joined = f"{found[-1]}{joint}{chunk}" if found else chunk
        if found and estimate(joined) <= PASSAGE_TOKENS:
            found[-1] = joined
        else:
            found.append(chunk)
    return found


def _pieces(paragraph: str) -> Iterator[str]:
    """Pack whole sentences greedily; a sentence that is too long is cut at a word, or anywhere."""
    if estimate(paragraph) <= PASSAGE_TOKENS:
        yield paragraph
        return
    held = ""
    for sentence in _sentences(paragraph):
        if estimate(held + sentence) > PASSAGE_TOKENS:
            yield held.strip()
            held = ""
        held += sentence
        while estimate(held) > PASSAGE_TOKENS:
            window = trim_to(held[: PASSAGE_TOKENS * 4], PASSAGE_TOKENS, marker="")
            space = window.rfind(" ") + 1
            cut = space if space > len(window) // 2 else max(1, len(window))
            yield held[:cut].strip()
            held = held[cut:]
    yield held.strip()


def _sentences(paragraph: str) -> Iterator[str]:
    """Give the sentences, each with the space behind it; joined they are the paragraph."""
    start = 0
    for end in _SENTENCE.finditer(paragraph):
        yield paragraph[start : end.end()]
        start = end.end()
    yield paragraph[start:]
