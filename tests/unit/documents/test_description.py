"""What a document says of itself in a line, where nobody said it (docs/rules/documents.md#name)."""

from __future__ import annotations

import pytest

from neve.domain.documents.description import MAX_SUMMARY, name_of, summary_of


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


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("# Trip to Porto", "Trip to Porto"),
        ("### Trip # 2 ##", "Trip # 2"),
        ("#   ", "trip"),
        ("# ##", "trip"),
        ("#hashtag", "trip"),
        ("# C#", "C"),
    ],
)
def test_a_document_is_called_by_its_first_heading(line: str, name: str) -> None:
    assert name_of("/plans/trip", f"{line}\nWe leave on Monday.") == name


def test_a_heading_of_any_length_is_read_in_no_time() -> None:
    """Looking for its end behind each of the blanks would take hours, and a server that answers nobody meanwhile."""
    assert name_of("/a", "# a" + " " * 900_000 + "b") == "a…"
    assert summary_of("# a" + "\u2003" * 900_000 + "b\nIt rains.") == "It rains."
