"""Writes what a prompt says of whose word a memory is (docs/rules/pack.md#rendering): a tool's or a page's is never
shown as the user's."""

from __future__ import annotations

from neve.domain.records.memories import Memory, Trust

OF_A_TOOL = "[said by a tool or a page, not by the user]"
WAITS = "[not confirmed]"
"""Marks a memory in the inbox."""
REPLACED = "[no longer holds]"
"""Marks a memory that was superseded."""


def no_longer(since: str, successor: str | None) -> str:
    """Write ``REPLACED`` with the day since when, and what holds instead."""
    return f"{REPLACED.removesuffix(']')} since {since}{f': {successor}' if successor else ''}]"


def marked(text: str, trust: Trust) -> str:
    """Mark a text that a tool or a page said; a user's stays as it is."""
    return f"{OF_A_TOOL} {text}" if trust == "tool" and text.strip() else text


def words_of_trust(memory: Memory, trust: Trust) -> str:
    """Give what of a row's text is of this trust."""
    said = [one.text for one in memory.passages if one.trust == trust]
    return "\n".join(said) or (memory.text if memory.provenance.trusted == trust else "")


def text_with_marks(memory: Memory) -> str:
    """Give a row's text, each of its passages marked by its own trust."""
    if not any(passage.trust == "tool" for passage in memory.passages):
        return marked(memory.text, memory.provenance.trusted)
    row = memory.provenance.trusted
    return "\n".join(marked(passage.text, passage.trust or row) for passage in memory.passages)
