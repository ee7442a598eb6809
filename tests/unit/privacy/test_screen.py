"""The gate on texts: blocks that are read together, what is left of them, and what is counted."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from neve.domain.privacy.detectors import REMOVED, SHORT
from neve.domain.privacy.screen import blocked, metrics, screen, screen_parts
from neve.domain.tenants.policy import Action, PiiClass, Policy
from tests.unit.privacy.test_detectors import ALIKE, CARD, ROWS, plain

DEFAULT = Policy().pii.actions
ALL: dict[PiiClass, Action] = dict.fromkeys(get_args(PiiClass), "redact")
TOKEN = "ghp_" + "a1B2" * 9


def test_the_policy_says_whether_it_is_blocked_or_redacted() -> None:
    found = screen(f"{CARD}, MRN 1234567", DEFAULT).found
    assert (found, blocked(found, DEFAULT)) == ({"card_number": 1, "medical_record_number": 1}, {"card_number": 1})
    turned: dict[PiiClass, Action] = {"card_number": "redact", "medical_record_number": "block"}
    assert blocked(found, turned) == {"medical_record_number": 1}
    assert metrics("Redacted", found) == {"PiiRedactedMedicalRecordNumber": 1, "PiiRedactedCardNumber": 1}


@pytest.mark.parametrize(
    ("texts", "kept", "found"),
    [
        (
            ["my card is 4111 1111", "1111 1111. My password is", "hunter2!"],
            [f"my card is {REMOVED}", f"{REMOVED}. My password is", f"{SHORT}!"],
            {"card_number": 1, "password": 1},
        ),
        (["room 4111", "Anna"], ["room 4111", "Anna"], {}),
        (["SSN 123-45-", "6789."], ["SSN [*]", "[*]."], {"ssn": 1}),
        (["SSN 123-4", "5-6789."], ["SSN [*]", "[*]."], {"ssn": 1}),
        (["use AKIAABCD", "EFGH12345678 now"], ["use [*]", "[removed] now"], {"api_key": 1}),
        (["ghp_" + "a1B2" * 4, "a1B2" * 5], [REMOVED, REMOVED], {"api_key": 1}),
        (["my pin is 48", "21"], ["my pin is **", "**"], {"password": 1}),
        (  # a border joins no word to what was taken out
            [f"Use {TOKEN}", "Hello", "My password is hunter2", "Anna says hi"],
            [f"Use {REMOVED}", "Hello", f"My password is {SHORT}", "Anna says hi"],
            {"api_key": 1, "password": 1},
        ),
        (["hello 27", " ".join("4111111111111111")], ["hello 27", REMOVED], {"card_number": 1}),
        ([f"{CARD} 12/27", " ".join("4111111111111111")], [f"{REMOVED} 12/27", REMOVED], {"card_number": 2}),
    ],
)
def test_blocks_are_read_together_and_each_alone(texts: list[str], kept: list[str], found: dict[str, int]) -> None:
    assert screen_parts(texts, DEFAULT) == (kept, found)


PIECES = st.one_of(
    st.sampled_from([plain(row) for _, row in ROWS] + [text for _, text in ALIKE]),
    st.sampled_from(
        ["password", "is", "my", ":", "=", '"', "'", "[", "]", REMOVED, SHORT, "\n", " ", "-", "4111", "ssn"]
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12),
)
TEXTS = st.lists(PIECES, max_size=8).map(" ".join) | st.lists(PIECES, max_size=8).map("".join)


@given(TEXTS, st.sampled_from([DEFAULT, ALL]))
def test_screening_twice_changes_nothing(text: str, actions: dict[PiiClass, Action]) -> None:
    once = screen(text, actions)
    assert screen(once.text, actions).text == once.text
    assert bool(once.found) == (once.text != text)
    assert len(once.text) <= len(text)
    assert len(once.text.encode()) <= len(text.encode())


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_blocks_stay_as_many_and_what_is_found_in_one_alone_is_found(texts: list[str]) -> None:
    screened, _ = screen_parts(texts, DEFAULT)
    assert len(screened) == len(texts)
    assert all(screen(one, DEFAULT).text == one for one in screened)


@given(st.text(st.characters(categories=["L", "Z", "P"], exclude_characters=":=@'\"`"), max_size=200))
def test_a_text_without_digits_and_without_the_words_is_the_same_text(text: str) -> None:
    assume(not re.search(r"(?i)pass|pwd|begin", text))
    assert screen(text, DEFAULT).text == text


@given(TEXTS)
def test_what_is_allowed_is_not_looked_for(text: str) -> None:
    assert screen(text, dict.fromkeys(DEFAULT, "allow")).text == text


@pytest.mark.parametrize(
    "piece", ["0", "0 ", "+4", "a@", "@", "a.", "12 ", "12 Elm ", "Am ", "DE89 ", "(0", "phone ", "A-"]
)
def test_a_long_text_is_read_once(piece: str) -> None:
    """64 KB that could make a pattern look again and again: seconds would say that it does."""
    screen(piece * (65_536 // len(piece)), ALL)
