"""Object keys as file paths, safe on any file system: also where upper and lower case are one, where Unicode is
normalised, and for keys that hold ``..``, ``//`` or a segment longer than a file name may be.

Every segment of a key becomes folders, the last one a file. ``a-z 0-9 - _`` and inner dots stay, an upper-case letter
becomes ``^`` and the lower-case one, every other byte ``%xx``, an empty segment ``%``. A segment that is longer than a
file name may be ends in ``+`` and goes on in the next folder. A file's name starts with ``=``, because the keys ``a``
and ``a/b`` may both exist."""

from __future__ import annotations

import re
from pathlib import PurePath

from neve.adapters.object_rules import check_key

NAME_LENGTH = 200
FILE = "="
CONTINUED = "+"
EMPTY = "%"

_UNSAFE = re.compile(rb"[^a-z0-9_.-]|\A\.|\.\Z")
_ESCAPE = re.compile(rb"\^[a-z]|%[0-9a-f]{2}")


def path_of(key: str) -> PurePath:
    """The file of ``key``, relative to the folder of all objects. Raises ValueError for a key that no store takes:
    empty, longer than 1,024 bytes, or not Unicode."""
    check_key(key)
    *folders, name = key.split("/")
    *continued, last = _names(name)
    return PurePath(*_folders(folders), *continued, FILE + last)


def start_of(prefix: str) -> PurePath:
    """The folder that holds every key with ``prefix``."""
    return PurePath(*_folders(prefix.split("/")[:-1]))


def segment_of(name: str) -> str:
    """A segment of a key from the name of its folder, or of its file without ``FILE``; of one that is continued, all
    parts of it without ``CONTINUED``."""
    return "" if name == EMPTY else _ESCAPE.sub(_unescaped, name.encode()).decode()


def _folders(segments: list[str]) -> list[str]:
    return [name for segment in segments for name in _names(segment)]


def _names(segment: str) -> list[str]:
    safe = _UNSAFE.sub(_escaped, segment.encode()).decode() or EMPTY
    parts = [safe[start : start + NAME_LENGTH] for start in range(0, len(safe), NAME_LENGTH)]
    return [part + CONTINUED for part in parts[:-1]] + parts[-1:]


def _escaped(found: re.Match[bytes]) -> bytes:
    byte = found[0]
    return b"^" + byte.lower() if byte.isupper() else b"%%%02x" % byte[0]


def _unescaped(found: re.Match[bytes]) -> bytes:
    escape = found[0]
    return escape[1:].upper() if escape.startswith(b"^") else bytes([int(escape[1:], 16)])
