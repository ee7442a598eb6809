"""Token counting and cutting to a budget. Literals: docs/rules/values.md#estimate,
docs/rules/values.md#retry-and-trim."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.adapters.o200k import token_counter
from neve.domain.tokens import IMAGE_TOKENS, compact_json, estimate, event_tokens, keep_ends, trim_to
from tests.unit.domain_rows import image, text_block

FAMILY = "👨‍👩‍👧"
FLAG = "🇮🇪"
WAVE = "👋🏽"

pieces = st.sampled_from(["a", " ", "\n", "\r\n", "é", "e\u0301", "🟡", FAMILY, FLAG, WAVE, "ā̧", "文", "\u200d"])
readable = st.lists(pieces, max_size=200).map("".join)
anything = st.text(max_size=300) | readable
budgets = st.integers(min_value=-2, max_value=120)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("x" * 100, 32), ("🟡", 1), ("x" * 320, 100), ("x" * 321, 101), ("🟡" * 8, 5), ("é" * 16, 5), ("x", 1)],
)
def test_estimate_is_ceil_of_utf16_units_by_3_2(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_estimate_survives_a_lone_surrogate() -> None:
    assert estimate("\ud83d") == 1


def test_image_is_flat() -> None:
    assert IMAGE_TOKENS == 1600
    assert event_tokens([text_block("x" * 320), image(), image("dog")], {}) == 3300


@pytest.mark.parametrize(
    ("content", "data", "tokens"),
    [
        ("x" * 320, {}, 100),
        ("", {}, 0),
        ([{"type": "thinking", "thinking": "x" * 320}, text_block("x" * 32)], {}, 10),
        ("", {"name": "search", "args": {"q": "x" * 24}}, 10),
        ("<neve-memory>" + "y" * 999 + "</neve-memory>" + "x" * 320, {}, 100),
        ("x" * 320, {"name": "search", "is_error": True}, 100),
    ],
)
def test_event_tokens(content: str, data: dict[str, object], tokens: int) -> None:
    assert event_tokens(content, data) == tokens


def test_event_tokens_use_the_counter_given() -> None:
    assert event_tokens("one two three", {}, count=lambda text: len(text.split())) == 3


def test_arguments_that_nest_too_deep_become_an_ellipsis() -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert compact_json(nested) == "…"


def test_the_default_counter_is_the_estimate() -> None:
    assert token_counter("estimate")("x" * 100) == 32


def test_trim_keeps_what_fits() -> None:
    assert trim_to("x" * 32, 10) == "x" * 32


def test_trim_of_100_characters_to_10_tokens() -> None:
    assert trim_to("x" * 100, 10) == "x" * 31 + "…"


def test_trim_with_a_marker_of_its_own() -> None:
    assert trim_to("x" * 100, 10, marker=" [cut]") == "x" * 26 + " [cut]"


def test_trim_leaves_out_a_marker_that_does_not_fit() -> None:
    assert trim_to("x" * 100, 1, marker="a long marker") == "xxx"
    assert keep_ends("x" * 100, 1, marker="a long marker") == "xxx"


@pytest.mark.parametrize("budget", [0, -1])
def test_no_budget_leaves_nothing(budget: int) -> None:
    assert trim_to("text", budget) == ""
    assert keep_ends("text", budget, marker="…") == ""


def test_keep_ends_keeps_both_ends_around_the_marker() -> None:
    text = "a" * 50 + "b" * 50
    assert keep_ends(text, 10, marker=" … ") == "a" * 14 + " … " + "b" * 15


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, WAVE, "e\u0301\u0323", "\r\n", "☂\ufe0f"])
def test_a_cut_never_parts_a_grapheme(cluster: str) -> None:
    text = cluster * 40
    for budget in range(1, estimate(text)):
        front, _, nothing = trim_to(text, budget).partition("…")
        assert nothing == ""
        assert front == cluster * (len(front) // len(cluster))
        front, _, back = keep_ends(text, budget, marker="|").partition("|")
        assert front == cluster * (len(front) // len(cluster))
        assert back == cluster * (len(back) // len(cluster))


@given(anything, budgets)
def test_trimmed_text_is_a_beginning_within_budget(text: str, budget: int) -> None:
    short = trim_to(text, budget)
    assert estimate(short) <= max(budget, 0)
    assert short == text or short == "" or (short[-1] == "…" and text.startswith(short[:-1]))


@given(anything, budgets)
def test_kept_ends_are_the_ends_within_budget(text: str, budget: int) -> None:
    short = keep_ends(text, budget, marker="\x00")
    assert estimate(short) <= max(budget, 0)
    front, _, back = short.partition("\x00")
    assert short == text or (text.startswith(front) and text.endswith(back))


@given(st.text(alphabet="abc 🟡", min_size=1, max_size=300), st.integers(min_value=1, max_value=60))
def test_trimming_wastes_no_token(text: str, budget: int) -> None:
    short = trim_to(text, budget)
    if short != text:
        assert estimate(short[:-1] + text[len(short) - 1] + "…") > budget


@given(readable, budgets)
def test_trimming_holds_for_a_counter_that_is_not_monotonic(text: str, budget: int) -> None:
    def odd(part: str) -> int:
        return len(part) + 3 * (len(part) % 2)

    assert odd(trim_to(text, budget, count=odd)) <= max(budget, 0)
    assert odd(keep_ends(text, budget, marker="…", count=odd)) <= max(budget, 0)


@pytest.mark.parametrize("unit", ["a", "\u0301", "🇮", "\u200d", "🟡", "\r\n"])
def test_256_kib_of_one_character_is_cut(unit: str) -> None:
    text = unit * (262_144 // len(unit.encode()))
    assert estimate(trim_to(text, 100)) <= 100
    assert estimate(keep_ends(text, 100, marker="…")) in (99, 100) or unit in ("\u0301", "\u200d")
