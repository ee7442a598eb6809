"""What clients show: few images, and what is none."""

from __future__ import annotations

from neve.domain.images.image_types import MAX_IMAGE_BYTES
from neve.usecases.tell.sessions.create_upload import EXPIRES_S
from tests.pictures import TINY_PNG

PNG = "image/png"
START = TINY_PNG
NO_IMAGE = b"GIF89a is of another type than it says"
TOO_LARGE = START + bytes(MAX_IMAGE_BYTES)
RETENTION_S = 1.1 * EXPIRES_S
"""How long an image lies with its client at most before it is sent: some are too late."""
CLIENT_IDS = ("shown-1", "shown-2", "shown-3")
"""Which all clients of a session use, each for messages of its own."""


def picture_of(whose: str, word: str) -> bytes:
    """The same for everybody who says the same."""
    return START + f"{whose} {word}".encode()
