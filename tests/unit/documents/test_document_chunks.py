"""The parts of a document that are searched (docs/rules/documents.md#passages)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compact.headings import SummaryText
from neve.domain.documents.chunks import MAX_CHUNKS, document_chunks
from neve.domain.librarian.account import as_document
from neve.domain.librarian.filing import Account
from neve.domain.tokens import estimate


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("# Identity\n\n- User is 34\n- User lives in Cork", ["# Identity\n- User is 34\n- User lives in Cork"]),
        ("# A\n\n## B\n## C\n \nText.\n\nMore.\n\n# D", ["# A\n## B\n## C\nText.", "More.", "# D"]),
        ("# Only a title", ["# Only a title"]),
        ("#hashtag\n\nText.", ["#hashtag", "Text."]),
        ("Text.\n\n- Date: today\n- Tone: calm", ["Text.", "- Date: today\n- Tone: calm"]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_a_heading_stands_with_the_paragraph_below_it(text: str, chunks: list[str]) -> None:
    assert document_chunks(text) == chunks


def test_a_conversation_is_found_by_what_it_says() -> None:
    summary = SummaryText(decisions=("Go by train.",), insights=("It rains.",))
    account = Account("A trip", "PARTIAL", "worried", ("oslo",), summary)
    assert document_chunks(as_document(account, "2026-03-10"), "conversation") == [
        "# A trip\n## Decisions\n- Go by train.",
        "## Insights\n- It rains.",
    ]


def test_a_conversation_that_says_nothing_is_found_by_its_topics() -> None:
    account = Account("A trip", "SUCCESS", "neutral", ("oslo",))
    [chunk] = document_chunks(as_document(account, "2026-03-10"), "conversation")
    assert chunk.startswith("# A trip\n") and "- Topics: oslo" in chunk


def test_very_many_short_paragraphs_stand_together() -> None:
    """The largest text of a document has 349,525 of them: no worker lives long enough to write so many passages."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    few, many = letters[: MAX_CHUNKS % 26] + letters * (MAX_CHUNKS // 26), letters * 13_443
    assert document_chunks("\n\n".join(few)) == list(few)
    chunks = document_chunks("\n\n".join(many))
    assert "\n\n".join(chunks) == "\n\n".join(many)
    assert (len(chunks) < 1_000, max(map(estimate, chunks)) <= 500) == (True, True)


PARAGRAPHS = st.sampled_from(["# A", "## B", "one two", "word " * 600, "\n", "- Date: 2026-03-10"])


@given(st.lists(PARAGRAPHS, max_size=8), st.sampled_from([None, "conversation"]))
def test_no_chunk_is_too_long_and_none_of_an_ordinary_text_is_lost(paragraphs: list[str], kind: str | None) -> None:
    text = "\n\n".join(paragraphs)
    chunks = document_chunks(text, kind)
    assert all(estimate(chunk) <= 500 for chunk in chunks)
    if kind is None:
        assert "".join("".join(chunks).split()) == "".join(text.split())
