"""Token counts as providers' answers have them, in the four numbers of a report (docs/rules/usage.md#providers).

Each shape is known by a field that no other one has. What a shape has besides is not read: providers add to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MAX_TOKENS = 10_000_000
TAKEN = (
    "Anthropic's (input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens), OpenAI's of"
    " chats (prompt_tokens, completion_tokens) and of responses (input_tokens, input_tokens_details, output_tokens),"
    " the AI SDK's (inputTokens, outputTokens), Gemini's (promptTokenCount, candidatesTokenCount), or input,"
    " cache_read, cache_write, output"
)


class WrongUsage(ValueError):
    """A usage that is of no known form. ``field``: where, from ``usage`` on."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


@dataclass(frozen=True, slots=True)
class Tokens:
    """The token counts of one answer. ``input``: of the prompt, neither read from the cache nor written to it."""

    input: int
    cache_read: int
    cache_write: int
    output: int


def read_usage(usage: Mapping[str, Any]) -> Tokens:
    """Read the counts of a provider's answer. Raises WrongUsage."""
    for known_by, read in _SHAPES:
        if any(name in usage for name in known_by):
            return read(_Fields(usage))
    raise WrongUsage("usage", f"has none of the shapes that are taken: {TAKEN}")


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of an object of a provider's; a count that is not there, or null, is none."""

    given: Mapping[str, Any]
    path: str = "usage"

    def count(self, *names: str, required: bool = False) -> int:
        """Read the first of these counts that is there."""
        name = next((name for name in names if self.given.get(name) is not None), None)
        if name is None:
            if required:
                raise WrongUsage(f"{self.path}.{names[0]}", "is required")
            return 0
        value = self.given[name]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_TOKENS:
            raise WrongUsage(f"{self.path}.{name}", f"must be a whole number from 0 to {MAX_TOKENS}")
        return value

    def inside(self, *names: str) -> _Fields:
        name = next((name for name in names if self.given.get(name) is not None), names[0])
        value = self.given.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise WrongUsage(f"{self.path}.{name}", "must be an object")
        return _Fields(value or {}, f"{self.path}.{name}")

    def split(self, whole: str, read: int, write: int, output: int) -> Tokens:
        """Split the count of a prompt that includes what was read and written."""
        prompt = self.count(*whole.split("|"), required=True)
        if read + write > prompt:
            field = next(name for name in whole.split("|") if name in self.given)
            raise WrongUsage(f"{self.path}.{field}", f"is {prompt}, and {read + write} of it were cached")
        return Tokens(prompt - read - write, read, write, output)


def _own(given: _Fields) -> Tokens:
    for name in given.given:
        if name not in ("input", "cache_read", "cache_write", "output"):
            raise WrongUsage(f"usage.{name}", "is not a field of this shape: input, cache_read, cache_write, output")
    return Tokens(
        given.count("input", required=True),
        given.count("cache_read"),
        given.count("cache_write"),
        given.count("output", required=True),
    )


def _openai_chat(given: _Fields) -> Tokens:
    details = given.inside("prompt_tokens_details")
    read, write = details.count("cached_tokens"), details.count("cache_write_tokens")
    return given.split("prompt_tokens", read, write, given.count("completion_tokens"))


def _responses(given: _Fields) -> Tokens:
    details = given.inside("input_tokens_details")
    read, write = details.count("cached_tokens"), details.count("cache_write_tokens")
    return given.split("input_tokens", read, write, given.count("output_tokens", required=True))


def _anthropic(given: _Fields) -> Tokens:
    """Read Anthropic's counts: its input is what was neither read nor written."""
    by_ttl = given.inside("cache_creation")
    written = by_ttl.count("ephemeral_5m_input_tokens") + by_ttl.count("ephemeral_1h_input_tokens")
    return Tokens(
        given.count("input_tokens", required=True),
        given.count("cache_read_input_tokens"),
        given.count("cache_creation_input_tokens") or written,
        given.count("output_tokens", required=True),
    )


def _ai_sdk(given: _Fields) -> Tokens:
    """Read the AI SDK's counts: its input is the whole prompt since version 6; before, with some providers, it was what
    was not cached."""
    details = given.inside("inputTokenDetails")
    read = details.count("cacheReadTokens") or given.count("cachedInputTokens")
    write, output = details.count("cacheWriteTokens"), given.count("outputTokens", required=True)
    prompt = given.count("inputTokens", required=True)
    if "inputTokenDetails" not in given.given and read > prompt:
        return Tokens(prompt, read, write, output)
    return given.split("inputTokens", read, write, output)


def _gemini(given: _Fields) -> Tokens:
    read = given.count("cachedContentTokenCount", "cached_content_token_count")
    thought = given.count("thoughtsTokenCount", "thoughts_token_count")
    output = given.count("candidatesTokenCount", "candidates_token_count")
    return given.split("promptTokenCount|prompt_token_count", read, 0, output + thought)


_SHAPES: tuple[tuple[tuple[str, ...], Callable[[_Fields], Tokens]], ...] = (
    (("input", "cache_read", "cache_write", "output"), _own),
    (("prompt_tokens", "completion_tokens"), _openai_chat),
    (("input_tokens_details",), _responses),
    (("input_tokens", "output_tokens"), _anthropic),
    (("inputTokens", "outputTokens"), _ai_sdk),
    (("promptTokenCount", "prompt_token_count", "candidatesTokenCount"), _gemini),
)
"""The readers of each form, in this order: OpenAI's responses have Anthropic's names, and details beside them."""
