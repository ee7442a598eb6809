"""The stored images of a prompt, for a provider that cannot read Neve's object store
(docs/rules/compile.md#images)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from neve.domain.compile.answer_size import bytes_of, room_for_the_log
from neve.domain.compile.history import answered_to
from neve.domain.images.image_types import MAX_IMAGE_BYTES
from neve.domain.records.epochs import HistoryCut
from neve.domain.records.sessions import Event
from neve.domain.sessions.transcript import images_of
from neve.ports.errors import StoreUnavailable
from neve.scope import SessionScope
from neve.usecases.images.image_objects import read_image

IMAGE_BYTES = MAX_IMAGE_BYTES
"""Of all images of one prompt together: the largest that an append takes can be shown. In base64 it is 5 MiB."""
MISFITS = 4
"""After so many images of the history in a row that have no room, the rest is not read (*chosen*): each is an object of
its own, one read after the other, and a conversation about photos has dozens of them."""


@dataclass(frozen=True, slots=True)
class Images:
    """``history`` and ``last``: what is shown of the history, and of what waits for an answer: base64 by object key.
    ``…_shown``, ``…_left_out``: how many images of each are, and are not. ``dropped_to``: the history made room, and
    shows none up to this seq from now on. ``missing``: some could not be read."""

    history: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, str] = field(default_factory=dict)
    history_shown: int = 0
    history_left_out: int = 0
    last_shown: int = 0
    last_left_out: int = 0
    dropped_to: int | None = None
    missing: bool = False


def load_images(
    scope: SessionScope, events: Sequence[Event], cut: HistoryCut | None, after: int = 0, beside: int = 0
) -> Images:
    """What waits for an answer comes first, then the history: those that fit together, in the order of the log, so that
    a later turn never changes what was shown of an earlier one. Where both together have no room, the history's go,
    all of them. One whose bytes are gone is left out.

    ``events``: in the order of their seqs. ``cut``: what of the log is hidden. ``after``: of the history up to this seq
    none is shown. ``beside``: bytes that the call brings into the answer."""
    at = answered_to(events, cut)
    past, now = events[:at], events[at:]
    in_past, in_now = list(_objects(past, after)), list(_objects(now))
    if not in_past and not in_now:
        return Images(history_left_out=_stored(past))
    room = _room(events, beside)
    try:
        last = _fitting(scope, in_now, room)
        # which ones hangs on the log alone
        history = _fitting(scope, list(dict.fromkeys(in_past)), IMAGE_BYTES, misfits=MISFITS)
    except StoreUnavailable:
        return Images(history_left_out=_stored(past), last_left_out=_stored(now), missing=True)
    dropped_to = None
    if _shown_bytes(in_past, history) + _shown_bytes(in_now, last) > room:
        history, dropped_to = {}, past[-1].seq
    in_history, in_last = sum(name in history for name in in_past), sum(name in last for name in in_now)
    return Images(
        history=_encoded(history),
        last=_encoded(last),
        history_shown=in_history,
        history_left_out=_stored(past) - in_history,
        last_shown=in_last,
        last_left_out=len(in_now) - in_last,
        dropped_to=dropped_to,
    )


def _shown_bytes(names: Sequence[str], bodies: Mapping[str, bytes]) -> int:
    return sum(len(bodies.get(name, b"")) for name in names)


def _objects(events: Sequence[Event], after: int = 0) -> Iterator[str]:
    blocks = (block for event in events if event.seq > after for block in images_of(event))
    return (block["object"] for block in blocks if "object" in block)


def _stored(events: Sequence[Event]) -> int:
    return sum(1 for _ in _objects(events))


def _room(events: Sequence[Event], beside: int) -> int:
    """Bytes of images that the answer has room for: it holds them in base64, and what is said as JSON in a string."""
    return max(0, min(IMAGE_BYTES, (room_for_the_log(beside) - bytes_of(events)) // 4 * 3))


def _fitting(scope: SessionScope, names: Sequence[str], room: int, *, misfits: int | None = None) -> dict[str, bytes]:
    """``names``: one for each time that it is shown. ``misfits``: after how many in a row nobody looks further. Raises
    StoreUnavailable."""
    fitting: dict[str, bytes] = {}
    in_a_row = 0
    for name in dict.fromkeys(names):
        if in_a_row == misfits:
            break
        body = read_image(scope.ports.objects, name)
        if body is None:
            continue
        if len(body) * names.count(name) > room:
            in_a_row += 1
            continue
        in_a_row = 0
        room -= len(body) * names.count(name)
        fitting[name] = body
    return fitting


def _encoded(bodies: Mapping[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(body).decode() for name, body in bodies.items()}
