"""The names of tools as a provider takes them (docs/rules/compile.md#history)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from neve.domain.compile.conversation import PromptMessage, ToolUse
from neve.domain.compile.prompt import Prompt

NAME_LIMITS: Mapping[str, int] = {
    "anthropic": 128,
    "openai": 64,
    "openai_responses": 64,
    "ai_sdk": 64,
    "gemini": 64,
}
"""Characters of a name, as the providers document them; of the AI SDK, which speaks to any of them, the fewest."""
_HASH = 8
"""Hex digits that tell names apart which are the same as far as they are sent (*chosen*)."""
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")
_LETTER_FIRST = frozenset({"gemini"})


def sent_name(name: str, provider: str) -> str:
    """Return the name itself where the provider takes it; else as much of it as it takes, with a hash of the whole."""
    fit = _REFUSED.sub("_", name)
    if provider in _LETTER_FIRST and not re.match("[A-Za-z_]", fit):
        fit = f"_{fit}"
    if fit == name and 0 < len(name) <= NAME_LIMITS[provider]:
        return name
    mark = f"_{hashlib.sha256(name.encode()).hexdigest()[:_HASH]}"
    return fit[: NAME_LIMITS[provider] - len(mark)] + mark


def changed_names(prompt: Prompt, provider: str) -> dict[str, str]:
    """Return the names that were changed for the provider: by the name that is sent, the one that the log or the caller
    has."""
    names = {*called_tools(prompt.history), *(name for tool in prompt.tools for name in tool.names)}
    sent = {sent_name(name, provider): name for name in sorted(names)}
    return {short: name for short, name in sent.items() if short != name}


def called_tools(history: Sequence[PromptMessage]) -> set[str]:
    """Return the names of the tools that the history has calls of, as the log has them."""
    return {block.name for message in history for block in message.blocks if isinstance(block, ToolUse)}
