"""Choose which images of a log a prompt shows (docs/rules/compile.md#images). Pure: what they take stands in the
log."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from neve.domain.images.image_types import MAX_IMAGE_BYTES
from neve.domain.images.room import Taken, taken_by
from neve.domain.pack.room import MOST_BYTES_A_CHARACTER, answer_bytes
from neve.domain.records.sessions import SILENT, Event, EventType, Span, Spans
from neve.domain.sessions.transcript import images_of

IMAGE_BYTES = MAX_IMAGE_BYTES
"""Bytes of all images of one prompt together: the largest that an append takes can be shown. In base64 it is 5 MiB."""
MAKES_ROOM = 2
"""A history that has to make room keeps one part in so many of the limits (*chosen*): else the next image would change
the beginning of the prompt again."""

Why = Literal["no_room", "unusable", "not_wanted", "not_taken", "unread"]
"""Why an image is a line of text: the limits; it was refused or is gone; the call wants none; the provider takes none
there; it could not be read now."""
LEFT_OUT = "left_out"
"""The key of an image block of a compile that says why it is not shown. No block of the log has it."""


def may_show(event: Event) -> bool:
    """Say whether a prompt may show the event's images: no provider takes one that an assistant is to have said, nor
    Anthropic one of a tool that failed."""
    if event.event_type is EventType.TOOL_RESULT:
        return not event.event_data.get("is_error")
    return event.event_type is EventType.USER_MESSAGE


def choose_images(
    past: Sequence[Event], now: Sequence[Event], *, beside: Taken, room: int, share: int
) -> dict[int, set[int]]:
    """Return the places of the image blocks that are shown, by seq. ``now``: what waits for an answer has room first,
    the newest event before the others, of an event the first images that fit. ``past``: all of it where both have room
    together; else of the newest events as many as stay within one part in ``share`` of the limits. Of an event of the
    past the same images are shown whatever stands beside it. ``beside``: what the message of the call takes. ``room``:
    bytes."""
    shown: dict[int, set[int]] = {}
    taken = beside
    for event in reversed(now):
        shown[event.seq], more = _fitting(event, taken, room)
        taken += more
    whole = {event.seq: _fitting(event, Taken(), IMAGE_BYTES) for event in past}
    if taken.has_room_for(sum((more for _, more in whole.values()), Taken()), room):
        share = 1
    for event in reversed(past):
        places, more = whole[event.seq]
        if taken.has_room_for(more, room, share):
            shown[event.seq] = places
            taken += more
    return shown


def _fitting(event: Event, taken: Taken, room: int) -> tuple[set[int], Taken]:
    places, more = set[int](), Taken()
    for place, block in enumerate(event.content):
        if isinstance(block, dict) and block["type"] == "image" and (taken + more).has_room_for(taken_by(block), room):
            places.add(place)
            more += taken_by(block)
    return places, more


def spans_of(seqs: Iterable[int], before: Spans, shown: Iterable[int]) -> Spans:
    """Return ``before`` and ``seqs`` as spans; what no event of ``shown`` stands between is one span, so that there are
    never many."""
    bounds, spans = sorted(shown), list[Span]()
    for first, last in sorted({*before, *((seq, seq) for seq in seqs)}):
        if spans and bisect_right(bounds, spans[-1][1]) == bisect_right(bounds, first):
            spans[-1] = (spans[-1][0], max(spans[-1][1], last))
        else:
            spans.append((first, last))
    return tuple(spans)


def mark_out(content: str | list[dict[str, Any]], why: Why, shown: Iterable[int] = ()) -> str | list[dict[str, Any]]:
    """Mark each image that is not shown with the reason. ``shown``: places of the image blocks that are shown."""
    if isinstance(content, str):
        return content
    return [
        block | {LEFT_OUT: why} if block["type"] == "image" and place not in shown else block
        for place, block in enumerate(content)
    ]


def all_marked(events: Iterable[Event], why: Why) -> list[Event]:
    return [replace(event, content=mark_out(event.content, why)) if may_show(event) else event for event in events]


# --- what a report says of them ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ImageCount:
    """The images of a prompt, counted for its report. ``events``: seqs of those whose images are shown, ``left_out``:
    of the others, by reason, once for each image; None for the message of the call."""

    shown: int = 0
    events: tuple[int, ...] = ()
    left_out: Mapping[Why, Sequence[int | None]] = field(default_factory=dict)


def count_images(
    events: Iterable[Event], message: Sequence[Mapping[str, Any]], takes: Callable[[Mapping[str, Any], bool], bool]
) -> ImageCount:
    """Count the images that are shown and left out. ``events``: of the prompt, marked. ``message``: image blocks of the
    call that the log has not. ``takes``: says of the form that is made whether it shows an image, in a tool's result or
    not."""
    shown: list[int | None] = []
    left_out: dict[Why, list[int | None]] = {}
    said = [(event, block) for event in events for block in images_of(event)]
    for event, block in [*said, *((None, block) for block in message)]:
        why: Why | None = block.get(LEFT_OUT)
        seq = event.seq if event is not None else None
        in_result = event is not None and event.event_type is EventType.TOOL_RESULT
        if not takes(block, in_result) or (event is not None and not may_show(event)):
            why = "not_taken"
        if why is None:
            shown.append(seq)
        else:
            left_out.setdefault(why, []).append(seq)
    return ImageCount(len(shown), tuple(dict.fromkeys(seq for seq in shown if seq is not None)), left_out)


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
