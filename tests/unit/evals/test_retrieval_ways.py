"""The same chats sent otherwise: what changes, what stays, and the table of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evals.retrieval.chats import Chat, Message, Question, by_user
from evals.retrieval.playing import SYSTEMS
from evals.retrieval.report import BEGIN_WAYS, END_WAYS, behind, ways_table, write_ways
from evals.retrieval.ways import WAYS, as_sent, named_ways, set_and_way

BEGAN = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)


def message(number: int, session: str, seq: int, text: str = "", name: str | None = "") -> Message:
    """``text``, ``name``: empty for one of its number."""
    text = text or f"Number {number}, please!"
    name = ("Ann", "Bob")[number % 2] if name == "" else name
    return Message(f"m{number}", session, seq, number % 2 == 0, name, text, BEGAN + timedelta(days=number))


CHAT = Chat(
    "talks",
    2,
    tuple(message(n, *place) for n, place in enumerate([("s1", 1), ("s1", 2), ("s1", 3), ("s2", 1), ("s2", 2)])),
    (Question("What is the Number of Bob?", "single", frozenset({"m3"})),),
)


def sent_as(way: str) -> Chat:
    (sent,) = as_sent(way, [CHAT])
    return sent


@pytest.mark.parametrize("way", WAYS)
def test_every_way_sends_the_same_messages_in_order(way: str) -> None:
    sent = sent_as(way)
    assert (sent.id, set_and_way(sent.set)) == (f"talks-{way}-02", ("talks", way))
    own = {"one-user": "02-{}", "bits": "{}.1"}.get(way, "{}")
    assert [(m.id, m.by_user) for m in sent.messages] == [(own.format(m.id), m.by_user) for m in CHAT.messages]
    assert [q.evidence for q in sent.questions] == [frozenset({own.format("m3")})]
    times = [m.at for m in sent.messages]
    assert times == sorted(times) and len(set(times)) == len(times)
    for session in {m.session for m in sent.messages}:
        seqs = [m.seq for m in sent.messages if m.session == session]
        assert seqs == list(range(1, len(seqs) + 1)), "as the service will number them"


def test_what_each_changes() -> None:
    sent = {way: sent_as(way) for way in WAYS}
    assert sent["as-it-is"].messages == CHAT.messages
    assert {m.name for m in sent["unnamed"].messages} == {None}
    assert {m.session for m in sent["one-session"].messages} == {"all"}
    assert [m.session for m in sent["turn-sessions"].messages] == ["turn-1", "turn-1", "turn-2", "turn-2", "turn-3"]
    assert sent["one-time"].messages[-1].at - BEGAN == timedelta(milliseconds=4)
    assert sent["small-letters"].messages[0].text == "number 0 please"
    assert sent["small-letters"].questions[0].text == "what is the number of bob"
    assert sent["keywords"].questions[0].text == "Number Bob"


def test_people_who_type_sentence_by_sentence() -> None:
    said = [
        message(0, "s1", 1, "I moved. To Lisbon, in 3.5 hours!  Can you see it?"),
        message(1, "s1", 2, "Yes. I can.", name=None),
        message(2, "s1", 3, "..."),
    ]
    asked = Question("Where to?", "single", frozenset({"m0", "m1"}))
    (sent,) = as_sent("bits", [Chat("talks", 1, tuple(said), (asked,))])
    assert [(m.seq, m.id, m.text) for m in sent.messages] == [
        (1, "m0.1", "I moved."),
        (2, "m0.2", "To Lisbon, in 3.5 hours!"),
        (3, "m0.3", "Can you see it?"),
        (4, "m1", "Yes. I can."),
        (5, "m2.1", "..."),
    ], "an assistant writes as it always does"
    assert [q.evidence for q in sent.questions] == [{"m0.1", "m0.2", "m0.3", "m1"}]


def test_what_nothing_would_be_left_of_stays_as_it_is() -> None:
    assert small_letters("?!") == "?!"


def test_small_letters_are_what_people_type() -> None:
    assert small_letters("Don't! See example.com, 1.5 km.") == "dont see example.com 1.5 km"
    assert small_letters("See example.com.", by_user=False) == "See example.com."
    assert small_letters("I did.", by_user=False, name="Bob") == "i did"


def small_letters(text: str, *, by_user: bool = True, name: str | None = None) -> str:
    said = Message("m", "s", 1, by_user, name, text, BEGAN)
    (sent,) = as_sent("small-letters", [Chat("talks", 1, (said,), ())])
    return sent.messages[0].text


def test_all_chats_of_a_half_are_one_users() -> None:
    """Each with questions of its own, about what only it said."""
    early = replace(CHAT, number=1, messages=(replace(CHAT.messages[0], at=BEGAN - timedelta(days=9)),), questions=())
    other_half, other_set = replace(CHAT, number=6), replace(CHAT, set="walks")
    sent = as_sent("one-user", [CHAT, early, other_half, other_set])
    assert [one.user for one in sent] == [f"{s}-one-user-{h}" for s, h in ALL_HALVES]
    assert sent[0].messages == sent[1].messages, "one user said all of it"
    assert [m.id for m in sent[0].messages] == ["01-m0", *(f"02-m{n}" for n in range(5))], "in order"
    assert [m.session for m in sent[0].messages[:2]] == ["01-s1", "02-s1"]
    assert [q.evidence for one in sent for q in one.questions] == [{"02-m3"}, {"06-m3"}, {"02-m3"}]
    assert list(by_user(sent)) == ["talks-one-user-tuned", "talks-one-user-reported", "walks-one-user-tuned"]


ALL_HALVES = [("talks", "tuned"), ("talks", "tuned"), ("talks", "reported"), ("walks", "tuned")]


def test_ways_by_name() -> None:
    assert list(named_ways("all")) == list(WAYS)
    assert named_ways("unnamed,keywords") == ["unnamed", "keywords"]
    with pytest.raises(ValueError, match="'sung'"):
        named_ways("unnamed,sung")


def test_a_set_that_nothing_is_held_out_of_is_not_held_out_sent_otherwise() -> None:
    both = next(one for one in SYSTEMS if one.name == "both")
    assert not both.held_out("locomo-unnamed") and both.held_out("beam-unnamed")


def row(any_at_10: float) -> dict[str, float]:
    return {"any@10": any_at_10, "mrr@10": 50.0}


RESULT: dict[str, Any] = {
    "settings": {"chats": {"talks-as-it-is": [1, 2], "talks-unnamed": [1, 2]}},
    "sets": {
        "talks-as-it-is": {"tuned": {"systems": {"BM25": row(40.0), "RRF": row(50.0), "both": row(60.0)}}},
        "talks-unnamed": {"tuned": {"systems": {"BM25": row(39.0), "RRF": row(49.0), "both": row(48.0)}}},
    },
}


def test_a_row_a_way(tmp_path: Path) -> None:
    table = list(ways_table(RESULT))
    assert table == [
        "| any@10 / MRR@10 | talks 1-2: both | talks 1-2: RRF | talks 1-2: BM25 |",
        "| --- | --- | --- | --- |",
        "| as it is | 60.0 / 50.0 | 50.0 / 50.0 | 40.0 / 50.0 |",
        "| no `name` on any event | 48.0 / 50.0 | 49.0 / 50.0 | 39.0 / 50.0 |",
    ]
    document = tmp_path / "page"
    document.write_text(f"before\n{BEGIN_WAYS}\nold\n{END_WAYS}\nafter\n")
    write_ways(RESULT, document)
    assert document.read_text().split("\n") == ["before", BEGIN_WAYS, *table, END_WAYS, "after", ""]


def test_who_is_behind_is_said() -> None:
    assert list(behind(RESULT)) == ["talks-unnamed 1-2: any@10 of both is 48.0, of RRF 49.0"]
