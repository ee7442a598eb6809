"""Ids of users, sessions and events, as their callers have them."""

from __future__ import annotations

import re
from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.ids import NAME, as_name, event_id, event_place
from tests.ids import AWKWARD, names

REFUSED = (
    *("", " a", "\u00a0a", "\u3000a", "a/b", "a#b", "a~b", "a%b", "a?b", "a\\b", ".", "..", "a" * 129, "\u00e9" * 65),
    *(
        "a\x00",
        "a\n",
        "a\x7f",
        "a\x85",
        "a\u200b",
        "a\u200d",
        "\ufeffa",
        "a\u202e",
        "a\u2028",
        "a\ufffd",
        "a\uffff",
        "a\ud800",
    ),
)


@pytest.mark.parametrize("text", REFUSED, ids=ascii)
def test_what_is_no_id(text: str) -> None:
    assert as_name(text) is None


@pytest.mark.parametrize("text", AWKWARD, ids=ascii)
def test_what_is_one(text: str) -> None:
    assert as_name(text) == text


@pytest.mark.parametrize("typed", ["Zoe\u0308", "\u212b", "\uac00\u11a8", "a\u0323\u0307", "a\u0307\u0323"], ids=ascii)
def test_two_that_are_canonically_equivalent_are_one(typed: str) -> None:
    composed, decomposed = normalize("NFC", typed), normalize("NFD", typed)
    assert as_name(typed) == as_name(composed) == as_name(decomposed) == composed


@given(st.text())
def test_an_id_is_kept_as_it_would_be_kept_again(text: str) -> None:
    name = as_name(text)
    if name is None:
        return
    assert as_name(name) == name == normalize("NFC", text)
    assert 1 <= len(name.encode()) <= 128
    assert not set(name) & set("/#~%?\\")
    assert not {category(sign) for sign in name} & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@given(names())
def test_the_pattern_of_the_description_takes_every_id(name: str) -> None:
    assert re.search(f"^{NAME}$", name)


@given(names(), st.integers(1, 10**9))
def test_the_place_of_an_event_is_read_back(session: str, seq: int) -> None:
    assert event_place(event_id(session, seq)) == (session, seq)
