"""Tables on a terminal."""

from __future__ import annotations

import pytest

from neve_cli import output


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short"),
        ("exactly8", "exactly8"),
        ("one too many", "one too…"),
        ("蜂蜂蜂蜂", "蜂蜂蜂蜂"),
        ("蜂蜂蜂蜂.", "蜂蜂蜂…"),
        ("a蜂蜂蜂蜂", "a蜂蜂蜂…"),
        ("e\u0301" * 9, "e\u0301" * 7 + "…"),
        ("", ""),
    ],
)
def test_the_last_column_takes_what_is_left_of_the_line(text: str, shown: str) -> None:
    assert output.cut(text, 8) == shown


def test_a_long_message_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was measured again for each character that was taken off: one of 60,000 took minutes."""
    measured = 0

    def measure(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return len(text)

    monkeypatch.setattr(output, "wide", measure)
    assert output.cut("bee " * 500, 24) == "bee bee bee bee bee bee…"
    assert measured <= 2_000
