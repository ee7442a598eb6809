"""The names of tools as a provider takes them (docs/rules/compile.md#history)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from neve.domain.compile.conversation import ToolUse
from neve.domain.compile.prompt import Prompt

NAME_LIMITS: Mapping[str, int] = {"anthropic": 128, "openai": 64}
"""Characters of a name, as the providers document them."""
_HASH = 8
"""Hex digits that tell names apart which are the same as far as they are sent (*chosen*)."""
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")


def sent_name(name: str, provider: str) -> str:
    """The name itself where the provider takes it; else as much of it as it takes, with a hash of the whole."""
    fit = _REFUSED.sub("_", name)
    if fit == name and 0 < len(name) <= NAME_LIMITS[provider]:
        return name
    mark = f"_{hashlib.sha256(name.encode()).hexdigest()[:_HASH]}"
    return fit[: NAME_LIMITS[provider] - len(mark)] + mark


def changed_names(prompt: Prompt, provider: str) -> dict[str, str]:
    """By the name that is sent, the one that the log has: of the calls whose names are not the same."""
    names = {block.name for message in prompt.history for block in message.blocks if isinstance(block, ToolUse)}
    sent = {sent_name(name, provider): name for name in sorted(names)}
    return {short: name for short, name in sent.items() if short != name}
