"""One normalisation of texts and queries, whatever the script: what is written in another way is the same term."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from local.datafolder import FORMAT_NUMBER
from local.engine.search.search_index import SqliteSearchIndex
from neve.adapters.opensearch.mapping import MAPPING_VERSION
from neve.domain.indexing.passage import Passage, Source
from neve.domain.recall.query import QueryTerms, query_terms, shape
from neve.domain.terms import STEM_MARK, asked_terms, terms
from neve.domain.words import chunks, fold, folded_word, plain_words, without_accents
from neve.ports.search import IndexModel, Owner, SearchFilter

ADA = Owner("t1", "ada")

SAME = [
    ("Straße", "STRASSE"),
    ("Straße", "straẞe"),
    ("ﬁnal oﬀer", "final offer"),
    ("ｋａｙａｋ １２", "kayak 12"),
    ("ｶﾞｲﾄﾞ", "ガイド"),
    ("cafe\u0301", "café"),
    ("kay\u200bak", "kayak"),
    ("kay\u00adak", "kayak"),
    ("\ufeffkayak\u200e", "kayak"),
    ("می\u200cخواهم", "میخواهم"),
    ("don´t ’tis", "don't 'tis"),
    ("👍🏽", "👍"),
    ("❤\ufe0f", "❤"),
    ("5，０００", "5000"),
    ("ΟΔΟΣ", "οδος"),
    ("한국", "한국"),
    ("m²", "m2"),
    ("مُحَمَّد", "محمد"),
    ("إلى أُمّي", "الى امى"),
    ("مدرســـة", "مدرسه"),
    ("कि\u0958ाब", "कि\u0915\u093cाब"),
    ("ज़रूर हूँ", "जरूर हूं"),
]
"""Two spellings of one text."""

ACCENTS = [
    ("café", "cafe"),
    ("Zürich", "zurich"),
    ("İstanbul", "istanbul"),
    ("smørrebrød", "smorrebrod"),
    ("Łódź", "lodz"),
    ("ёлка", "елка"),
    ("œuvre", "oeuvre"),
]
"""A word as it is written, and as it is typed without the right keyboard."""

UNSPACED = [
    ("我昨天在东京吃了拉面", "东京", "北京"),
    ("東京タワーへ行きました", "タワー", "ビル"),
    ("เมื่อวานฉันกินข้าวผัด", "ข้าว", "ปลา"),
    ("ຂ້ອຍມັກກິນເຂົ້າ", "ເຂົ້າ", "ປາ"),
    ("ខ្ញុំញ៉ាំបាយ", "បាយ", "ត្រី"),
    ("ကျွန်တော်ထမင်းစားတယ်", "ထမင်း", "ငါး"),
    ("저는 도서관에서 책을 읽어요", "도서관", "박물관"),
    ("저는 도서관에서 책을 읽어요", "책", "집"),
    ("猫が好きです", "猫", "犬"),
]
"""A text, a word in it that no space sets off, and a word that is not in it."""

ENGLISH = [
    (
        "The getUserName v2.1 of O'Brien's state-of-the-art C++ code, 5,000 lines!",
        "getusernam get user name v2.1 v2 1 o'brien state-of-the-art state art c++ c code 5000 line",
    ),
    (
        "Anna: I went to Lisbon last Tuesday; her sister’s flat (the one on Rua Augusta) is 800 euros…",
        "anna i went lisbon last tuesday her sister flat one rua augusta 800 euro",
    ),
    (
        "see layers/core/neve/ports.py:120 and snake_case@example.com",
        "see layers/core/neve/ports.py:120 layer core neve port py 120 snake_case@example.com snake case exampl com",
    ),
    (
        "Well… I'm 28% sure it's 10:30am — HTTPServer™ said “no” & left/right",
        "well i'm 28 sure 10:30am 10 30am httpserver http server said no left/right left right",
    ),
]
"""Texts with the terms that they had before other scripts were read."""


def asked(query: str) -> QueryTerms:
    return query_terms(shape(query).text_query)


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_text_have_the_same_terms(one: str, other: str) -> None:
    assert list(terms(one)) == list(terms(other)) != []
    assert plain_words(one) == plain_words(other)
    assert shape(one).text_query == shape(other).text_query


@pytest.mark.parametrize(("written", "typed"), ACCENTS)
def test_accents_are_beside_the_word_without_them(written: str, typed: str) -> None:
    assert set(terms(written)) > set(terms(typed))
    assert asked(typed).share_of(written) == 1.0 == asked(written).share_of(typed)
    assert asked(f'"{typed}"').refusal(written) is None
    assert asked(f"-{typed}").refusal(written) == "holds_excluded" == asked(f"-{written}").refusal(typed)


@pytest.mark.parametrize(("text", "word", "other"), UNSPACED)
def test_a_word_is_found_where_no_space_sets_it_off(text: str, word: str, other: str) -> None:
    assert asked(word).share_of(text) == 1.0
    assert asked(other).share_of(text) == 0.0
    assert asked(f'"{word}"').refusal(text) is None
    assert asked(f'"{other}"').refusal(text) == "lacks_phrase"
    assert asked(f"-{word}").refusal(text) == "holds_excluded"
    assert asked(f"-{other}").refusal(text) is None


def test_an_excluded_word_is_more_than_its_pairs() -> None:
    assert asked("-巧克力").refusal("巧克力很好吃") == "holds_excluded"
    assert asked("-巧克力").refusal("克力架和巧克") is None


def test_vowel_signs_are_letters() -> None:
    assert list(terms("मुझे किताब पढ़ना")) == ["मुझे", "किताब", "~किताब", "पढना", "~पढ"]
    assert asked("किताब").share_of("मुझे किताब पढ़ना पसंद है") == 1.0
    assert without_accents("が") == "が" and without_accents("한") == "한"


def test_emoji_are_terms() -> None:
    assert list(terms("I love it 😀👍🏽 🇵🇹")) == ["i", "love", "😀", "👍", "🇵🇹"]
    assert asked("👍").share_of("great 👍🏿") == 1.0
    assert [folded_word(chunk) for chunk in chunks("👩‍🚀".replace("\u200d", ""))] == ["👩", "🚀"]


@pytest.mark.parametrize(("text", "known"), ENGLISH)
def test_plain_english_has_the_terms_it_always_had(text: str, known: str) -> None:
    assert list(terms(text)) == known.split()


@given(st.text(alphabet=[chr(code) for code in range(32, 127)], max_size=40))
def test_ascii_is_cut_the_same_way_beside_other_letters(text: str) -> None:
    """Pure ASCII has a faster pattern of its own."""
    assert chunks(f"{text} é") == [*chunks(text), "é"]
    assert plain_words(f"{text} é") == [*plain_words(text), "e"]


def test_the_terms_of_the_stored_indexes() -> None:
    """An index that was made with other terms finds nothing for these. When this fails, raise ``FORMAT_NUMBER``
    of the local folder and ``MAPPING_VERSION`` before you change the literals."""
    assert (FORMAT_NUMBER, MAPPING_VERSION) == (6, 6)
    text = "Anna's Straße-Cafés: 5,000 kayaks, 東京へ 👍🏽 ½ v2.1 도서관에서"
    assert list(terms(text)) == [
        *("anna", "strasse-cafés", "strasse-cafes", "strass", "café", "cafe", "5000", "kayak"),
        *("東", "京", "へ", "東京", "京へ", "👍", "1/2", "1", "2", "v2.1", "v2", "1"),
        *("도", "서", "관", "에", "서", "도서", "서관", "관에", "에서"),
    ]


# --- whatever the text --------------------------------------------------------------------------

ANY_SCRIPT = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.sampled_from("aZé ßİŉ½…™'´,-.’\u200d\u0301\u0345ſΐͺ한국은東京カﾞへกี่ं़👍🏽🇵🇹ﬃ①⒈ﷺ5０"),
    ),
    max_size=40,
)


@given(ANY_SCRIPT)
@example("e\u200d\u0301")
@example("ﾊﾟ\u3099")
def test_folding_and_the_plain_words_do_not_change_when_done_again(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    words = plain_words(text)
    assert plain_words(" ".join(words)) == words
    assert [without_accents(word) for word in words] == words


@given(ANY_SCRIPT)
def test_what_a_query_asks_for_is_what_an_index_holds(text: str) -> None:
    """But for the stems of languages that the text is not in."""
    held = set(terms(text))
    assert set(asked_terms(text)) <= held
    assert {term for term in asked(text).terms if not term.startswith(STEM_MARK)} <= held


@given(ANY_SCRIPT)
def test_a_text_holds_all_of_itself(text: str) -> None:
    plain = text.replace('"', " ").replace("-", " ").replace("|", " ").replace("OR", " ")
    wanted = asked(plain)
    assert wanted.share_of(plain) == (0.0 if wanted.matches_nothing else 1.0)
    words = plain_words(plain)
    if words:
        assert QueryTerms((), 0, (tuple(words),), ()).refusal(plain) is None
        assert QueryTerms((), 0, (), (), (tuple(words),)).refusal(plain) == "holds_excluded"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteSearchIndex]:
    path = Path(tmp_path_factory.mktemp("index")) / "search.db"
    with closing(SqliteSearchIndex(path, IndexModel("none", 0))) as made:
        yield made


WORLD = "café CAFE Straße strasse 東京 京都 東京タワー 도서관에서 도서관 👍🏽 👍 किताब مُحَمَّد محمد ข้าวผัด ข้าว kayak"
TEXTS = st.lists(st.sampled_from([*WORLD.split(), *(f"-{w}" for w in WORLD.split()), '"東京"', '"cafe"']), max_size=5)


@given(query=TEXTS, text=TEXTS)
def test_a_text_has_a_share_iff_the_index_finds_it(index: SqliteSearchIndex, query: list[str], text: list[str]) -> None:
    words = shape(" ".join(query)).text_query
    at = "2026-01-01T00:00:00.000Z"
    passage = Passage("a", 0, 1, Source.MEMORY, " ".join(text), "", "fact", "active", "user", "semantic", at)
    index.erase(ADA)
    index.upsert(ADA, [passage])
    found = index.search_text(ADA, words, SearchFilter(), 10).candidates
    assert bool(found) == (query_terms(words).share_of(passage.text) > 0)
