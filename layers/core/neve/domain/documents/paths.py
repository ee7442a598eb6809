"""Which paths a document may have (docs/rules/documents.md#paths)."""

from __future__ import annotations

import unicodedata

MAX_SEGMENTS, MAX_SEGMENT = 8, 64
MAX_PATH = MAX_SEGMENTS * (MAX_SEGMENT + 1)
MAX_BYTES = 1_000
"""In UTF-8. The sort key of a head or of a pin is the path with up to 17 bytes before it, the end of a list below has
eight more than it, and DynamoDB takes 1,024."""
ARTIFACTS = "/artifacts/"
PROFILE = "/profile/"
PEOPLE = "/profile/people/"
PATH_RULE = (
    "must be 1 to 8 segments, each / and 1 to 64 letters, digits, spaces or . _ ' - that are not . or .. alone and"
    f" neither begin nor end with a space, together at most {MAX_BYTES} bytes in UTF-8"
)

_MARKS = " ._'-"


def normal_path(text: str) -> str:
    """In NFC, as it is stored. Raises ValueError with ``PATH_RULE``."""
    path = unicodedata.normalize("NFC", text)
    first, *segments = path.split("/")
    whole = not first and 1 <= len(segments) <= MAX_SEGMENTS and all(map(_is_segment, segments))
    if not whole or len(path.encode()) > MAX_BYTES:
        raise ValueError(PATH_RULE)
    return path


def normal_prefix(text: str) -> str:
    """A path, or one with a slash behind it, as the path; ``/`` for all of them. Raises ValueError with
    ``PATH_RULE``."""
    return "/" if text == "/" else normal_path(text.removesuffix("/"))


def _is_segment(segment: str) -> bool:
    """Signs that only stand on a letter (vowels of Hindi, accents without a form of their own) count as letters. With a
    space at an end it would be another one that looks the same."""
    if not 1 <= len(segment) <= MAX_SEGMENT or segment in (".", "..") or segment != segment.strip(" "):
        return False
    return all(c in _MARKS or unicodedata.category(c)[0] in "LM" or c.isdecimal() for c in segment)
