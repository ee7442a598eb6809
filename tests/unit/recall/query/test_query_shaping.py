"""Shaping of the keyword query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.query import MAX_OPERATORS, MAX_WORDS, TextQuery, shape
from neve.domain.words import QUERY_STOP_WORDS, parts, plain_words

TERMS = [
    ("When did Henrike go to the chess club dinner?", ("henrike", "go", "chess", "club", "dinner")),
    ("What's Henrike’s dog's name?", ("henrike", "dog", "name")),
    ("I don't know, didn't they've it'll", ("know",)),
    ("what is it", ("what", "is", "it")),
    ("", ()),
    (" ?! -- ", ()),
    ("kayak Kayak KAYAK", ("kayak",)),
    ("café Straße 東京 Zürich", ("café", "strasse", "東京", "zürich")),
    ("I paid 5,000 or 1,234,567 in 2023", ("paid", "5000", "1234567", "2023")),
    ("v2.19.1 snake_case layers/core/ports.py C++ c#", ("v2.19.1", "snake_case", "layers/core/ports.py", "c++", "c#")),
    ("does Will know the US and will it do", ("will", "know", "us")),
    ("Will they go", ("go",)),
    ('5" screen', ("5", "screen")),
    ("it's 20 -5 degrees --verbose", ("20", "5", "degrees", "verbose")),
    ("cats,dogs;birds", ("cats", "dogs", "birds")),
    ("rock'n'roll o'brien", ("rock'n'roll", "o'brien")),
]


@pytest.mark.parametrize(("query", "terms"), TERMS)
def test_terms_are_the_content_words(query: str, terms: tuple[str, ...]) -> None:
    shaped = shape(query)
    assert shaped.terms == terms
    assert tuple(group[0] for group in shaped.text_query.groups) == terms
    assert shaped.text_query.min_match == 1


QUERIES = [
    ('ride "red bicycle"', TextQuery((("ride",), ("red",), ("bicycle",)), phrases=(("red", "bicycle"),))),
    ("“the plan” again", TextQuery((("plan",),), phrases=(("the", "plan"),))),
    (
        '"to be or not to be"',
        TextQuery((("to",), ("be",), ("or",), ("not",)), (("to", "be", "or", "not", "to", "be"),)),
    ),
    ('"a" ""', TextQuery((("a",),), phrases=(("a",),))),
    ("say \"v2.1 o'brien's\"", TextQuery((("say",), ("v2.1", "v2"), ("o'brien",)), (("v2", "1", "o'brien"),))),
    ("trip -car -Bikes", TextQuery((("trip",),), excluded=("car", "bikes"))),
    ('trip -"car" -"two words" - bus', TextQuery((("trip",), ("bus",)), excluded=("car",))),
    ("-car", TextQuery((), excluded=("car",))),
    ("cat OR dog sleeps", TextQuery((("cat", "dog"), ("sleeps",)))),
    ("cat | dog OR bird", TextQuery((("cat", "dog", "bird"),))),
    ("cat or dog", TextQuery((("cat",), ("dog",)))),
    ("OR cat OR", TextQuery((("cat",),))),
    ('cat OR "big dog"', TextQuery((("cat", "big", "dog"),))),
    ("cat OR -dog bird", TextQuery((("cat",), ("bird",)), excluded=("dog",))),
    ("the OR cat", TextQuery((("the", "cat"),))),
    ("snake_case", TextQuery((("snake_case", "snake", "case"),))),
    ("getUserName", TextQuery((("getusername", "user", "name"),))),
    ("state-of-the-art", TextQuery((("state-of-the-art", "state", "art"),))),
]


@pytest.mark.parametrize(("query", "expected"), QUERIES, ids=[query for query, _ in QUERIES])
def test_operators(query: str, expected: TextQuery) -> None:
    assert shape(query).text_query == expected


def test_a_long_prompt_is_searched_by_its_first_words() -> None:
    shaped = shape(" ".join(f"word{i}" for i in range(500)))
    assert len(shaped.text_query.groups) == MAX_WORDS == len(shaped.terms)
    assert shaped.terms[-1] == f"word{MAX_WORDS - 1}"
    [cut] = shape("/".join(f"word{i}" for i in range(500))).text_query.groups
    assert len(cut) == MAX_WORDS


def test_operators_are_limited_too() -> None:
    query = shape(" ".join(f'-no{i} "phrase {i}"' for i in range(100))).text_query
    assert len(query.excluded) == MAX_OPERATORS == len(query.phrases)


@given(st.text(max_size=200))
def test_any_text_can_be_a_query(query: str) -> None:
    shaped = shape(query)
    assert shape(query) == shaped
    assert all(word for group in shaped.text_query.groups for word in group)
    assert len(set(shaped.terms)) == len(shaped.terms) <= sum(len(group) for group in shaped.text_query.groups)


@given(st.lists(st.sampled_from([*sorted(QUERY_STOP_WORDS), "kayak", "tent"]), min_size=1, max_size=12))
def test_stop_words_stay_only_when_nothing_else_is_there(words: list[str]) -> None:
    content = set(words) - QUERY_STOP_WORDS
    assert set(shape(" ".join(words)).terms) == (content or {word.removesuffix("'s") for word in words})


def test_parts_of_compounds() -> None:
    assert parts("getUserName") == ["get", "user", "name"]
    assert parts("HTTPServer/v2.1") == ["httpserver", "http", "server", "v2", "1"]
    assert parts("kayak") == [] == parts("Kayak's")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Red-hot, O'Brien's 5,000!", ["red", "hot", "o'brien", "5000"]),
        ("v2.19.1", ["v2", "19", "1"]),
        ("東京へ", ["東", "京", "へ"]),
    ],
)
def test_plain_words(text: str, words: list[str]) -> None:
    assert plain_words(text) == words
