"""Tells whether bytes are a whole image, and its sides, from its head and its tail (docs/rules/sessions.md#images).

Only the container is read: no pixel is decoded, and no walk takes more than ``MOST_PARTS`` steps. What stands behind
the end of a picture is no fault: phones append videos and padding to a JPEG, and every decoder passes over them."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

HEAD_BYTES, TAIL_BYTES = 262_144, 65_536
"""The bytes of a large image that are read first (*chosen*): headers with a preview and a colour profile have room in
the head, and what a phone appends mostly in the tail. An image without sides or an end in them is read whole before it
is refused."""
MAX_SIDE = 8_000
"""Pixels (*limit*: Anthropic)."""
MOST_PARTS = 20_000
"""Chunks or segments of one image (*chosen*): the largest picture in parts of 8 KiB has 480."""

_PNG_HEADER = struct.Struct(">I4sII")
_PNG_END = b"\x00\x00\x00\x00IEND\xaeB`\x82"
_JPEG_MARKER = re.compile(rb"\xff([\xc0-\xcf\xda-\xfe])")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_SCAN, _JPEG_END = 0xDA, b"\xff\xd9"

Sides = tuple[int, int]
"""Width and height in pixels."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """The known bytes of an image: its first and last ones, which may overlap, and its ``size``."""

    head: bytes
    tail: bytes
    size: int

    @classmethod
    def all_of(cls, body: bytes) -> Bytes:
        return cls(body, body, len(body))

    def ends_with(self, end: bytes, *, behind: int) -> bool:
        """Say whether ``end`` stands in the tail, ``behind`` that place of the image or later."""
        return self.tail.find(end, max(0, behind - (self.size - len(self.tail)))) >= 0


def sides_of(media_type: str, given: Bytes) -> Sides | None:
    """Give the sides of a whole image. ``media_type``: as the first bytes tell it. None where the head does not tell
    the sides or the tail does not end the image: of all of its bytes that means that it is no whole picture."""
    sides = _READERS[media_type](given)
    return sides if sides is not None and min(sides) > 0 else None


def _png(given: Bytes) -> Sides | None:
    """Read a PNG: a header with a right checksum, then chunks as far as the head has them, with some pixels and the
    last one."""
    head = given.head
    if len(head) < 33 or zlib.crc32(head[12:29]) != int.from_bytes(head[29:33], "big"):
        return None
    length, kind, width, height = _PNG_HEADER.unpack_from(head, 8)
    if (length, kind) != (13, b"IHDR"):
        return None
    at, has_pixels = 33, False
    for _ in range(MOST_PARTS):
        if at + 8 > len(head):  # most end here, in the pixels
            ends = at < given.size and given.ends_with(_PNG_END, behind=at)
            return (width, height) if ends else None
        length, kind = struct.unpack_from(">I4s", head, at)
        at += length + 12
        if kind == b"IEND":
            return (width, height) if has_pixels and at <= given.size else None
        has_pixels = has_pixels or kind == b"IDAT"
    return None


def _jpeg(given: Bytes) -> Sides | None:
    """Read a JPEG: segments up to the first scan, one of which has the sides. A preview in a header has an end of its
    own, so only one behind the scan's beginning counts."""
    at, sides = 2, None
    for _ in range(MOST_PARTS):
        marker = _JPEG_MARKER.search(given.head, at)
        if marker is None or marker.end() + 7 > len(given.head):
            return None
        at, kind = marker.end(), marker[1][0]
        if kind == _JPEG_SCAN:
            return sides if sides and given.ends_with(_JPEG_END, behind=at) else None
        if kind in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", given.head, at + 3)
            sides = (width, height)
        at += int.from_bytes(given.head[at : at + 2], "big")
    return None


def _gif(given: Bytes) -> Sides | None:
    """Read a GIF: the end of the last block, then the trailer; padding may follow."""
    if len(given.head) < 13 or not given.tail.rstrip(b"\x00\r\n").endswith(b"\x00;"):
        return None
    width, height = struct.unpack_from("<HH", given.head, 6)
    return width, height


def _webp(given: Bytes) -> Sides | None:
    """Read a WebP: the container says how long it is, and its first chunk the sides."""
    if len(given.head) < 25:
        return None
    kind, length = struct.unpack_from("<4sI", given.head, 12)
    container = int.from_bytes(given.head[4:8], "little")
    if container + 8 > given.size or length + 12 > container:
        return None
    data = given.head[20:30].ljust(10, b"\x00")
    if kind == b"VP8X" and length >= 10:
        return int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1
    if kind == b"VP8L" and data[0] == 0x2F:
        bits = int.from_bytes(data[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 " and data[3:6] == b"\x9d\x01\x2a":
        width, height = struct.unpack_from("<HH", data, 6)
        return width & 0x3FFF, height & 0x3FFF
    return None


_READERS: dict[str, Callable[[Bytes], Sides | None]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/webp": _webp,
}
