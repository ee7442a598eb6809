"""The same chats sent otherwise: what changes, what stays, and the table of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evals.retrieval.chats import Chat, Message, Question
from evals.retrieval.playing import SYSTEMS
from evals.retrieval.report import BEGIN_WAYS, END_WAYS, behind, ways_table, write_ways
from evals.retrieval.ways import WAYS, as_sent, named_ways, set_and_way

BEGAN = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)


def message(number: int, session: str, seq: int) -> Message:
    text, name = f"Number {number}, please!", ("Ann", "Bob")[number % 2]
    return Message(f"m{number}", session, seq, number % 2 == 0, name, text, BEGAN + timedelta(days=number))


CHAT = Chat(
    "talks",
    2,
    tuple(message(n, *place) for n, place in enumerate([("s1", 1), ("s1", 2), ("s1", 3), ("s2", 1), ("s2", 2)])),
    (Question("What is the Number of Bob?", "single", frozenset({"m3"})),),
)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_sends_the_same_messages_in_order(way: str) -> None:
    sent = as_sent(way, CHAT)
    assert (sent.id, set_and_way(sent.set)) == (f"talks-{way}-02", ("talks", way))
    assert [(m.id, m.by_user) for m in sent.messages] == [(m.id, m.by_user) for m in CHAT.messages]
    assert [q.evidence for q in sent.questions] == [frozenset({"m3"})]
    times = [m.at for m in sent.messages]
    assert times == sorted(times) and len(set(times)) == len(times)
    for session in {m.session for m in sent.messages}:
        seqs = [m.seq for m in sent.messages if m.session == session]
        assert seqs == list(range(1, len(seqs) + 1)), "as the service will number them"


def test_what_each_changes() -> None:
    sent = {way: as_sent(way, CHAT) for way in WAYS}
    assert sent["as-it-is"].messages == CHAT.messages
    assert {m.name for m in sent["unnamed"].messages} == {None}
    assert {m.session for m in sent["one-session"].messages} == {"all"}
    assert [m.session for m in sent["turn-sessions"].messages] == ["turn-1", "turn-1", "turn-2", "turn-2", "turn-3"]
    assert sent["one-time"].messages[-1].at - BEGAN == timedelta(milliseconds=4)
    assert sent["small-letters"].messages[0].text == "number 0 please"
    assert sent["small-letters"].questions[0].text == "what is the number of bob"
    assert sent["keywords"].questions[0].text == "Number Bob"


def test_what_nothing_would_be_left_of_stays_as_it_is() -> None:
    assert small_letters("?!") == "?!"


def test_small_letters_are_what_people_type() -> None:
    assert small_letters("Don't! See example.com, 1.5 km.") == "dont see example.com 1.5 km"
    assert small_letters("See example.com.", by_user=False) == "See example.com."
    assert small_letters("I did.", by_user=False, name="Bob") == "i did"


def small_letters(text: str, *, by_user: bool = True, name: str | None = None) -> str:
    said = Message("m", "s", 1, by_user, name, text, BEGAN)
    return as_sent("small-letters", Chat("talks", 1, (said,), ())).messages[0].text


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
