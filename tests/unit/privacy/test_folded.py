"""A text without the words that a pattern asks for is not searched for it: what the pattern finds has one of them."""

from __future__ import annotations

import re
import string
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.privacy import api_keys, cards, medical_records, passwords
from neve.domain.privacy.folded import folded

NEEDED: Sequence[tuple[re.Pattern[str], Sequence[str]]] = (
    (passwords._ASSIGNED, ("pass", "pwd")),
    (passwords._PASSWORD_PHRASE, ("pass", "pwd")),
    (passwords._PHRASE, ("pass",)),
    (passwords._PIN, ("pin",)),
    (passwords._IN_ADDRESS, ("://",)),
    (passwords._ELSEWHERE, passwords._ELSEWHERE_BY),
    (cards._SECURITY_CODE, cards._SECURITY_CODE_BY),
    (medical_records._NAMED, medical_records._NAMED_BY),
    (api_keys._NAMED, api_keys._NAMED_BY),
    *api_keys._BY_WORDS,
)


def test_what_a_pattern_takes_for_a_letter_is_that_letter() -> None:
    letters = {*string.ascii_lowercase, *"".join(passwords._ELSEWHERE_BY)}
    every_sign = "".join(map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1))))
    taken = {letter: re.findall(f"(?i){re.escape(letter)}", every_sign) for letter in letters}
    assert {letter: signs for letter, signs in taken.items() if not all(letter in folded(sign) for sign in signs)} == {}
    assert {"ſ", "S"} < set(taken["s"])


@pytest.mark.parametrize(("pattern", "words"), NEEDED, ids=lambda given: getattr(given, "pattern", "")[:20])
def test_whatever_a_pattern_finds_has_one_of_its_words(pattern: re.Pattern[str], words: Sequence[str]) -> None:
    @settings(max_examples=20)
    @given(st.from_regex(pattern))
    def in_any_letters(text: str) -> None:
        assert any(word in folded(text) for word in words)

    in_any_letters()


@pytest.mark.parametrize(
    "text", ["PAſſWORD=hunter22", "my PİN is 4821", "pın: 4821", "\u212aENNWORT: ab12cd", "ПАРОЛЬ: ab12cd"]
)
def test_letters_of_other_scripts_hide_nothing(text: str) -> None:
    assert list(passwords.find(text))
