"""The evals of retrieval measure what they say: loaders, scores, intervals. The chats are made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.retrieval.baseline import PlainBm25
from evals.retrieval.chats import Chat, NoSuchData
from evals.retrieval.playing import SYSTEMS, digest, named
from evals.retrieval.scoring import Judged, intervals, judge, means
from evals.retrieval.sets import load_sets


def turn(speaker: str, dia_id: str, text: str) -> dict[str, str]:
    return {"speaker": speaker, "dia_id": dia_id, "text": text}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Six chats of assistants and one of two people."""
    (tmp_path / "beam").mkdir()
    messages = [
        {"id": 0, "role": "user", "content": "my kayak is red"},
        {"id": 1, "role": "assistant", "content": "nice"},
    ]
    later = [{"id": 2, "role": "user", "content": "I sold the kayak"}]
    asked = [
        {"category": "update", "question": "Where is my kayak?", "evidence": [2, 99]},
        {"category": "abstention", "question": "Have I a dog?", "evidence": []},
    ]
    chat = {
        "sessions": [{"time": "March-15-2024", "messages": messages}, {"time": "x", "messages": later}],
        "questions": asked,
    }
    for number in (10, 1, 2, 3, 4, 6):
        (tmp_path / "beam" / f"chat_{number:02d}.json").write_text(json.dumps(chat))
    (tmp_path / "locomo").mkdir()
    talk = {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [turn("Ann", "D1:1", "hello"), turn("Bob", "D1:2", "I paddle") | {"blip_caption": "a river"}],
        "session_10_date_time": "2:00 pm on 9 June, 2023",
        "session_10": [turn("Ann", "D10:1", "bye")],
        "session_2_date_time": "2:00 pm on 9 May, 2023",
        "session_2": [turn("Ann", "D2:1", "again")],
    }
    qa = [
        {"category": 4, "question": "What does Bob do?", "evidence": ["D1:2; D9:9"]},
        {"category": 5, "question": "Has Bob a dog?", "evidence": ["D1:1"]},
        {"category": 1, "question": "Nothing known", "evidence": ["D9:9"]},
    ]
    (tmp_path / "locomo" / "locomo10.json").write_text(json.dumps([{"conversation": talk, "qa": qa}]))
    return tmp_path


def load(data: Path, name: str, chats: str = "") -> list[Chat]:
    return load_sets(data, [name], chats)


def test_beam_as_chats(data: Path) -> None:
    chats = load(data, "beam")
    assert [(chat.id, chat.tuned) for chat in chats[-3:]] == [("beam-04", True), ("beam-06", False), ("beam-10", False)]
    first, answer, later = chats[0].messages
    assert [(m.id, m.session, m.seq, m.by_user) for m in (first, answer, later)] == [
        ("0", "session-1", 1, True),
        ("1", "session-1", 2, False),
        ("2", "session-2", 1, True),
    ]
    assert (first.indexed_text, answer.indexed_text) == ("user: my kayak is red", "assistant: nice")
    assert (f"{first.at:%F}", f"{later.at:%F}") == ("2024-03-15", "2024-03-29"), "two weeks apart"
    assert [(q.category, q.evidence) for q in chats[0].questions] == [("update", frozenset({"2"}))]


def test_locomo_as_chats(data: Path) -> None:
    [chat] = load(data, "locomo")
    assert [m.session for m in chat.messages] == ["session-1", "session-1", "session-2", "session-10"]
    assert chat.messages[1].indexed_text == "Bob: I paddle [shares a river]"
    assert [(q.text, q.category, q.evidence) for q in chat.questions] == [
        ("What does Bob do?", "single-hop", frozenset({"D1:2"}))
    ]


def test_what_cannot_be_loaded_is_named(data: Path, tmp_path: Path) -> None:
    assert [chat.number for chat in load(data, "beam", "2-4")] == [2, 3, 4]
    assert [chat.number for chat in load(data, "beam", "6")] == [6]
    with pytest.raises(ValueError, match="no set is called 'other'"):
        load(data, "other")
    with pytest.raises(NoSuchData, match=r"locomo10\.json"):
        load(tmp_path / "elsewhere", "locomo")
    with pytest.raises(ValueError, match="no system is called 'best'"):
        named(["best"])
    assert [system.name for system in named(["RRF", "both"])] == ["RRF", "both"] and named(None) == list(SYSTEMS)


def test_a_digest_is_of_what_is_sent(data: Path) -> None:
    first, second = load(data, "beam", "1-2")
    assert digest(first) == digest(second) != digest(load(data, "locomo")[0])


def test_plain_bm25_ranks_by_words(data: Path) -> None:
    [chat] = load(data, "locomo")
    assert PlainBm25(chat).rank("paddling", 5) == [frozenset({"D1:2"})]


def test_scores_by_hand() -> None:
    """Evidence at ranks 3 and 11, a repetition at 4: nDCG (1 / log2 4) / (1 + 1 / log2 3)."""
    ranking = [frozenset({name}) for name in ("x1", "x2", "a", "a", *(f"y{n}" for n in range(6)), "b")]
    scores = judge(ranking, frozenset({"a", "b"}))
    assert {name: scores[name] for name in ("any@1", "any@5", "any@10", "any@20")} == {
        "any@1": 0,
        "any@5": 1,
        "any@10": 1,
        "any@20": 1,
    }
    assert scores["fraction@10"] == 0.5 and scores["mrr@10"] == pytest.approx(1 / 3)
    assert scores["ndcg@10"] == pytest.approx(0.5 / 1.63093, abs=1e-5)
    assert set(judge([], frozenset({"a"})).values()) == {0.0}


def test_intervals_draw_chats_and_not_questions() -> None:
    """Two chats that differ altogether: the mean of two drawn ones is 0, 50 or 100, whatever they are asked."""
    best, none = judge([frozenset("a")], frozenset("a")), judge([], frozenset("a"))
    rows = [Judged(chat, "c", scores) for chat, scores in (("one", best), ("two", none)) for _ in range(50)]
    assert means(rows)["any@10"] == 50.0 and means(rows)["n"] == 100
    assert intervals(rows) == {"any@10": [0.0, 100.0], "mrr@10": [0.0, 100.0]}
    assert intervals(rows[:50]) == {"any@10": [100.0, 100.0], "mrr@10": [100.0, 100.0]}
