"""What a tenant's prefix must not hold, and how much of it is looked through."""

from __future__ import annotations

import pytest

from neve.domain.tenants.static_prefix import PREFIX_TOKENS, StaticPrefix

AS_MUCH_AS_FITS = int((PREFIX_TOKENS - 100) * 3.2)
"""Characters."""


def problems(identity: str) -> list[str]:
    return [
        f"{one.field}: {one.message}" for one in StaticPrefix(version="1.0.0", identity=identity).problems("prefix")
    ]


@pytest.mark.parametrize(
    ("text", "what", "at"),
    [
        ("Write to first.last+tag@example.com.", "an e-mail address", 9),
        ("(help@example.co.uk)", "an e-mail address", 1),
        ("Hello {{user}}", "a placeholder", 6),
        ("Hello ${user name}", "a placeholder", 6),
        ("Hello <% name %>", "a placeholder", 6),
        ("Hello %(name)s", "a placeholder", 6),
        ("On 2026-11-28", "a date", 3),
    ],
)
def test_what_belongs_to_a_user_or_a_day_is_refused_with_its_place(text: str, what: str, at: int) -> None:
    assert problems(text) == [
        f"prefix.identity: holds {what} at position {at}: it is the same for every user on every day"
    ]


@pytest.mark.parametrize("text", ["You are Ada, at your service.", "Costs 5 @ 3.20 each.", "A {}, a ${ and a {{."])
def test_other_text_is_taken(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize("run", ["w", "{{", "${", "<%", "%(", "a.", "a@", "1", "记"])
def test_a_text_without_blanks_is_looked_through_once(run: str) -> None:
    """From each of its characters on to its end it would take seconds, in which one machine answers nobody."""
    text = run * (AS_MUCH_AS_FITS // len(run) - 20)
    assert any("an e-mail address" in one for one in problems(f"{text} me@example.com"))


def test_what_is_too_long_is_told_its_length_alone() -> None:
    [one] = problems("me@example.com " + "w" * 90_000)
    assert one.startswith("prefix: has 28")
    assert one.endswith(f"tokens; {PREFIX_TOKENS} are accepted")
