"""The language of a text, and words that are found in another inflection than they were said in."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.languages import LANGUAGES, UNSERVED, language_of
from neve.domain.recall.query import query_terms, shape
from neve.domain.terms import STEM_MARK, chunk_terms, terms, without_particle
from neve.domain.words import chunks, fold

SETS = Path("evals/languages/set")

INFLECTED = [
    ("Unsere Katzen schlafen auf dem Sofa, wenn wir nicht da sind.", "Katze", "Hund"),
    ("In den alten Häusern am Fluss wohnen meine Eltern.", "Haus", "Garten"),
    ("Mis hermanas trabajan en un hospital de Sevilla.", "hermana", "primo"),
    ("Me encantan las canciones que cantaba mi abuela.", "cancion", "baile"),
    ("Je vais à l'hôpital avec mes nouveaux médicaments.", "hopital", "école"),
    ("Mes chevaux sont dans une écurie près de chez nous.", "cheval", "vache"),
    ("Tenho medo de aviões desde que era pequeno.", "avião", "navio"),
    ("As minhas irmãs moram em Lisboa com os filhos.", "irmã", "tia"),
    ("我昨天在东京吃了拉面", "拉面", "寿司"),
    ("娘は小学校で習字を習っています", "小学校", "図書館"),
    ("저는 도서관에서 책을 읽어요", "도서관은", "박물관은"),
    ("주말에는 집에서 쉬어요", "집을", "강을"),
    ("سيارتي الجديدة أمام المدرسة", "السيارات", "الدراجة"),
    ("أختي تدرس في المدرسه", "مدرسة", "جامعة"),
    ("मुझे किताबें पढ़ना पसंद है", "किताबों", "अख़बार"),
    ("मैं रोज़ बाज़ार जाता हूँ", "बाजार", "मंदिर"),
    ("Наша дочка боится собак и кошек", "собаками", "лошадь"),
    ("Мы поставили ёлку у окна", "елка", "стол"),
]
"""A text, a word of it in another form, and a word that is not in it."""

SERVED_NOT = ["ฉันชอบกินข้าวผัด", "אני גר בתל אביב", "Μένω στην Αθήνα", "ես սիրում եմ երաժշտություն", "আমি ঢাকায় থাকি"]


def asked(query: str, text: str) -> float:
    return query_terms(shape(query).text_query).share_of(text)


def texts_of(language: str) -> list[str]:
    lines = (SETS / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [text for line in lines for text in itemgetter("statement", "question")(json.loads(line))]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_of_what_people_say_is_told(language: str) -> None:
    """A question of four words may have one function word, which is no vote."""
    texts = texts_of(language)
    assert sum(language_of(text) == language for text in texts) >= 0.85 * len(texts)


@pytest.mark.parametrize("text", SERVED_NOT)
def test_a_script_that_nothing_serves_is_told(text: str) -> None:
    assert language_of(text) == UNSERVED
    assert language_of(f"{text} ok") == UNSERVED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "👍 12:30",
        "ok",
        "We drove to La Jolla, then Via del Corso",
        "He runs it de facto, with the family",
        "Die Hard is my son's favourite war film, me too",
        "I said 谢谢 and left",
        "Have you seen the schadenfreude on Anna Müller's face?",
        "https://live.example.com/5006/5244715417_aa4e26e1d3_z.jpg?de=1&la=2",
    ],
)
def test_english_is_not_taken_for_another_language(text: str) -> None:
    assert language_of(text) == "en"
    assert not any(term.startswith(STEM_MARK) for term in terms(text))


@pytest.mark.parametrize(("text", "word", "other"), INFLECTED)
def test_a_word_is_found_in_another_inflection(text: str, word: str, other: str) -> None:
    assert asked(word, text) == 1.0
    assert asked(other, text) == 0.0
    assert query_terms(shape(f"-{word}").text_query).refusal(text) == "holds_excluded"


@pytest.mark.parametrize(
    ("chunk", "noun"),
    [
        ("고양이를", "고양이"),
        ("집에서", "집"),
        ("가을", "가"),
        ("나이", "나이"),
        ("부산까지", "부산"),
        ("東京", "東京"),
    ],
)
def test_particles_are_taken_off_a_korean_noun(chunk: str, noun: str) -> None:
    assert without_particle(chunk) == noun


def test_stop_words_are_those_of_the_language_that_was_asked_in() -> None:
    assert shape("Wo haben wir vor dem Umzug gewohnt?").terms == ("umzug", "gewohnt")
    assert shape("Где мы жили до переезда?").terms == ("жили", "переезда")
    assert shape("where did we live before?").terms == ("live",)
    assert "die" in shape("Did the roses die?").terms


@given(st.text(max_size=60) | st.sampled_from([text for language in LANGUAGES for text in texts_of(language)]))
def test_the_stems_of_other_languages_only_come_beside_the_terms(text: str) -> None:
    """So English is indexed, asked for and scored as if no other language were known."""
    unmarked = [term for chunk in chunks(fold(text)) for term in chunk_terms(chunk) if term[0] != STEM_MARK]
    assert [term for term in terms(text) if term[0] != STEM_MARK] == unmarked
    asked_for = query_terms(shape(text).text_query)
    assert all(any(term[0] != STEM_MARK for term in group) for group in asked_for.groups)
