"""Bound how much of a log one answer has room for (docs/rules/compile.md#answer-size)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from neve.domain.pack.room import MOST_BYTES_A_CHARACTER, answer_bytes
from neve.domain.records.sessions import SILENT, Event

ANSWER_BYTES = 6_291_556
"""Bytes that a function may answer: Lambda's documents say 6 MB, its error messages name this number."""
BESIDE_THE_LOG = 400 * 1024
"""Bytes left for pack, tools, what is retrieved and the report: more than a pack of 100,000 tokens takes in English."""
BESIDE_THE_PACK = 100 * 1024
"""Bytes of these for all but the pack, in a script of three bytes a character."""


def room_for_the_log(beside: int) -> int:
    """Return the bytes that are left of an answer into which the call itself brings ``beside``."""
    return ANSWER_BYTES - BESIDE_THE_LOG - beside


def beyond_its_room(pack: str) -> int:
    """Return the bytes of a pack that ``BESIDE_THE_LOG`` leaves no room for: in a script of three bytes a character it
    takes three times as many. They are to be taken from the log and its images."""
    most = BESIDE_THE_LOG - BESIDE_THE_PACK
    return 0 if MOST_BYTES_A_CHARACTER * len(pack) <= most else max(0, answer_bytes(pack) - most)


def fits(events: Sequence[Event], room: int) -> bool:
    """Say whether ``bytes_of`` is at most ``room``, without rendering texts that are far shorter."""
    if all(isinstance(event.content, str) and not event.event_data for event in events):
        most = sum(MOST_BYTES_A_CHARACTER * len(event.content) + len('["",{}]') for event in events)
        if most <= room:
            return True
    return bytes_of(events) <= room


def bytes_of(events: Iterable[Event]) -> int:
    """Count the bytes of the events as parts of the answer. No prompt shows what is ``SILENT``."""
    shown = (event for event in events if event.event_type not in SILENT)
    return sum(answer_bytes([event.content, event.event_data]) for event in shown)
