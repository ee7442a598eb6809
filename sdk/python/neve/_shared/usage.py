"""Tokens of an answer, read from whichever provider's object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .messages import json_of


def usage_of(response: Any) -> tuple[dict[str, Any], str | None]:
    """The usage object of an answer as the provider sent it, and the model's name. ``response``: the answer, or its
    usage."""
    found = json_of(response)
    if not isinstance(found, Mapping):
        return {}, None
    usage = found.get("usage") if "usage" in found else found
    model = found.get("model")
    return dict(usage) if isinstance(usage, Mapping) else {}, model if isinstance(model, str) else None


def tokens_of(usage: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Of the prompt neither read from the cache nor written to it, read, written, and of the answer."""
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    read = _first(usage.get("cache_read_input_tokens"), details.get("cached_tokens"), usage.get("cache_read"))
    written = _first(
        usage.get("cache_creation_input_tokens"), details.get("cache_write_tokens"), usage.get("cache_write")
    )
    asked = _first(usage.get("prompt_tokens"), usage.get("input_tokens"), usage.get("input"))
    anthropic = "cache_read_input_tokens" in usage or "cache_creation_input_tokens" in usage or "input" in usage
    fresh = asked if anthropic else max(0, asked - read - written)
    answered = _first(usage.get("completion_tokens"), usage.get("output_tokens"), usage.get("output"))
    return fresh, read, written, answered


def _first(*values: Any) -> int:
    return next((value for value in values if isinstance(value, int) and not isinstance(value, bool)), 0)
