"""The paths that a document may have (docs/rules/documents.md#paths)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

MAX_SEGMENTS = 20
MAX_BYTES = 900
"""The bytes of a path in UTF-8. The sort key of a head or of a pin is the path with up to 17 bytes before it, the end
of a list below has eight more than it, and DynamoDB takes 1,024."""
MAX_GIVEN = 2 * MAX_BYTES
"""Characters of a path before it is composed: no letter of two bytes is typed as more than three."""
ARTIFACTS = "/artifacts/"
CONVERSATIONS = "/conversations/"
PROFILE = "/profile/"
PEOPLE = "/profile/people/"
PATH_RULE = (
    f"must be 1 to {MAX_SEGMENTS} segments, each / and characters that are no control, format or line-breaking signs,"
    f" none of them blank, . or .. alone, together at most {MAX_BYTES} bytes in UTF-8"
)

_REFUSED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of signs that have no shape, or break the line that a path stands in."""


def normal_path(text: str) -> str:
    """Give the path in NFC, as it is stored. Raises ValueError with ``PATH_RULE``."""
    path = unicodedata.normalize("NFC", text)
    first, *segments = path.split("/")
    whole = not first and 1 <= len(segments) <= MAX_SEGMENTS and all(map(_is_segment, segments))
    if not whole or len(path.encode(errors="replace")) > MAX_BYTES:
        raise ValueError(PATH_RULE)
    return path


def normal_prefix(text: str) -> str:
    """Give a path, or one with a slash behind it, as the path; ``/`` for all of them. Raises ValueError with
    ``PATH_RULE``."""
    return "/" if text == "/" else normal_path(text.removesuffix("/"))


def folders_of(path: str) -> Iterator[str]:
    """List the folders of a path, where no document may be as long as one is at the path: ``/a/b/c`` -> ``/a``,
    ``/a/b``."""
    segments = path.split("/")
    return ("/".join(segments[:end]) for end in range(2, len(segments)))


def is_below(path: str, folder: str) -> bool:
    """Say whether a path is below another, by whole segments: ``/projects/alpha`` holds ``/projects/alpha/x`` and not
    ``/projects/alpha-old``."""
    return path.startswith(f"{folder.rstrip('/')}/")


def _is_segment(segment: str) -> bool:
    return segment not in (".", "..") and bool(segment.strip()) and all(map(_is_sign, segment))


def _is_sign(sign: str) -> bool:
    """Say whether a path may hold a code point. The last two of a plane and those of U+FDD0 to U+FDEF are no characters
    (Unicode, 23.7); one of them bounds the list of what is below a path."""
    code = ord(sign)
    return unicodedata.category(sign) not in _REFUSED and code & 0xFFFE != 0xFFFE and not 0xFDD0 <= code <= 0xFDEF
