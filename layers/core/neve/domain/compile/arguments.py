"""The arguments of a tool call as a provider takes them (docs/rules/compile.md#history)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 64
"""Levels that a text of JSON may nest, as many as a body (docs/rules/http.md#checks)."""


def arguments(given: Any) -> Mapping[str, Any]:
    """Return an object as it is, or the one whose JSON a text is; anything else as ``{"value": …}``."""
    if isinstance(given, Mapping):
        return given
    if given is None:
        return {}
    read = read_object(given) if isinstance(given, str) else None
    return {"value": given} if read is None else read


def read_object(text: str) -> dict[str, Any] | None:
    """Read a text of JSON as an object. None where it is no object, and for one that no answer could carry: a model may
    write ``NaN``, or half a character, and every prompt of the session would fail."""
    try:
        read = json.loads(text)
        json.dumps(read, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, dict) and _nests_within(read, MAX_DEPTH) else None


def _nests_within(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_nests_within(part, levels - 1) for part in parts)
