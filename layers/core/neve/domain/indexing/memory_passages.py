"""A memory as the passages that the search index holds."""

from __future__ import annotations

from neve.domain.indexing.passage import Passage, Source
from neve.domain.memories.passages import passages_of
from neve.domain.metadata import as_entries
from neve.domain.records.memories import Memory, Status
from neve.domain.times import MONTHS, parse


def memory_passages(memory: Memory, status: Status | None = None) -> list[Passage]:
    """Make a memory's passages, without vectors, in the order of the text. Each stands by itself: it has no neighbours.
    None of one that is never recalled. ``status``: what the index says of the row, where that is not its own (a
    replaced row)."""
    parts = [] if memory.never_recall else passages_of(memory)
    shown_date = date_text(memory.observed_at)
    return [
        Passage(
            item_id=memory.id,
            n=n,
            version=memory.rev,
            source=Source.MEMORY,
            text=part.text,
            fingerprint=memory.fingerprint,
            kind=memory.kind.value,
            status=(status or memory.status).value,
            scope=memory.scope.value,
            tier=memory.tier.value,
            observed_at=memory.observed_at,
            date_text=shown_date,
            session_id=memory.session_id,
            category=memory.category,
            group=memory.group,
            tags=memory.tags,
            metadata=as_entries(memory.metadata),
            seq_from=part.seq_from,
            seq_to=part.seq_to,
            valid_from=memory.valid_from,
            valid_until=memory.valid_until,
            created_at=memory.created_at,
            superseded_at=memory.superseded_at,
            about=memory.about,
            only_in=memory.session_id if memory.audience else None,
        )
        for n, part in enumerate(parts)
    ]


def date_text(at: str) -> str:
    """Write the day as people do, in UTC: ``8 May, 2023``. A question about May then finds what was said in May."""
    day = parse(at)
    return f"{day.day} {MONTHS[day.month - 1]}, {day.year}"
