"""Rows of docs/features.md about recall. Small talk, phrases and how a word is written (E08)."""

from __future__ import annotations

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Person
from tests.http.real_encoder.rubric import RUBRIC
from tests.http.recall.asking import LEGS, call_tool

SMALL_TALK = ("ok", "👍", "lol", "???", "thanks!", "the a of and", "Good morning!", "hahaha 😂", "谢谢")


@pytest.fixture
def talkative(user: Person) -> Person:
    """Somebody with twenty memories, of which one holds every word of ``SMALL_TALK`` and one nothing but stop words."""
    user.remember(f"User says {' '.join(SMALL_TALK)} all the time.")
    user.remember("It is what it was.")
    for entry in RUBRIC[:18]:
        user.remember(entry.text)
    user.settle()
    return user


@pytest.mark.live
def test_e08_small_talk_injects_nothing(talkative: Person) -> None:
    for message in SMALL_TALK:
        answer = talkative.recall(message, threshold=0)
        assert (answer["hits"], answer["injection_text"], answer["degraded"]) == ([], "", []), message
        assert answer["result_state"] == "none"
        assert {name: answer["legs"][name]["status"] for name in LEGS} == dict.fromkeys(LEGS, "skipped")
        record = talkative.expect(200, "GET", f"/recalls/{answer['recall_id']}")
        assert (record["result_state"], record["hits"]) == ("none", [])


@pytest.mark.live
def test_e08_a_tool_may_ask_for_stop_words(talkative: Person) -> None:
    assert talkative.recall("what was it")["result_state"] == "none"
    answer = talkative.recall("what was it", mode="tool")
    assert {name: answer["legs"][name]["status"] for name in LEGS} == dict.fromkeys(LEGS, "complete")
    assert "It is what it was." in [hit["text"] for hit in answer["hits"]]
    assert call_tool(talkative, query="👍")["result_state"] == "found"


@pytest.mark.controls
def test_e08_small_talk_costs_no_search(talkative: Person, controls: Controls) -> None:
    controls.forget_calls()
    controls.faults(*({"target": target, "fault": "error"} for target in ("lexical", "vector", "embed")))
    for message in SMALL_TALK:
        answer = talkative.recall(message)
        assert (answer["result_state"], answer["degraded"]) == ("none", []), message
    assert controls.calls("embed") == []


@pytest.mark.live
def test_e08_phrases_and_exclusions_hold_in_both_legs(user: Person) -> None:
    kid = user.remember("User's kid paints kites.")["id"]
    daughter = user.remember("User's daughter paints red kites.")["id"]
    user.settle()
    assert set(user.recalled("child paints", legs=["vector"], threshold=0)) == {kid, daughter}
    for legs in (["vector"], list(LEGS)):
        assert user.recalled("child paints -red", legs=legs, threshold=0, mode="tool") == [kid]
        assert user.recalled('child paints "red kites"', legs=legs, threshold=0, mode="tool") == [daughter]
    record = user.recall("child paints -red", threshold=0, mode="tool")["recall_id"]
    outcomes = {hit["id"]: hit["outcome"] for hit in user.expect(200, "GET", f"/recalls/{record}")["hits"]}
    assert outcomes == {kid: "returned", daughter: "holds_excluded"}


@pytest.mark.live
def test_e08_health_says_which_languages_are_understood(api: ApiClient) -> None:
    languages = api.expect(200, "GET", "/v1/health")["languages"]
    assert languages["words"] == ["en", "de", "es", "fr", "pt", "zh", "ja", "ko", "ar", "hi", "ru"]
    assert languages["meaning"] in (["en"], ["*"]) and languages["observer"] in (["en"], ["*"])


@pytest.mark.live
def test_e08_a_word_is_found_however_it_is_written(user: Person) -> None:
    written = {
        "strasse": "User wohnt in der Bäckerstraße, Straße der Bäcker.",
        "cafe": "User meets Ann at the café.",
        "东京": "用户住在东京都。",
        "도서관": "사용자는 도서관에서 일해요.",
        "ข้าว": "ผู้ใช้ชอบกินข้าวผัด",
        "🎻": "User plays the 🎻 on Sundays.",
        "gliding": "User likes ｇｌｉｄｉｎｇ and kay\u200baks.",
    }
    ids = {word: user.remember(text)["id"] for word, text in written.items()}
    for legs_are_new in (True, False):
        found = {word: user.recalled(word, legs=["lexical"], mode="tool") for word in written}
        assert found == {word: [memory_id] for word, memory_id in ids.items()}, legs_are_new
        user.settle()
