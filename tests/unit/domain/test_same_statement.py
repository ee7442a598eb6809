"""Two statements are the same when they mean the same, and never when they differ in what must not differ
(docs/rules/facts.md#the-same-statement)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.same.__main__ import KINDS, LEAST, Pair, read_pairs
from local.template import ROOT
from neve.domain.memories.text import fingerprint
from neve.domain.same.meaning import LONGEST, may_be_the_same, meaning_of, place_of, say_the_same
from neve.domain.same.vocabulary import ANTONYMS, GROUPS, PHRASES

PAIRS = read_pairs()
TEXTS = [text for pair in PAIRS for text in (pair.one, pair.other)]
NAMES = ("Mary", "Ben", "Karen", "Aylin", "Tom")
SENTENCES = (
    "User has a dog named {name}",
    "User's sister {name} lives in York",
    "User works with {name} on {n} projects",
    "User's meeting with {name} is on {n} March",
    "User pays {name} {n} euros",
    "User likes {name}'s food",
    "I owe {name} {n} dollars",
    "my boss is {name}",
)


def of_kind(kind: str) -> list[Pair]:
    return [pair for pair in PAIRS if pair.kind == kind]


# --- the table ------------------------------------------------------------------------------------


def test_the_table_has_fifty_pairs_of_each_kind_half_of_them_unseen() -> None:
    assert {kind: len(of_kind(kind)) for kind in KINDS} == dict.fromkeys(KINDS, 50)
    assert {kind: sum(pair.tuned for pair in of_kind(kind)) for kind in KINDS} == dict.fromkeys(KINDS, 25)
    assert len({(pair.one, pair.other) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("kind", ["contradiction", "related", "unrelated"])
def test_no_pair_that_is_not_the_same_is_taken_for_one(kind: str) -> None:
    assert [pair for pair in of_kind(kind) if say_the_same(pair.one, pair.other)] == []


@pytest.mark.parametrize("spelt", [str, str.lower])
def test_statements_that_nearly_say_the_same_are_kept_apart(spelt: Callable[[str], str]) -> None:
    """Pairs in the same words but for what tells them apart, also as they are written in chats."""
    lines = (ROOT / "evals" / "same" / "apart.jsonl").read_text(encoding="utf-8").splitlines()
    pairs = [(spelt(pair["one"]), spelt(pair["other"])) for pair in map(json.loads, lines)]
    assert len(pairs) > 100
    assert [pair for pair in pairs if say_the_same(*pair)] == []


def test_most_paraphrases_are_the_same() -> None:
    same = of_kind("same")
    assert sum(say_the_same(pair.one, pair.other) for pair in same) >= LEAST * len(same)


def test_hardly_a_paraphrase_is_vetoed() -> None:
    same = of_kind("same")
    assert sum(may_be_the_same(pair.one, pair.other) for pair in same) >= 0.9 * len(same)


# --- what a meaning is ----------------------------------------------------------------------------


def test_it_is_one_relation() -> None:
    """Symmetric and transitive, so that the order in which statements come makes no difference."""
    for one, other in combinations(TEXTS[:120], 2):
        assert say_the_same(one, other) == say_the_same(other, one) == (place_of(one) == place_of(other))
        assert may_be_the_same(one, other) == may_be_the_same(other, one)
        assert may_be_the_same(one, other) or not say_the_same(one, other)


@given(st.sampled_from(TEXTS), st.sampled_from([str.upper, str.lower, str.title, str]), st.sampled_from([" ", "  "]))
def test_the_same_words_are_the_same_however_they_are_spelt(text: str, spelt: Callable[[str], str], space: str) -> None:
    other = space.join(spelt(text).split())
    if fingerprint(text) == fingerprint(other):
        assert say_the_same(text, other)


@given(st.text(max_size=LONGEST + 20))
def test_every_text_has_a_place(text: str) -> None:
    assert re.fullmatch("[0-9a-f]{64}", place_of(text))
    assert say_the_same(text, text) and may_be_the_same(text, text)


PIECES = (
    "is",
    "not",
    "a",
    "the",
    "i'm",
    "user's",
    "likes",
    "to",
    "has",
    "no",
    "cat",
    "and",
    "prefers",
    "over",
    ",",
    "5",
)


@given(st.lists(st.sampled_from(PIECES), max_size=99))
def test_words_in_any_order_have_a_place(words: list[str]) -> None:
    assert len(place_of(" ".join(words))) == 64


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('🔴 Ada: "I\'m allergic to nuts"', 'Ada: "I have a nut allergy"'),
        ('User: "I moved to Rome"', "User relocated to Rome (2026-03-10)"),
        ("User flies to Oslo tomorrow (meaning 2026-03-11)", "Tomorrow (meaning 2026-03-11) User flies to Oslo"),
        ("User's meeting is at 2 pm", "User's meeting is at 14:00"),
        ("Remember that I'm a nurse", "My job is nursing"),
        ("Ich wohne in Rom.", "ich wohne in rom"),
    ],
)
def test_they_are_the_same(one: str, other: str) -> None:
    assert say_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('Ada: "I like tea"', 'Ben: "I like tea"'),
        ("User flies tomorrow (meaning 2026-03-11)", "User flies tomorrow (meaning 2026-03-12)"),
        ("Anna loves Ben", "Ben loves Anna"),
        ("anna loves ben", "ben loves anna"),
        ("Anna is Ben's sister", "Ben is Anna's sister"),
        ("User told Karen that Ben is ill", "User told Ben that Karen is ill"),
        ("User has two dogs and three cats", "User has three dogs and two cats"),
        ("User has a red car and a blue bike", "User has a blue car and a red bike"),
        ("User likes tea but not coffee", "User likes coffee but not tea"),
        ("User works at Siemens", "User worked at Siemens"),
        ("User plays chess", "User will play chess"),
        ("User plays chess", "User might play chess"),
        ("User plays chess", "User used to play chess"),
        ("User is a dentist", "User has a dentist"),
        ("User is a dentist", "User goes to the dentist"),
        ("User eats everything except fish", "User eats fish"),
        ("Turn on the alarm", "Turn off the alarm"),
        ("User needs the report before Monday", "User needs the report after Monday"),
        ("User flies today", "User flies tomorrow"),
        ("User rarely cooks", "User cooks"),
        ("Anna liebt Ben", "Ben liebt Anna"),
        ("我住在罗马", "我住在米兰"),
    ],
)
def test_they_are_not_the_same(one: str, other: str) -> None:
    assert not say_the_same(one, other)


# --- what must not differ -------------------------------------------------------------------------


@given(
    st.sampled_from(SENTENCES), st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(1, 28), st.integers(1, 28)
)
def test_another_name_or_number_is_another_statement(sentence: str, name: str, other: str, n: int, m: int) -> None:
    one, two = sentence.format(name=name, n=n), sentence.format(name=other, n=m)
    for spelt in (str, str.lower):
        assert say_the_same(spelt(one), spelt(two)) == (one == two)
    assert may_be_the_same(one, two) == (one == two)


@given(st.sampled_from(TEXTS))
def test_what_denies_it_is_another_statement(text: str) -> None:
    denials = [f"It is not true that {text}", f"I doubt that {text}", f"{text}, no longer", f"{text}, but never again"]
    for denial in denials[: 4 if True not in meaning_of(text).denied and "ended" not in meaning_of(text).how else 2]:
        assert not say_the_same(text, denial)


@pytest.mark.parametrize("pair", ANTONYMS, ids=" ".join)
def test_the_opposite_is_another_statement(pair: tuple[str, str]) -> None:
    for sentence in ("User's project is {}", "User's project has {} rooms"):
        one, two = (sentence.format(word) for word in pair)
        assert not say_the_same(one, two) and not may_be_the_same(one, two)


# --- the lists ------------------------------------------------------------------------------------


def test_no_word_is_in_two_groups() -> None:
    words = [word for group in GROUPS for word in group]
    assert sorted({word for word in words if words.count(word) > 1}) == []


def test_a_phrase_is_found_only_in_a_text_with_one_of_its_parts() -> None:
    lines = (ROOT / "evals" / "observer" / "train.jsonl").read_text(encoding="utf-8").splitlines()
    for text in (*TEXTS, *(json.loads(line)["text"] for line in lines)):
        for parts, pattern, _ in PHRASES:
            assert any(part in text.casefold() for part in parts) or not pattern.search(text.casefold())


def test_a_long_text_is_compared_by_its_words() -> None:
    long = "User likes tea. " * 40
    assert meaning_of(long).exact and say_the_same(long, long.upper()) and not say_the_same(long, f"{long} now")
