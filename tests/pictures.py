"""Images for tests, as encoders write them."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Final


def png(width: int = 1, height: int = 1, *, noise: bytes = b"") -> bytes:
    """A whole PNG of one colour. ``noise``: further bytes, in a chunk of their own."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\x00" + b"\xc0\x30\x30" * width) * height, 9)
    parts = [
        (b"IHDR", header),
        *([(b"tEXt", b"Comment\x00" + noise)] if noise else []),
        (b"IDAT", pixels),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


TINY_PNG: Final = png()
"""What stands behind it is passed over by every reader: bytes that are added make another image of it."""

_WRITTEN = {
    "image/png": base64.b64encode(png(3, 2)).decode(),
    "image/jpeg": "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP////////////////////////////////////////////////////////"
    "//////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z",
    "image/gif": "R0lGODdhAwACAIEAAChayAAAAAAAAAAAACwAAAAAAwACAAAIBgABCBwYEAA7",
    "image/webp": "UklGRjAAAABXRUJQVlA4ICQAAABwAQCdASoDAAIADMDOJaACdAFAAAD+1JlVm7Ws4Dm8HEYAAAA=",
}
PICTURES: Final = {media_type: base64.b64decode(data) for media_type, data in _WRITTEN.items()}
"""Of each type a whole one, 3 x 2 pixels, as Pillow writes it."""
OTHER_FORMS: Final = [
    ("image/jpeg", base64.b64decode(data))
    for data in (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP///////////////////////////////////////////////////////////////////////////"
        "///////////wgALCAACAAMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAf/aAAgBAQAAAAE//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAB"
        "BQJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oACAEBAAAAEP8A/8QA"
        "FBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxB//9k=",
    )
] + [
    ("image/webp", base64.b64decode(data))
    for data in (
        "UklGRh4AAABXRUJQVlA4TBEAAAAvAkAAAAdQraIUuf+BiOh/AAA=",
        "UklGRkYAAABXRUJQVlA4WAoAAAAQAAAAAgAAAQAAQUxQSAcAAAAABAQEBAQEAFZQOCAYAAAAMAEAnQEqAwACAAzAziWkAANwAP7sHYAA",
    )
]
"""Of the same size: a progressive JPEG, a lossless WebP, and one with transparency."""
