"""The prices of a language model's tokens: list prices by model family, each with the day it was read. A tenant's
policy may correct them and add to them (docs/rules/usage.md#prices)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import ConfigDict, Field

from neve.domain.given import Given

Usd = float
PICO_IN_MICRO = 1_000_000
"""1 USD a million tokens is 1 micro-USD a token. Money is counted in whole pico-USD, so that sums are exact."""
DEFAULT_TTL_S = 300
MAX_TTL_S = 86_400
MAX_USD = 100_000.0
MAX_PROMPT_TOKENS = 10_000_000

CLAUDE_PAGE = "https://platform.claude.com/docs/en/about-claude/pricing"
OPENAI_PAGE = "https://developers.openai.com/api/docs/pricing"


class ModelPrice(Given):
    """USD for a million tokens. ``input``: neither read from the cache nor written to it. ``cache_ttl_s``: how long the
    cache keeps a prompt that no call reads. The tokens of a prompt that has more than ``long_from`` cost ``long_input``
    times as much, and those of its answer ``long_output`` times as much. ``as_of``: when it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Usd = Field(ge=0, le=MAX_USD)
    cache_read: Usd = Field(ge=0, le=MAX_USD)
    cache_write: Usd = Field(ge=0, le=MAX_USD)
    output: Usd = Field(ge=0, le=MAX_USD)
    cache_ttl_s: int = Field(default=DEFAULT_TTL_S, ge=1, le=MAX_TTL_S)
    long_from: int | None = Field(default=None, ge=1, le=MAX_PROMPT_TOKENS)
    long_input: float = Field(default=1.0, ge=0, le=100)
    long_output: float = Field(default=1.0, ge=0, le=100)
    as_of: str | None = Field(default=None, max_length=40)

    def pico(self, kind: str, prompt_tokens: int) -> int:
        """Give the pico-USD of one token of a kind: ``input``, ``cache_read``, ``cache_write`` or ``output``."""
        usd: Usd = getattr(self, kind)
        if self.long_from is not None and prompt_tokens > self.long_from:
            usd *= self.long_output if kind == "output" else self.long_input
        return round(usd * PICO_IN_MICRO)


def _claude(usd: Usd, read: Usd, output: Usd, *, long_from: int | None = None, long: float = 1.0) -> ModelPrice:
    """Price a Claude model with the cache's 5 minutes: writing costs 1.25 times the input."""
    return ModelPrice(
        input=usd,
        cache_read=read,
        cache_write=usd * 1.25,
        output=output,
        **({} if long_from is None else {"long_from": long_from}),
        long_input=long,
        long_output=long,
        as_of="2026-10-24",
    )


def _openai(usd: Usd, read: Usd, output: Usd, *, write: Usd | None = None, is_long: bool = False) -> ModelPrice:
    """Price a model of OpenAI's: writing costs as much as reading without a cache up to GPT-5.5 (``write`` None), and
    1.25 times that behind it, where an entry lives for 30 minutes instead of the 5 to 10."""
    return ModelPrice(
        input=usd,
        cache_read=read,
        cache_write=usd if write is None else write,
        output=output,
        cache_ttl_s=DEFAULT_TTL_S if write is None else 1_800,
        **({"long_from": 272_000} if is_long else {}),
        long_input=2.0 if is_long else 1.0,
        long_output=1.5 if is_long else 1.0,
        as_of="2026-09-18",
    )


LIST_PRICES: Mapping[str, ModelPrice] = {
    "claude-fable-5-1": _claude(10, 0.25, 50),
    "claude-fable-5": _claude(10, 1, 50),
    "claude-opus-5-5": _claude(4, 0.2, 20),
    "claude-opus-5": _claude(5, 0.5, 25),
    "claude-opus-4-8": _claude(5, 0.5, 25),
    "claude-opus-4-7": _claude(5, 0.5, 25),
    "claude-opus-4-6": _claude(5, 0.5, 25),
    "claude-opus-4-5": _claude(5, 0.5, 25),
    "claude-sonnet-5-5": _claude(2, 0.1, 10),
    "claude-sonnet-5": _claude(2, 0.2, 10),
    "claude-sonnet-4-6": _claude(3, 0.3, 15),
    "claude-sonnet-4-5": _claude(3, 0.3, 15),
    "claude-haiku-5-5": _claude(0.1, 0.01, 0.5, long_from=100_000, long=5.0),
    "claude-haiku-4-5": _claude(1, 0.1, 5),
    "gpt-6-astra": _openai(10, 1, 50, write=12.5, is_long=True),
    "gpt-5.6-sol": _openai(4, 0.4, 20, write=5, is_long=True),
    "gpt-5.6-terra": _openai(2, 0.2, 12, write=2.5, is_long=True),
    "gpt-5.6-luna": _openai(0.2, 0.02, 1.2, write=0.25, is_long=True),
    "gpt-5.5": _openai(5, 0.5, 30, is_long=True),
    "gpt-5.4": _openai(2.5, 0.25, 15, is_long=True),
    "gpt-5.4-mini": _openai(0.75, 0.075, 4.5),
    "gpt-5.4-nano": _openai(0.2, 0.02, 1.25),
    "gpt-5": _openai(1.25, 0.125, 10),
    "gpt-5-mini": _openai(0.25, 0.025, 2),
    "gpt-5-nano": _openai(0.05, 0.005, 0.4),
    "gpt-4.1": _openai(2, 0.5, 8),
    "gpt-4.1-mini": _openai(0.4, 0.1, 1.6),
    "gpt-4o": _openai(2.5, 1.25, 10),
    "gpt-4o-mini": _openai(0.15, 0.075, 0.6),
}
"""Standard tier, 5-minute cache, of ``CLAUDE_PAGE`` and ``OPENAI_PAGE``."""

_DRESSING = re.compile(r"(-latest|[-@]\d{8}|-\d{4}-\d\d-\d\d)?(-v\d+(:\d+)?)?(\[\w+\])?$")
"""The endings that providers hang on a family's name: a snapshot's date, a version of Bedrock, a size of the window."""


def family(model: str) -> str:
    """Give the family of a model: ``us.anthropic.claude-opus-5-20260724-v1:0`` and ``anthropic/claude-opus-5`` are both
    ``claude-opus-5``."""
    name = model.strip().lower().rpartition("/")[2].rpartition("anthropic.")[2]
    return _DRESSING.sub("", name, count=1)


def price_of(model: str, own: Mapping[str, ModelPrice]) -> ModelPrice | None:
    """Find the tenant's ``own`` price of this very name or of its family, in capitals or not, else the list price; None
    for a model that has no price: its tokens are counted and its money is not guessed."""
    by_name = {name.strip().lower(): price for name, price in own.items()}
    for name in (model.strip().lower(), family(model)):
        if name in by_name:
            return by_name[name]
    return LIST_PRICES.get(family(model))


def price_table(own: Mapping[str, ModelPrice]) -> dict[str, ModelPrice]:
    """List every price in force, by name."""
    return {**LIST_PRICES, **own}


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
