"""Rows of docs/features.md about recall. Languages (E17)."""

from __future__ import annotations

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Person, answered, user_message
from tests.http.recall.asking import call_tool
from tests.http.test_observation_rows import observes

TOLD = {
    "de": ("Unsere Katzen schlafen am liebsten auf dem Sofa.", "Wo schläft die Katze?", "Katze"),
    "es": ("Mis hermanas trabajan en un hospital de Sevilla.", "¿Dónde trabaja mi hermana?", "hermana"),
    "fr": ("Je vais à l'hôpital avec mes médicaments.", "Où est mon médicament ?", "hopital"),
    "pt": ("Tenho medo de aviões desde que era pequeno.", "Do que é que eu tenho medo, de avião?", "avião"),
    "zh": ("我昨天在东京吃了拉面。", "我在东京吃了什么？", "拉面"),
    "ja": ("娘は小学校で習字を習っています。", "娘は何を習っていますか？", "習字"),
    "ko": ("저는 주말마다 도서관에서 책을 읽어요.", "도서관은 언제 가요?", "책은"),
    "ar": ("سيارتي الجديدة أمام المدرسة.", "أين السيارة؟", "مدرسه"),
    "hi": ("मुझे पहाड़ों की किताबें पढ़ना पसंद है।", "मुझे कौन सी किताब पसंद है?", "किताबों"),
    "ru": ("Наша дочка боится больших собак.", "Кого боится дочка?", "собака"),
}
"""What somebody said in a language, a question about it, and a word of it in another form."""
BESIDE = ("User plays the cello.", "User's brother is a baker in Bath.")


@pytest.fixture(scope="module")
def rules_observe(api: ApiClient) -> bool:
    return bool(api.expect(200, "GET", "/v1/health")["languages"]["observer"] == ["en"])


@pytest.mark.live
def test_e17_a_word_is_found_in_another_form_in_ten_languages(user: Person) -> None:
    for text in BESIDE:
        user.remember(text)
    ids = {language: user.remember(text)["id"] for language, (text, _, _) in TOLD.items()}
    for is_indexed in (False, True):
        for language, (_, question, word) in TOLD.items():
            for query in (question, word):
                answer = user.recall(query, legs=["lexical"], mode="tool")
                assert [hit["id"] for hit in answer["hits"]][:1] == [ids[language]], (query, is_indexed)
                assert answer["degraded"] == []
        user.settle()


@pytest.mark.live
def test_e17_messages_are_found_in_another_form(user: Person) -> None:
    user.open("chat")
    said = {
        language: user.append("chat", user_message(text), answered())["seqs"][0]
        for language, (text, _, _) in TOLD.items()
    }
    user.settle()
    for language, (_, question, _) in TOLD.items():
        [first, *_] = user.recall(question, legs=["lexical"], mode="tool", sources=["event"])["hits"]
        assert first["seq"] == said[language]


@pytest.mark.live
def test_e17_what_rules_do_not_read_is_counted_in_every_answer(
    user: Person, api: ApiClient, rules_observe: bool
) -> None:
    if not rules_observe:
        pytest.skip("a language model observes on this stage, in any language")
    user.open("chat")
    english = user.append("chat", user_message("I'm allergic to peanuts."), answered())
    assert "other_language" not in english and "degraded" not in english
    appended = user.append("chat", user_message(TOLD["de"][0]), user_message(TOLD["ja"][0]), answered("Verstanden."))
    assert (appended["other_language"], appended["degraded"]) == (2, ["observer:language"])
    job = user.observe("chat")
    assert job["status"] == "done"
    asked = user.call("POST", "/sessions/chat/observe", {"wait": True}).json()
    assert (asked["other_language"], asked["degraded"]) == (2, ["observer:language"])
    stats = user.call("GET", "/stats")
    assert (stats.json()["other_language"], stats.json()["degraded"]) == (2, ["observer:language"])
    assert stats.headers["x-neve-degraded"] == "observer:language"
    user.settle()
    health = api.expect(200, "GET", "/v1/health")
    [trouble] = [one for one in health["troubles"] if one["kind"] == "language"]
    assert trouble["what"] == "observer" and trouble["count"] >= 2
    assert [memory["text"] for memory in user.memories() if "peanuts" not in memory["text"]] == []
    assert user.recall("Katze", legs=["lexical"], mode="tool")["hits"], "search finds it all the same"


@pytest.mark.controls
def test_e17_what_a_model_writes_in_the_language_spoken_is_found_in_another_form(
    user: Person, controls: Controls
) -> None:
    user.open("chat")
    controls.script(observes("🟡 Nutzerin hat zwei Katzen, die auf dem Sofa schlafen."))
    user.append("chat", user_message(TOLD["de"][0]), answered("Schön!"))
    user.observe("chat")
    user.settle()
    [hit, *_] = user.recall("Wo schläft die Katze?", legs=["lexical"], mode="tool", sources=["memory"])["hits"]
    assert "Katzen" in hit["text"]


@pytest.mark.live
@pytest.mark.parametrize("message", ["ฉันแพ้อาหารอะไรบ้าง", "לאיזה מזון אני אלרגי?"])
def test_e17_a_script_that_nothing_serves_is_said(user: Person, api: ApiClient, message: str) -> None:
    if api.expect(200, "GET", "/v1/health")["languages"]["meaning"] == ["*"]:
        pytest.skip("the encoder of this stage knows every language")
    user.remember("User is allergic to peanuts.")
    user.open("chat")
    for answer in (
        user.recall(message),
        user.recall(message, mode="tool"),
        user.recall(message, mode="tool", legs=["lexical"]),
        user.context("chat", message),
        call_tool(user, query=message),
    ):
        assert "language:unsupported" in answer["degraded"]
    turn = user.expect(
        200, "POST", "/sessions/chat/turn", {"events": [user_message(message)], "recall": {"query": message}}
    )
    assert "language:unsupported" in turn["degraded"]
    assert "language:unsupported" not in user.recall("peanuts?")["degraded"]
