"""What a document says of itself in a line, where nobody said it (docs/rules/documents.md#name)."""

from __future__ import annotations

import pytest

from neve.domain.documents.description import MAX_SUMMARY, summary_of


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Set DATABASE_URL and MAX_TOKENS.", "Set DATABASE_URL and MAX_TOKENS."),
        ("Call `load_user` in `__init__`.", "Call load_user in __init__."),
        ("It is 5*3*2, and a * is a star.", "It is 5*3*2, and a * is a star."),
        ("**Bold**, *slanted*, __both__ and ***all***.", "Bold, slanted, both and all."),
        ("**One *in* another**", "One in another"),
        ("* a point\n1. a number\n> a quotation", "a point a number a quotation"),
        ("First.\n***\n```python\nmax_tokens = 5\n```\nLast.", "First. max_tokens = 5 Last."),
        ("A _single one stays", "A _single one stays"),
    ],
)
def test_a_summary_is_without_markup_and_keeps_names(text: str, said: str) -> None:
    assert summary_of(text) == said


def test_a_line_of_any_length_is_read_in_no_time() -> None:
    """Looking for the end of each of 300,000 beginnings would take minutes."""
    assert len(summary_of("*a " * 300_000)) <= MAX_SUMMARY
    assert len(summary_of("`" * 900_000 + "x")) <= MAX_SUMMARY
