"""Token counting and cutting text to a budget (docs/rules/tokens.md).

``estimate`` is the default counter: linear, no data file, close to current Claude tokenizers. Cutting always measures
its own result, marker included, so that nothing it returns counts above its budget."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from neve.domain.sessions.rendered_blocks import strip_rendered

Counter = Callable[[str], int]
CounterName = Literal["estimate", "o200k_base"]

IMAGE_TOKENS = 1600
"""Flat cost of one image, whatever its size (docs/rules/tokens.md#estimate)."""

_JOINER = "\u200d"
_MAX_CLUSTER = 32
"""Code points that a cut steps over to keep a grapheme whole; a longer cluster is not something a person reads."""


def estimate(text: str) -> int:
    """Estimate the tokens of a text as ``ceil(u / 3.2)``, u = UTF-16 code units."""
    units = len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
    return (units * 5 + 15) // 16


def compact_json(value: object) -> str:
    """Write a tool's arguments as the transcript shows and the counter counts them; an ellipsis when they nest too
    deep."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "…"


def event_tokens(
    content: str | Sequence[Mapping[str, Any]], event_data: Mapping[str, Any], *, count: Counter = estimate
) -> int:
    """Count an event's ``original_tokens``: its text without what Neve rendered, its tool arguments as compact JSON,
    and ``IMAGE_TOKENS`` an image. ``thinking`` blocks cost nothing: providers drop them from history."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
    images = sum(1 for block in blocks if block.get("type") == "image")
    arguments = compact_json(event_data["args"]) if event_data.get("args") else ""
    return sum(count(strip_rendered(text)) for text in [*texts, arguments] if text) + IMAGE_TOKENS * images


def trim_to(text: str, budget: int, *, marker: str = "…", count: Counter = estimate) -> str:
    """Give ``text`` if it counts at most ``budget`` tokens, else its longest beginning that does so with the marker
    behind it. The marker is left out where it alone exceeds the budget; a budget below 1 gives an empty text."""
    return _shorten(text, budget, marker, count, share=1.0)


def keep_ends(text: str, budget: int, *, marker: str, count: Counter = estimate) -> str:
    """Give ``text`` if it counts at most ``budget`` tokens, else its first and last part, about equally long, around
    the marker. The marker is left out where it alone exceeds the budget; a budget below 1 gives an empty text."""
    return _shorten(text, budget, marker, count, share=0.5)


def _shorten(text: str, budget: int, marker: str, count: Counter, *, share: float) -> str:
    """Keep as many code points as fit, ``share`` of them at the front, the rest at the end."""
    if count(text) <= budget:
        return text
    if count(marker) > budget:
        marker = ""

    def shortened(length: int) -> str:
        front = round(length * share)
        front_end = cut_before(text, front)
        back_start = cut_after(text, len(text) - (length - front))
        return text[:front_end] + marker + text[back_start:]

    low, high = 0, len(text) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if count(shortened(middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    return shortened(low)


def _splits_grapheme(text: str, at: int) -> bool:
    """Say whether a cut between ``text[at - 1]`` and ``text[at]`` would part a base from its marks, a joined emoji, a
    flag or a line end. Surrogate pairs cannot be parted: Python text is code points."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if before == "\r" and after == "\n":
        return True
    if _JOINER in (before, after):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    return _is_regional(after) and _regional_run(text, at) % 2 == 1


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _regional_run(text: str, at: int) -> int:
    """Count the flag letters that stand in a row before ``at``."""
    start = at
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return at - start


def cut_before(text: str, at: int) -> int:
    """Find the nearest position at or before ``at`` that splits no grapheme."""
    for position in range(at, max(at - _MAX_CLUSTER, 0), -1):
        if not _splits_grapheme(text, position):
            return position
    return max(at - _MAX_CLUSTER, 0)


def cut_after(text: str, at: int) -> int:
    """Find the nearest position at or after ``at`` that splits no grapheme."""
    for position in range(at, min(at + _MAX_CLUSTER, len(text))):
        if not _splits_grapheme(text, position):
            return position
    return min(at + _MAX_CLUSTER, len(text))
