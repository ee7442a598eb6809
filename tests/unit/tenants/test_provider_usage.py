"""Every provider's own counts become the four numbers of a report (docs/rules/usage.md#providers)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.tenants.provider_usage import Tokens, WrongUsage, read_usage

SHAPES: dict[str, dict[str, Any]] = {
    "neve": {"input": 50, "cache_read": 900, "cache_write": 50, "output": 5},
    "anthropic": {
        "input_tokens": 50,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 50,
        "output_tokens": 5,
        "service_tier": "standard",
        "output_tokens_details": {"thinking_tokens": 2},
        "server_tool_use": None,
    },
    "anthropic by time to live": {
        "input_tokens": 50,
        "cache_read_input_tokens": 900,
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
        "output_tokens": 5,
    },
    "openai chat": {
        "prompt_tokens": 1_000,
        "completion_tokens": 5,
        "total_tokens": 1_005,
        "prompt_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 50, "audio_tokens": 0},
    },
    "openai responses": {
        "input_tokens": 1_000,
        "input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 50},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 1_005,
    },
    "ai sdk": {
        "inputTokens": 1_000,
        "inputTokenDetails": {"noCacheTokens": 50, "cacheReadTokens": 900, "cacheWriteTokens": 50},
        "outputTokens": 5,
        "totalTokens": 1_005,
        "cachedInputTokens": 900,
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_cached_is_counted_apart(shape: str) -> None:
    assert read_usage(SHAPES[shape]) == Tokens(50, 900, 50, 5)


@pytest.mark.parametrize(
    "usage",
    [
        {"promptTokenCount": 1_000, "cachedContentTokenCount": 900, "candidatesTokenCount": 3, "thoughtsTokenCount": 2},
        {
            "prompt_token_count": 1_000,
            "cached_content_token_count": 900,
            "candidates_token_count": 5,
            "thoughts_token_count": None,
        },
    ],
)
def test_gemini_writes_no_cache_that_is_told_and_thinks_in_its_output(usage: dict[str, Any]) -> None:
    assert read_usage(usage) == Tokens(100, 900, 0, 5)


def test_before_version_6_the_ai_sdks_input_may_be_without_what_was_cached() -> None:
    assert read_usage({"inputTokens": 50, "cachedInputTokens": 900, "outputTokens": 5}) == Tokens(50, 900, 0, 5)
    assert read_usage({"inputTokens": 950, "cachedInputTokens": 900, "outputTokens": 5}) == Tokens(50, 900, 0, 5)


def test_what_is_not_told_or_null_is_none() -> None:
    assert read_usage({"input_tokens": 50, "output_tokens": 5}) == Tokens(50, 0, 0, 5)
    assert read_usage({"input_tokens": 50, "cache_read_input_tokens": None, "output_tokens": 5}) == Tokens(50, 0, 0, 5)
    assert read_usage({"prompt_tokens": 50, "completion_tokens": 5, "prompt_tokens_details": None}) == Tokens(
        50, 0, 0, 5
    )


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tokens": 5}, "usage"),
    ({"input": 1, "output": 1, "cached": 1}, "usage.cached"),
    ({"output": 1}, "usage.input"),
    ({"input_tokens": "5", "output_tokens": 1}, "usage.input_tokens"),
    ({"input_tokens": 5}, "usage.output_tokens"),
    ({"prompt_tokens": -1, "completion_tokens": 1}, "usage.prompt_tokens"),
    ({"prompt_tokens": True, "completion_tokens": 1}, "usage.prompt_tokens"),
    ({"completion_tokens": 1}, "usage.prompt_tokens"),
    (
        {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 6}},
        "usage.prompt_tokens",
    ),
    ({"prompt_tokens": 5, "prompt_tokens_details": 3}, "usage.prompt_tokens_details"),
    ({"input_tokens_details": {"cached_tokens": 1.5}, "input_tokens": 9}, "usage.input_tokens_details.cached_tokens"),
    ({"promptTokenCount": 10**8}, "usage.promptTokenCount"),
    ({"inputTokens": None, "outputTokens": 1}, "usage.inputTokens"),
]


@pytest.mark.parametrize(("usage", "field"), WRONG)
def test_what_is_wrong_is_named(usage: dict[str, Any], field: str) -> None:
    with pytest.raises(WrongUsage) as refused:
        read_usage(usage)
    assert refused.value.field == field


COUNT = st.integers(0, 10**6)


def test_an_unknown_shape_is_told_what_is_taken() -> None:
    with pytest.raises(WrongUsage, match=r"prompt_tokens.*promptTokenCount.*cache_read"):
        read_usage({"tokens_in": 1})


@given(
    read=st.integers(0, 10**6), write=st.integers(0, 10**6), rest=st.integers(0, 10**6), output=st.integers(0, 10**6)
)
def test_the_prompt_is_as_long_in_every_shape(read: int, write: int, rest: int, output: int) -> None:
    whole, details = read + write + rest, {"cached_tokens": read, "cache_write_tokens": write}
    same: list[dict[str, Any]] = [
        {
            "input_tokens": rest,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": write,
            "output_tokens": output,
        },
        {"prompt_tokens": whole, "prompt_tokens_details": details, "completion_tokens": output},
        {"input_tokens": whole, "input_tokens_details": details, "output_tokens": output},
        {
            "inputTokens": whole,
            "inputTokenDetails": {"cacheReadTokens": read, "cacheWriteTokens": write},
            "outputTokens": output,
        },
    ]
    assert {read_usage(usage) for usage in same} == {Tokens(rest, read, write, output)}
