"""Tells the type of an image by its first bytes (docs/rules/sessions.md#images)."""

from __future__ import annotations

MAX_IMAGE_BYTES = 3_932_160
"""3.75 MiB: what is 5 MiB in base64, the most that a model's API takes for one image."""
START_BYTES = 12
"""The number of first bytes that tell an image's type."""


def image_type(start: bytes) -> str | None:
    """Tell the media type of an image by its first bytes; None for no image that a model reads."""
    if start.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if start.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if start.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if start.startswith(b"RIFF") and start[8:START_BYTES] == b"WEBP":
        return "image/webp"
    return None
