"""From how many tokens on a provider caches a prefix (docs/rules/compile.md#breakpoints)."""

from __future__ import annotations

import pytest

from neve.domain.tenants.prices import cacheable_from


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-opus-5", 512),
        ("claude-sonnet-4-5-20250929", 1_024),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 1_024),
        ("claude-opus-5@20260724", 512),
        ("anthropic/claude-opus-5", 512),
        ("claude-sonnet-5[1m]", 1_024),
        ("Claude-Opus-5", 512),
        ("claude-of-tomorrow", 4_096),
        ("gpt-5-mini", 1_024),
        ("openai/gpt-5", 1_024),
        ("o3", 1_024),
    ],
)
def test_a_model_is_known_by_every_name_that_providers_give_it(model: str, tokens: int) -> None:
    assert cacheable_from(model, {}) == tokens


def test_the_policy_knows_better() -> None:
    own = {"claude-opus-5": 700, "US.anthropic.claude-opus-5-20260724-v1:0": 900}
    assert cacheable_from("anthropic/claude-opus-5", own) == 700
    assert cacheable_from("us.anthropic.claude-opus-5-20260724-v1:0", own) == 900
