"""What the memories behind a frozen pack state (docs/rules/compile.md#updates): notes, manual rows and facts as they
are, and the 🔴 lines of what was observed in other conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.domain.compile.updates import Update
from neve.domain.memories.text import HIGHEST
from neve.domain.pack.dated import with_its_day
from neve.domain.pack.repeated_statements import already_stated
from neve.domain.records.memories import Kind, Memory
from neve.usecases.pack.served_pack import Uttered


def new_statements(memories: Sequence[Memory], shown: Uttered) -> list[Update]:
    """In their order. ``shown``: utterances of the pack, which say what was made of them. A fact that a line says is
    told once."""
    told = [one for memory in memories if (one := _news(memory, shown))]
    again = already_stated(told, [])
    return [Update(one.id, with_its_day(one)) for one in told if one.id not in again]


def _news(memory: Memory, shown: Uttered) -> Memory | None:
    origin = memory.provenance
    if memory.kind is Kind.OBSERVATION:
        return _high_lines(memory, shown)
    said = memory.kind is Kind.FACT and shown.shows(origin.session_id, origin.seq_from, origin.seq_to)
    return None if said else memory


def _high_lines(memory: Memory, shown: Uttered) -> Memory | None:
    session = memory.provenance.session_id
    high = tuple(
        one for one in memory.passages if HIGHEST in one.text and not shown.shows(session, one.seq_from, one.seq_to)
    )
    text = "\n".join(one.text for one in high)
    return replace(memory, text=text, passages=high) if high else None
