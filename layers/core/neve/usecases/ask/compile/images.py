"""Read the images of a prompt, for a provider that cannot read Neve's object store (docs/rules/compile.md#images)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from neve.domain.compile.history import answered_to
from neve.domain.compile.shown_images import (
    IMAGE_BYTES,
    MAKES_ROOM,
    Why,
    bytes_of,
    choose_images,
    mark_out,
    may_show,
    room_for_the_log,
    spans_of,
)
from neve.domain.images.room import Taken
from neve.domain.records.epochs import HistoryCut, SessionEpoch
from neve.domain.records.sessions import Event, Spans
from neve.domain.sessions.spans import holds, joined
from neve.domain.sessions.transcript import images_of
from neve.ports.errors import StoreUnavailable
from neve.scope import SessionScope
from neve.usecases.ask.compile.command import ImagesShown
from neve.usecases.core.images.image_objects import read_image


@dataclass(frozen=True, slots=True)
class Wanted:
    """The caller's wishes about images. ``refused``: seqs of events whose images a provider refused. ``beside``: counts
    what the images of the message take, where the log has not got it."""

    shown: ImagesShown = "all"
    refused: Set[int] = frozenset()
    beside: Callable[[Sequence[Event]], Taken] = lambda _: Taken()


@dataclass(frozen=True, slots=True)
class Images:
    """The images of a prompt. ``events``: those of the log, each image that is not shown with the reason. ``bodies``:
    base64 of the others, by object key. ``left_out``, ``unusable``: as the epoch keeps them from now on;
    ``changes_history``: some of them may have been in a history before. ``last_left_out``: something that waits for an
    answer is not shown, which the call did not ask for. ``missing``: some could not be read."""

    events: Sequence[Event] = ()
    bodies: Mapping[str, str] = field(default_factory=dict)
    left_out: Spans = ()
    unusable: Spans = ()
    changes_history: bool = False
    last_left_out: bool = False
    missing: bool = False


def load_images(
    scope: SessionScope,
    events: Sequence[Event],
    cut: HistoryCut | None,
    epoch: SessionEpoch,
    wanted: Wanted | None = None,
    beside: int = 0,
) -> Images:
    """Choose and read the images of a prompt. Within an epoch the history keeps what it shows. An event whose images
    have to make room, are refused or are gone is noted, and shows none from then on; where it was in the history, that
    begins a new epoch.

    ``events``: in the order of their seqs. ``cut``: what of the log is hidden. ``beside``: bytes that the call brings
    into the answer."""
    pictured = [event for event in events if may_show(event) and images_of(event)]
    if not pictured:
        return Images(events, {}, epoch.images_left_out, epoch.images_unusable)
    wanted = wanted or Wanted()
    past = {event.seq for event in events[: answered_to(events, cut)]}
    asked_for = [
        event for event in pictured if wanted.shown == "all" or (wanted.shown, event.seq in past) == ("recent", False)
    ]
    before = _held(pictured, epoch.images_unusable)
    refused = {event.seq for event in pictured if event.images_refused or event.seq in wanted.refused} - before
    made_room = _held(pictured, epoch.images_left_out)
    free = [event for event in asked_for if event.seq not in before | refused | made_room]
    places = choose_images(
        [event for event in free if event.seq in past],
        [event for event in free if event.seq not in past],
        beside=wanted.beside(events),
        room=max(0, min(IMAGE_BYTES, (room_for_the_log(beside) - bytes_of(events)) // 4 * 3)),
        share=1 if epoch.prefix is None else MAKES_ROOM,  # before the first prompt there is no history to keep
    )
    no_room = {event.seq for event in free if not places.get(event.seq)}
    names = {event.seq: _names(event, places[event.seq]) for event in free if event.seq not in no_room}
    bodies = _read(scope, {name for of in names.values() for name in of})
    unread = {seq for seq, of in names.items() if not of <= (bodies or {}).keys()}
    gone = unread if bodies is not None else set[int]()
    why: dict[int, Why] = {event.seq: "not_wanted" for event in pictured}
    why |= {event.seq: "no_room" for event in asked_for}
    why |= dict.fromkeys(unread, "unread")
    why |= dict.fromkeys(before | refused | gone, "unusable")
    shown = {event.seq: places.get(event.seq, set()) if event.seq not in unread else set() for event in pictured}
    left_over = {event.seq for event in asked_for if len(shown[event.seq]) < len(images_of(event))}
    stand = {event.seq for event in pictured} - no_room - made_room
    new = no_room | gone | (refused - made_room)
    return Images(
        [_marked(event, why[event.seq], shown[event.seq]) if event.seq in why else event for event in events],
        bodies or {},
        spans_of(no_room, epoch.images_left_out, stand) if no_room else epoch.images_left_out,
        joined([*epoch.images_unusable, *((seq, seq) for seq in refused | gone)]),
        changes_history=epoch.prefix is not None and not new.isdisjoint(past),
        last_left_out=not left_over <= past | wanted.refused,
        missing=bodies is None,
    )


def _held(events: Iterable[Event], spans: Spans) -> set[int]:
    return {event.seq for event in events if holds(spans, event.seq)}


def _marked(event: Event, why: Why, shown: Collection[int]) -> Event:
    return replace(event, content=mark_out(event.content, why, shown))


def _names(event: Event, places: Collection[int]) -> set[str]:
    blocks: list[Any] = [block for place, block in enumerate(event.content) if place in places]
    return {block["object"] for block in blocks if "object" in block}


def _read(scope: SessionScope, names: Set[str]) -> dict[str, str] | None:
    """Return the base64 of the images that are there; None where the object store does not answer."""
    start, objects = scope.ports.tasks.start, scope.ports.objects
    reading = {name: start(partial(read_image, objects, name)) for name in sorted(names)}
    try:
        found = {name: read.result() for name, read in reading.items()}
    except StoreUnavailable:
        return None
    return {name: base64.b64encode(body).decode() for name, body in found.items() if body is not None}
