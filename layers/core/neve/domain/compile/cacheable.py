"""Know from how many tokens on a provider caches a prefix: a shorter one is not cached, and no error says so."""

from __future__ import annotations

from collections.abc import Mapping

from neve.domain.tenants.prices import family

CACHEABLE_TOKENS: Mapping[str, int] = {
    "claude-opus-5": 512,
    "claude-fable-5": 512,
    "claude-mythos-5": 512,
    "claude-opus-4-8": 1_024,
    "claude-opus-4-7": 2_048,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-opus-4-1": 1_024,
    "claude-opus-4": 1_024,
    "claude-sonnet-5": 1_024,
    "claude-sonnet-4-6": 1_024,
    "claude-sonnet-4-5": 1_024,
    "claude-sonnet-4": 1_024,
    "claude-haiku-4-5": 4_096,
    "claude-3-7-sonnet": 1_024,
    "claude-3-5-haiku": 2_048,
    "claude-3-haiku": 2_048,
    "gpt": 1_024,
}
"""By model family, as the providers published them in 2026. A tenant's policy may say otherwise."""
UNKNOWN = 4_096
"""The minimum of a Claude model that is not in the table: the most that any asks for."""
DEFAULT_FAMILY = {
    "anthropic": "claude",
    "openai": "gpt",
    "openai_responses": "gpt",
    "ai_sdk": "claude",
    "gemini": "gemini",
}
"""The family of models where the policy names no model, by the format that was asked for."""


def cacheable_from(model: str, own: Mapping[str, int]) -> int:
    """Return the fewest tokens of a prefix that the model's provider caches. ``own``: the policy's numbers for this
    very name, or for the model's family, in capitals or not. OpenAI's models have one number."""
    table = {**CACHEABLE_TOKENS, **{name.strip().lower(): tokens for name, tokens in own.items()}}
    for name in (model.strip().lower(), family(model)):
        if name in table:
            return table[name]
    return table["gpt"] if family(model).startswith(("gpt", "o1", "o3", "o4", "chatgpt")) else UNKNOWN
