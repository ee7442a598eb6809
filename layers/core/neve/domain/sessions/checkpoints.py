"""The appends of which a session that is behind remembers the time."""

from __future__ import annotations

from datetime import datetime

from neve.domain.records.sessions import SessionHead

CHECKPOINTS = 8
"""The appends that are remembered; of more, the oldest two become one."""


def appended(head: SessionHead, last_seq: int, now: datetime) -> tuple[tuple[int, int], ...]:
    """Give ``SessionHead.behind`` after an append up to ``last_seq``."""
    behind = (*head.behind, (last_seq, int(now.timestamp())))
    if len(behind) > CHECKPOINTS:
        (_, at), (last, _), *others = behind
        behind = ((last, at), *others)
    return behind
