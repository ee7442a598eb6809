"""The images that one request to a model has room for (docs/rules/compile.md#images)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from neve.domain.images.image_types import MAX_IMAGE_BYTES

MOST_IMAGES = 100
"""The images of one request (*limit*: Anthropic, whose models of the smaller window take no more)."""
MOST_BESIDE_LARGE, LARGE_SIDE = 20, 2_000
"""Above 20 images no side may have more pixels (*limit*: Anthropic refuses the whole request)."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The room that images take of a request: how many they are, ``bytes`` of those that are sent along, and whether
    one has a ``large`` side, which is not known of one by its address."""

    count: int = 0
    bytes: int = 0
    large: bool = False

    def __add__(self, other: Taken) -> Taken:
        return Taken(self.count + other.count, self.bytes + other.bytes, self.large or other.large)

    def has_room_for(self, other: Taken, most_bytes: int, share: int = 1) -> bool:
        """Say whether both stay within one part in ``share`` of the limits. What has no bytes needs no room for
        them."""
        both = self + other
        most = MOST_BESIDE_LARGE if both.large else MOST_IMAGES
        return both.count <= most // share and (not other.bytes or both.bytes <= most_bytes // share)


def taken_by(block: Mapping[str, Any]) -> Taken:
    """Give the room that an image block of the log takes. One that was stored before sizes were is as heavy as an image
    may be."""
    stored = block.get("bytes", MAX_IMAGE_BYTES) if "object" in block else 0
    return Taken(1, stored, max(block.get("width", 0), block.get("height", 0)) > LARGE_SIDE)
