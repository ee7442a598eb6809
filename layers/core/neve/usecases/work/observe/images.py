"""Images of a pass: the stored objects become inline blocks for the one model request that describes them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neve.domain.images.room import Taken, taken_by
from neve.domain.records.sessions import Event
from neve.domain.sessions.transcript import images_of
from neve.ports.objects import ObjectStore
from neve.usecases.core.images.image_objects import read_image
from neve.usecases.work.observe.refusals import IMAGE_LEFT_OUT, without_images

REQUEST_BYTES = 20_000_000
"""The most bytes that the images of one request may have, in base64 (*limit*: Anthropic takes requests of 32 MB, and an
image of 5 MB; the worker holds them three times over in its 512 MB). How many they may be, ``domain/images/room.py``
says."""


@dataclass(frozen=True, slots=True)
class Pictured:
    """The events of a pass with their images. ``events``: as the observer is shown them; ``left_out``: seqs of those of
    which an image has no room, or is not stored any more."""

    events: tuple[Event, ...]
    left_out: tuple[int, ...] = ()


def with_images(objects: ObjectStore, event: Event) -> Event:
    """Return the event with ``data`` (base64) in place of each ``object``. An image whose bytes are gone becomes a line
    of text, so that the pass is not stuck on it."""
    return _Inlining(objects, None).event(event)


def pictures_with_room(objects: ObjectStore, events: Sequence[Event], logged: Sequence[Event]) -> Pictured:
    """Return the first of the events with their images: as many as these have room for, and at least one, which then
    ends them. Images that were refused before are not sent again. ``logged``: as they are in the log; one of them that
    is above the cap by itself has lost images already."""
    had = {event.seq: len(images_of(event)) for event in logged}
    without = [event.seq for event in events if len(images_of(event)) < had[event.seq]]
    shown: list[Event] = []
    taken: Taken | None = Taken()
    for event in events:
        one = _Inlining(objects, taken)
        pictured = one.event(event)
        if one.full:
            return Pictured(tuple(shown), tuple(without)) if shown else Pictured((pictured,), (event.seq,))
        shown.append(pictured)
        taken = one.taken
        if one.gone and event.seq not in without:
            without.append(event.seq)
    return Pictured(tuple(shown), tuple(without))


@dataclass
class _Inlining:
    """``taken``: by the images so far; None where there is room for all. ``full``: an image had no room. ``gone``: the
    bytes of one are not stored any more."""

    objects: ObjectStore
    taken: Taken | None
    full: bool = field(default=False)
    gone: bool = field(default=False)

    def event(self, event: Event) -> Event:
        if event.images_refused and self.taken is not None:
            return without_images([event])[0]
        if isinstance(event.content, str):
            return event
        return replace(event, content=[self._block(block) for block in event.content])

    def _block(self, block: dict[str, Any]) -> dict[str, Any]:
        if block["type"] != "image":  # of an uploaded text the note alone
            return {"type": "text", "text": block["text"]} if "object" in block else block
        if "object" not in block:
            return block if self._takes(taken_by(block)) else {"type": "text", "text": IMAGE_LEFT_OUT}
        body = read_image(self.objects, block["object"])
        if body is None:
            self.gone = True
            return {"type": "text", "text": "[image no longer stored]"}
        data = base64.b64encode(body).decode()
        if not self._takes(replace(taken_by(block), bytes=len(data))):
            return {"type": "text", "text": IMAGE_LEFT_OUT}
        return {"type": "image", "media_type": block["media_type"], "data": data}

    def _takes(self, image: Taken) -> bool:
        if self.taken is None:
            return True
        if not self.taken.has_room_for(image, REQUEST_BYTES):
            self.full = True
            return False
        self.taken += image
        return True
