"""The share of a query's terms in a text, and that it agrees with what the keyword index finds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.engine.search.search_index import SqliteSearchIndex
from neve.domain.indexing.passage import Passage, Source
from neve.domain.recall.query import MAX_PHRASE_WORDS, MAX_TERMS, TextQuery, query_terms, shape
from neve.domain.terms import stem, terms
from neve.domain.words import INDEX_STOP_WORDS
from neve.ports.search import IndexModel, Owner, SearchFilter

ADA = Owner("t1", "ada")
OBSERVED_AT = "2026-01-01T00:00:00.000Z"

SHARES = [
    ("painting sunrise lake", "She painted two sunrises.", 2 / 3),
    ("cat OR dog sleeps", "Dogs sleep", 1.0),
    ("deploy v2.19.1 tonight", "we deployed it", 1 / 3),
    ("ports.py", "see layers/core/neve/ports.py", 1.0),
    ("Henrike's studies", "Henrike: I study law", 1.0),
    ("trip -cars", "a trip by car", 0.0),
    ("trip -snake", "a trip with snake_case", 0.0),
    ("trip -the", "the trip", 1.0),
    ('red "red bicycle"', "bicycle, red", 0.0),
    ('red "red bicycle"', "a RED, bicycle", 1.0),
    ("what is it", "what was that", 1.0),
    ("is it", "is it", 0.0),
    ("", "anything", 0.0),
    ("-car", "anything", 0.0),
]


def share_of_terms(query: str, text: str) -> float:
    return query_terms(shape(query).text_query).share_of(text)


@pytest.mark.parametrize(("query", "text", "share"), SHARES)
def test_share_of_terms(query: str, text: str, share: float) -> None:
    assert share_of_terms(query, text) == pytest.approx(share)


def test_shadow_score_literals() -> None:
    """0.7 times the calibrated similarity and 0.3 times the share: 0.604 with 3 of 4 words, 0.537 with 4 of 4."""
    three, four = (
        share_of_terms("kayak river tent stove", text)
        for text in ("kayaks, rivers, a tent", "stoves tents river kayak")
    )
    assert round(0.7 * 0.604 + 0.3 * three, 4) == 0.6478
    assert round(0.7 * 0.537 + 0.3 * four, 4) == 0.6759


@given(st.text(max_size=200))
def test_any_text_has_a_share_of_any_query(query: str) -> None:
    assert 0.0 <= share_of_terms(query, query) <= 1.0


@given(st.lists(st.text(alphabet="abcdefghij", min_size=1, max_size=8), min_size=1, max_size=12))
def test_a_text_has_all_words_of_itself_that_are_indexed(words: list[str]) -> None:
    text = " ".join(words)
    assert share_of_terms(text, text) == (1.0 if set(words) - INDEX_STOP_WORDS else 0.0)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteSearchIndex]:
    with closing(
        SqliteSearchIndex(Path(tmp_path_factory.mktemp("index")) / "search.db", IndexModel("none", 0))
    ) as made:
        yield made


PLAIN = "kayak Kayaks kayaking university universe news the is not it red bicycles generously OR"
MARKED = ("snake_case", "getUserName", "v2.1", "o'brien's", "-snake", "-kayaks", '"red bicycles"')
WRITTEN = st.lists(st.sampled_from((*PLAIN.split(), *MARKED)), max_size=6)


@given(query=WRITTEN, text=WRITTEN)
def test_a_text_has_a_share_iff_the_index_finds_it(index: SqliteSearchIndex, query: list[str], text: list[str]) -> None:
    asked = shape(" ".join(query)).text_query
    passage = Passage("a", 0, 1, Source.MEMORY, " ".join(text), "", "fact", "active", "user", "semantic", OBSERVED_AT)
    index.erase(ADA)
    index.upsert(ADA, [passage])
    found = index.search_text(ADA, asked, SearchFilter(), 10).candidates
    assert bool(found) == (query_terms(asked).share_of(passage.text) > 0)


def test_a_long_query_is_cut() -> None:
    words = [f"word{n}" for n in range(1_000)]
    asked = query_terms(TextQuery(groups=tuple((word,) for word in words), phrases=(tuple(words),) * 2, min_match=900))
    assert asked.terms == words[:MAX_TERMS] and asked.min_match == MAX_TERMS
    assert [len(phrase) for phrase in asked.phrases] == [MAX_PHRASE_WORDS]


@pytest.mark.parametrize(
    "query", [TextQuery(()), TextQuery((("is",), ("it",))), TextQuery((("kayak",),), phrases=(("-",),))]
)
def test_nothing_matches_a_query_without_words(query: TextQuery) -> None:
    assert query_terms(query).matches_nothing


@pytest.mark.parametrize(
    "words",
    [
        "hike hikes hiked hiking",
        "run runs running",
        "study studies studied studying",
        "box boxes",
        "class classes",
        "make makes making",
        "painting paintings paint painted",
        "plan plans planned planning",
    ],
)
def test_stems_equate_inflections(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@pytest.mark.parametrize("words", ["bus us", "kayak kayo", "red read", "2023 2024", "sing s", "class clan"])
def test_stems_keep_other_words_apart(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 2


def test_terms_of_compounds_and_long_chunks() -> None:
    assert list(terms("The getUserName v2.1")) == ["getusernam", "get", "user", "name", "v2.1", "v2", "1"]
    assert list(terms("Snakes/" + "x" * 70)) == ["snakes/" + "x" * 70, "snake", "x" * 70]
