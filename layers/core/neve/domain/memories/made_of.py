"""Which part of a log something was made from."""

from __future__ import annotations

from neve.domain.records.memories import Memory, Provenance
from neve.domain.records.sessions import Spans
from neve.domain.sessions.spans import without


def ranges_of(memory: Memory, session: str) -> Spans:
    """What of a session's log a memory was made from. What came with an import speaks of another log."""
    return made_of(memory.provenance, session)


def made_of(origin: Provenance, session: str) -> Spans:
    if origin.by == "import" or origin.session_id != session or origin.seq_from is None or origin.seq_to is None:
        return ()
    return tuple(without((origin.seq_from, origin.seq_to), origin.left_out))
