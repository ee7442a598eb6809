"""Short labels of the caller's own on a session, an event or a memory, which lists and recall can ask for
(docs/rules/sessions.md#metadata)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

Metadata = dict[str, str]
MAX_KEYS = 16
MAX_VALUE = 256
"""Characters (*given*, both)."""
KEY = r"[A-Za-z0-9_.\-]{1,64}"

_KEY = re.compile(KEY)


def is_key(name: str) -> bool:
    return _KEY.fullmatch(name) is not None


def as_entries(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Give each entry as one text, in the order of the keys. No key holds the sign between them, so that no two are
    alike."""
    return tuple(f"{key}={value}" for key, value in sorted(metadata.items()))


def of_entries(given: Iterable[str]) -> Metadata:
    """Give the metadata that ``as_entries`` were made of."""
    return dict(entry.split("=", 1) for entry in given)


def has_all(metadata: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return wanted.items() <= metadata.items()
