"""Rows A01 to A14 of docs/features.md: from what was said to observations and reflections."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.at_once import Beside
from tests.http.driving.controls import COMPACT_QUEUE, EXTRACT_QUEUE, Controls
from tests.http.driving.images import IMAGE, PNG, upload
from tests.http.driving.people import (
    Json,
    Person,
    answered,
    events_of,
    filler,
    ids_in_order,
    new_memory_id,
    tokens,
    user_message,
)
from tests.patience import PATIENCE_S

LEASE_S = 70
BETWEEN_LOOKS_S = 0.02
"""Two readers that never pause take a processor from the pass that they wait for."""
"""The worker's timeout of 60 s and 10 s more (docs/rules/observe.md#lease)."""


def observes(*texts: str, first: int = 1, last: int = 2, **more: Any) -> Json:
    """What the model hands in when there is something to remember."""
    lines = [{"text": text, "seq_from": first, "seq_to": last} for text in texts]
    return {"has_memory": True, "observations": lines, **more}


NOTHING = {"has_memory": False, "observations": []}


def turn(word: str) -> list[Json]:
    return [user_message(f"Let me tell you about the {word}."), answered(f"The {word}, noted.")]


def shown(call: Json) -> str:
    """The text of a model request."""
    return "\n".join(block["text"] for block in call["content"] if block["type"] == "text")


def event_text(call: Json) -> str:
    """The part of a request that holds the events."""
    return shown(call).partition("# New events")[2].partition("# End of the new events")[0]


# --- passes -------------------------------------------------------------------------------------


@pytest.mark.controls
def test_a01_a_turn_becomes_one_row_and_nothing_new_costs_nothing(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    user = person(tenant_with(observe_after={"tokens": 0}))
    user.open("s1")
    controls.script(observes("🟡 User keeps bees."))
    appended = user.append("s1", *turn("bees"))
    assert appended == {"seqs": [1, 2], "observation": "queued", "compaction": "none"}
    controls.drain()
    [row] = user.memories()
    assert (row["kind"], row["session_id"], row["text"]) == ("observation", "s1", "🟡 User keeps bees.")
    assert (row["provenance"]["seq_from"], row["provenance"]["seq_to"]) == (1, 2)
    assert row["tags"] == ["observational-memory"]
    assert len(controls.calls("model")) == 1

    controls.script(observes("🟡 This must never be asked for."))
    job = user.observe("s1")
    assert job["status"] == "done"
    assert [row["id"] for row in user.memories()] == [row["id"]]
    assert len(controls.calls("model")) == 1
    assert user.session("s1")["observed_seq"] == 2


@pytest.mark.controls
def test_a01_half_a_turn_is_not_observed_until_somebody_asks(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.script(observes("🟡 User keeps bees.", last=1))
    assert user.append("s1", user_message("I keep bees."))["observation"] == "none"
    controls.drain()
    assert user.memories() == []
    assert controls.calls("model") == []
    assert user.observe("s1")["result"]["written"] == [row["id"] for row in user.memories()]
    assert len(user.memories()) == 1


@pytest.mark.controls
@pytest.mark.usefixtures("workers_awake")
def test_a01_who_asks_for_a_pass_may_wait_for_it(user: Person) -> None:
    """Through the queue that has no delay."""
    user.open_without_pack("s1")
    user.append("s1", user_message("I am allergic to walnuts."))
    job = user.expect(200, "POST", "/sessions/s1/observe", {"wait": True})
    assert (job["status"], job["result"]["observed_seq"]) == ("done", 1)
    [row] = user.memories(kind="observation")
    assert row["id"] in job["result"]["written"]


@pytest.mark.controls
def test_a02_a_tail_without_memory_is_offered_again(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.script(NOTHING)
    user.append("s1", *turn("weather"))
    controls.drain()
    assert user.memories() == []
    assert user.session("s1")["observed_seq"] == 0

    controls.script(observes("🔴 User is moving to Oslo.", last=4))
    user.append("s1", *turn("move"))
    controls.drain()
    [row] = user.memories()
    assert (row["provenance"]["seq_from"], row["provenance"]["seq_to"]) == (1, 4)
    first, second = controls.calls("model")
    assert "the weather." in event_text(first)
    assert "the move." not in event_text(first)
    assert "the weather." in event_text(second)
    assert "the move." in event_text(second)
    assert user.session("s1")["observed_seq"] == 4


@pytest.mark.controls
def test_a02_after_three_empty_offers_the_marker_moves_on(user: Person, controls: Controls) -> None:
    user.open("s1")
    for offer, word in enumerate(("rain", "sun", "wind"), start=1):
        assert user.session("s1")["observed_seq"] == 0
        controls.script(NOTHING)
        user.append("s1", *turn(word))
        controls.drain()
        assert len(controls.calls("model")) == offer
    assert user.session("s1")["observed_seq"] == 6
    assert user.memories() == []


@pytest.mark.controls
def test_a03_a_message_delivered_ten_times_is_observed_once(user: Person, controls: Controls) -> None:
    user.open("s1")
    before = sum(controls.queues()[EXTRACT_QUEUE].values())  # what other tests let die
    controls.hold("extract")
    controls.script(observes("🟡 User keeps bees."), *[observes("🟡 A second time.")] * 12)
    user.append("s1", *turn("bees"))
    with controls.draining():
        controls.wait_until_held("extract")
        assert controls.redeliver(EXTRACT_QUEUE) == 0, "to find the session busy is no failure"
        assert user.session("s1")["observed_seq"] == 0, "a second pass beside the first must not be let in"
        waiting = controls.queues()[EXTRACT_QUEUE]
        assert waiting["visible"] + waiting["delayed"] == 1, "the second delivery is put off"
        controls.resume("extract")
    assert sum(controls.drain()["queues"][EXTRACT_QUEUE].values()) == before
    assert user.session("s1")["observed_seq"] == 2

    assert controls.redeliver(EXTRACT_QUEUE, times=10, concurrent=2) == 0
    assert [row["text"] for row in user.memories()] == ["🟡 User keeps bees."]
    assert len(controls.calls("model")) == 1
    assert user.session("s1")["observed_seq"] == 2


@pytest.mark.controls
def test_a03_a_compaction_that_meets_a_pass_is_put_off_until_it_is_over(user: Person, controls: Controls) -> None:
    user.open("s1")
    assert user.compact("s1")["status"] == "done"
    before = _in_queues(controls.queues())  # what other tests let die
    controls.hold("extract")
    controls.script(observes("🟡 User keeps bees."), *[observes("🟡 A second time.")] * 9)
    user.append("s1", *turn("bees"))
    with controls.draining():
        controls.wait_until_held("extract")
        assert controls.redeliver(COMPACT_QUEUE, times=8) == 0, "to find the session busy is no failure"
        job = user.expect(202, "POST", "/sessions/s1/compact", {"reason": "manual"})
        assert user.session("s1")["observed_seq"] == 0
        controls.resume("extract")
    assert _in_queues(controls.drain()["queues"]) == before, "and none is dead"
    assert user.expect(200, "GET", f"/jobs/{job['id']}")["status"] == "done"
    assert [row["text"] for row in user.memories()] == ["🟡 User keeps bees."]
    assert len(controls.calls("model")) == 1


def _in_queues(queues: dict[str, dict[str, int]]) -> int:
    """Of passes and compactions, dead letters included."""
    return sum([*queues[EXTRACT_QUEUE].values(), *queues[COMPACT_QUEUE].values()])


@pytest.mark.controls
def test_a04_a_pass_that_outlives_its_lease_writes_nothing(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.freeze(datetime.now(UTC))
    controls.hold("extract")
    controls.script(observes("🟡 Written by the pass in time."), observes("🟡 Written by the late pass."))
    user.append("s1", *turn("bees"))
    with controls.draining():
        controls.wait_until_held("extract")
        controls.advance(LEASE_S + 1)
        assert controls.redeliver(EXTRACT_QUEUE) == 0
        assert [row["text"] for row in user.memories()] == ["🟡 Written by the pass in time."]
        controls.resume("extract")
    controls.drain()
    outcomes = [(call["answered_by"], call["outcome"]) for call in controls.calls("model")]
    assert outcomes == [("scripted", "ok")] * 2, "the late pass must have had its answer"
    assert [row["text"] for row in user.memories()] == ["🟡 Written by the pass in time."]
    assert user.session("s1")["observed_seq"] == 2


# --- what a row is ------------------------------------------------------------------------------


@pytest.mark.controls
def test_a05_the_mark_in_the_text_is_the_priority(user: Person, controls: Controls) -> None:
    expected = {
        "🔴 User is allergic to hazelnuts.": "high",
        "✅ shipped": "high",
        "🟡 User is planning a trip.": "medium",
        "🟢 User may like jazz.": "low",
    }
    user.open("s1")
    for place, text in enumerate(expected):
        controls.script(observes(text, first=2 * place + 1, last=2 * place + 2))
        user.append("s1", *turn(f"matter {place}"))
        controls.drain()
    assert {row["text"]: row["priority"] for row in user.memories()} == expected
    assert [row["priority"] for row in user.memories()] == list(expected.values())


@pytest.mark.live
def test_a06_relative_dates_are_resolved_against_the_time_of_the_event(user: Person) -> None:
    user.open("s1")
    user.append(
        "s1",
        user_message("I have a dentist appointment tomorrow, please remember that.", created_at="2026-03-10T09:30:00Z"),
        answered("I will.", created_at="2026-03-10T09:30:05Z"),
    )
    user.observe("s1")
    [row] = user.memories(kind="observation")
    assert "2026-03-11" in row["text"]
    assert "dentist" in row["text"]
    assert row["observed_date"] == "2026-03-10"
    assert row["time_of_day"] == "morning"
    assert (row["referenced_date"], row["relative_date"]) == ("2026-03-11", "P1D")


@pytest.mark.live
def test_a06_the_days_are_those_of_the_users_time_zone(user: Person) -> None:
    user.open("s1", user_meta={"timezone": "Asia/Tokyo"})
    user.append(
        "s1",
        user_message("I have a dentist appointment tomorrow, please remember that.", created_at="2026-03-10T20:00:00Z"),
        answered("I will.", created_at="2026-03-10T20:00:05Z"),
    )
    user.observe("s1")
    [row] = user.memories(kind="observation")
    assert "2026-03-12" in row["text"], "in Tokyo it was the 11th already"
    assert row["observed_date"] == "2026-03-11"


@pytest.mark.controls
def test_a07_an_image_is_shown_behind_its_text_and_kept_as_prose(user: Person, controls: Controls) -> None:
    user.open("s1")
    picture = [
        {"type": "text", "text": "This is my new bike."},
        IMAGE,
    ]
    controls.script(observes("🟡 User shows a photo of a red bicycle with a basket."))
    user.append("s1", user_message(picture), answered("Lovely!"))
    controls.drain()

    [call] = controls.calls("model")
    [place] = [n for n, block in enumerate(call["content"]) if block["type"] == "image"]
    before, image, after = call["content"][place - 1 : place + 2]
    assert image["data"] == PNG
    assert image["media_type"] == "image/png"
    assert before["text"].endswith("This is my new bike.")
    assert "Lovely!" in after["text"]

    [row] = user.memories()
    assert row["text"] == "🟡 User shows a photo of a red bicycle with a basket."
    [first, _] = user.events("s1")
    assert first["content"][1].keys() == {"type", "media_type", "upload_id"}
    assert first["original_tokens"] == 1_600 + tokens("This is my new bike.")
    assert controls.files_with("This is my new bike.") != [], "the search must be able to find what is there"
    assert controls.files_with(PNG[100:160]) == []


@pytest.mark.controls
def test_a07_an_uploaded_image_is_shown_like_one_that_was_sent(
    user: Person, controls: Controls, api: ApiClient
) -> None:
    user.open("s1")
    target = user.expect(201, "POST", "/uploads", {"media_type": "image/png"})
    assert target["method"] == "PUT"
    path = "/" + target["url"].split("://", 1)[1].partition("/")[2]
    with closing(ApiClient(target["url"].removesuffix(path))) as bucket:
        stored = bucket.call("PUT", path, raw=base64.b64decode(PNG), headers=target["headers"])
    assert stored.status == 200, stored.text
    controls.script(observes("🟡 User shows a red bicycle.", last=1))
    block = {"type": "image", "media_type": "image/png", "upload_id": target["upload_id"]}
    user.append("s1", user_message([block]), answered("Lovely!"))
    controls.drain()
    [call] = controls.calls("model")
    assert [block["data"] for block in call["content"] if block["type"] == "image"] == [PNG]


@pytest.mark.controls
def test_a08_what_memory_rendered_is_not_observed_again(user: Person, controls: Controls) -> None:
    user.open("s1")
    rendered = '<neve-memory format="1"><global>User breeds xylophagous moths</global></neve-memory>'
    controls.script(observes("🟡 User's aunt is a glazier."))
    user.append("s1", user_message(f"My aunt is a glazier. {rendered}"), answered("I see."))
    controls.drain()
    [call] = controls.calls("model")
    assert "My aunt is a glazier." in shown(call)
    assert "xylophagous" not in json.dumps(call["content"])
    embedded = json.dumps([call["texts"] for call in controls.calls("embed")])
    assert "aunt is a glazier" in embedded
    assert "xylophagous" not in embedded
    assert user.recalled("glazier", sources=["event"])[0] == "evt:s1:1"
    assert user.recalled("xylophagous moths") == []
    assert user.events("s1")[0]["original_tokens"] == tokens("My aunt is a glazier. ")


@pytest.mark.controls
def test_a08_an_event_that_is_nothing_else_is_skipped(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.script(observes("🟡 This must never be asked for."))
    user.append("s1", user_message("<neve-retrieved>User breeds moths</neve-retrieved>"))
    assert user.observe("s1")["result"]["passes"] == 0
    assert controls.calls("model") == []
    assert user.memories() == []
    assert user.session("s1")["observed_seq"] == 1


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.controls
def test_a09_a_long_tail_takes_consecutive_passes(user: Person, controls: Controls) -> None:
    user.open("s1")
    markers = [f"marker{n:02d}x" for n in range(12)]
    texts = [f"{marker} {filler(5_000 - 4)}"[:16_000] for marker in markers]
    assert sum(map(tokens, texts)) == 60_000
    events = [user_message(text) if n % 2 == 0 else answered(text) for n, text in enumerate(texts)]
    controls.script(observes("🟡 The first part.", first=1, last=12), observes("🟡 The second part.", first=1, last=12))
    user.append("s1", *events)
    controls.drain()

    requests = controls.calls("model")
    assert len(requests) == 2
    assert all(tokens(event_text(request)) <= 35_000 for request in requests)
    holding = [[n for n, request in enumerate(requests) if marker in event_text(request)] for marker in markers]
    assert all(len(where) == 1 for where in holding), "every event is in exactly one request"
    assert holding == sorted(holding), "oldest first"
    first, second = [(row["provenance"]["seq_from"], row["provenance"]["seq_to"]) for row in user.memories()]
    assert first == (1, sum(where == [0] for where in holding))
    assert second == (first[1] + 1, 12)
    assert user.session("s1")["observed_seq"] == 12


@pytest.mark.controls
def test_a10_an_answer_over_the_budget_is_asked_again_and_trimmed(user: Person, controls: Controls) -> None:
    user.open("s1")

    def long_answer(word: str) -> Json:
        half = filler(2_000, word=word)
        return observes(*[f"{n} {half[:-1]}\n{half}" for n in range(5)])

    controls.script(long_answer("first"), long_answer("second"), observes("🟡 A third is never asked for."))
    user.append("s1", *turn("war and peace"))
    controls.drain()
    first, second = controls.calls("model")
    sent = "\n".join(line["text"] for line in long_answer("first")["observations"])
    assert f"{tokens(sent)} tokens" in shown(second)
    assert "8000 tokens" in shown(second)
    assert f"{tokens(sent)} tokens" not in shown(first)
    [row] = user.memories()
    assert tokens(row["text"]) <= 8_000
    assert row["tokens"] == tokens(row["text"])
    assert row["tokens"] > 7_000, "a trim cuts to the budget, not to nothing"
    assert "second" in row["text"]
    assert "first" not in row["text"]


@pytest.mark.controls
def test_a10_an_answer_is_measured_before_its_lines_are_capped(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.script(observes(filler(20_000, word="first")), observes(filler(20_000, word="second")))
    user.append("s1", *turn("war and peace"))
    controls.drain()
    first, second = controls.calls("model")
    assert "20000 tokens" not in shown(first)
    assert "20000 tokens" in shown(second)
    [row] = user.memories()
    assert len(row["text"]) == 10_000
    assert row["text"].startswith("second")


# --- citation -----------------------------------------------------------------------------------


@pytest.mark.controls
def test_a11_only_the_citation_of_a_shown_row_moves_last_used_at(user: Person, controls: Controls) -> None:
    controls.freeze("2026-06-01T10:00:00Z")
    user.open("s1")
    not_shown = user.remember("User collects harpsichords.")["id"]
    controls.script(observes("🟡 User keeps bees in Porto."))
    user.append("s1", *turn("bees"))
    controls.drain()
    [shown_row] = [row["id"] for row in user.memories(kind="observation")]

    controls.advance(3_600)
    unknown = new_memory_id()
    controls.script(
        observes("🟡 User sold the honey.", first=3, last=4, used_memory_ids=[shown_row, unknown, not_shown])
    )
    user.append("s1", *turn("honey"))
    controls.drain()
    assert f"[memory id: {shown_row}]" in shown(controls.calls("model")[-1])
    assert not_shown not in shown(controls.calls("model")[-1])
    assert user.memory(shown_row)["last_used_at"] == "2026-06-01T11:00:00.000Z"
    assert user.memory(not_shown)["last_used_at"] == "2026-06-01T10:00:00.000Z"
    assert user.memory(shown_row)["rev"] == 1

    controls.advance(3_600)
    assert shown_row in user.recalled("bees in Porto", sources=["memory"])
    controls.drain()
    user.pack_text("s1")
    user.memories()
    assert user.memory(shown_row)["last_used_at"] == "2026-06-01T11:00:00.000Z"
    assert user.memory(shown_row)["last_accessed_at"] == "2026-06-01T12:00:00.000Z"


@pytest.mark.controls
def test_a11_the_caller_may_cite_too(user: Person, controls: Controls) -> None:
    controls.freeze("2026-06-01T10:00:00Z")
    cited, other = user.remember("User keeps bees.")["id"], user.remember("User collects harpsichords.")["id"]
    controls.advance(60)
    unknown = new_memory_id()
    answer = user.expect(200, "POST", "/memories/used", {"ids": [cited, unknown, cited]})
    assert answer == {"used": [cited], "unknown": [unknown]}
    assert user.memory(cited)["last_used_at"] == "2026-06-01T10:01:00.000Z"
    assert user.memory(other)["last_used_at"] == "2026-06-01T10:00:00.000Z"
    assert user.memory(cited)["rev"] == 1


@pytest.mark.controls
def test_a11_a_citation_counts_although_nothing_was_worth_a_row(user: Person, controls: Controls) -> None:
    controls.freeze("2026-06-01T10:00:00Z")
    user.open("s1")
    controls.script(observes("🟡 User keeps bees."))
    user.append("s1", *turn("bees"))
    controls.drain()
    [row] = user.memories()
    controls.advance(60)
    controls.script({**NOTHING, "used_memory_ids": [row["id"]]})
    user.append("s1", *turn("bees again"))
    controls.drain()
    [same] = user.memories()
    assert (same["id"], same["last_used_at"]) == (row["id"], "2026-06-01T10:01:00.000Z")


@pytest.mark.controls
def test_a12_prior_rows_are_shown_with_their_ids(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.script(observes("🟡 User keeps bees."), observes("🟡 User sold the honey.", first=3, last=4))
    user.append("s1", *turn("bees"))
    controls.drain()
    [row] = user.memories()
    user.append("s1", *turn("honey"))
    controls.drain()
    first, second = map(shown, controls.calls("model"))
    assert "[memory id:" not in first
    assert f"[memory id: {row['id']}]\n🟡 User keeps bees." in second
    assert second.index(row["id"]) < second.index("# New events")


@pytest.mark.controls
def test_a12_prior_rows_take_4000_tokens_half_of_it_local(user: Person, controls: Controls) -> None:
    user.bring_in(*[{"text": f"G{n:02d}{filler(299)}"[:960], "kind": "observation"} for n in range(30)])
    user.open_without_pack("s1")
    local = [f"L{n:02d}{filler(299)}"[:960] for n in range(30)]
    user.bring_in(*[{"text": text, "kind": "observation", "session_id": "s1"} for text in local])
    assert user.pack("s1")["layers"]["global"], "there must be frozen global rows to show"
    controls.script(observes("🟡 User keeps bees."))
    user.append("s1", *turn("bees"))
    controls.drain()
    [request] = controls.calls("model")
    prior = shown(request).partition("# New events")[0]
    texts = [row.partition("]\n")[2].strip() for row in prior.split("[memory id: ")[1:]]
    assert sum(map(tokens, texts)) <= 4_000
    of_session = [text for text in texts if text.startswith("L")]
    assert sum(map(tokens, of_session)) >= 2_000 - 300, "local rows take at least half, to a row"
    assert any(text.startswith("G") for text in texts)
    assert of_session[-1] == local[-1].strip(), "the newest local rows are preferred"


# --- reflection ---------------------------------------------------------------------------------


@pytest.fixture
def small(tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]) -> Person:
    """A user whose context window has 2,000 tokens: reflection at 650, to 325."""
    return person(tenant_with(window=2_000))


def grown(user: Person, session: str, ids: list[str], *, each: int) -> None:
    """A session with one observation row an id, of ``each`` tokens, two events a row."""
    user.open(session)
    user.append(session, *[event for n in range(len(ids)) for event in turn(f"matter {n}")])
    rows = [
        {
            "id": memory_id,
            "text": f"🟡 {filler(each - 2)}"[: each * 16 // 5],
            "kind": "observation",
            "session_id": session,
            "provenance": {"seq_from": 2 * n + 1, "seq_to": 2 * n + 2},
        }
        for n, memory_id in enumerate(ids)
    ]
    user.bring_in(*rows)


@pytest.mark.controls
def test_a13_a_session_that_outgrows_its_share_is_folded(small: Person, controls: Controls) -> None:
    controls.pause("extract")
    controls.pause("compact")  # to open another session asks for the pass there
    ids = ids_in_order(2)
    grown(small, "s1", ids, each=350)
    note = small.remember("A note in the session.", kind="note", session_id="s1")["id"]
    manual = small.remember("A person wrote this.", session_id="s1")["id"]
    small.open("s2")
    [elsewhere] = small.bring_in({"text": f"🟡 {filler(300)}", "kind": "observation", "session_id": "s2"})
    controls.script(
        NOTHING,
        {
            "rows": [
                {"text": "🔴 From the first.", "group_ids": [ids[0]]},
                {"text": "🟡 From both.", "group_ids": ids},
                {"text": "🟡 From who knows.", "group_ids": ["mem_unknown"]},
            ]
        },
    )
    controls.resume("extract")  # alone: the script is of one pass
    controls.drain()

    rows = {row["id"]: row for row in small.memories(session_id="s1")}
    new = [row for row in rows.values() if row["kind"] == "reflection"]
    assert [row["text"] for row in new] == ["🔴 From the first.", "🟡 From both.", "🟡 From who knows."]
    assert set(rows) == {note, manual, *[row["id"] for row in new]}
    assert {row["priority"] for row in new} == {"high"}
    ranges = [(row["provenance"]["seq_from"], row["provenance"]["seq_to"]) for row in new]
    assert ranges == [(1, 2), (1, 4), (1, 4)]
    assert {tag for row in new for tag in row["tags"]} == {"observational-memory", "reflection"}
    assert sum(row["tokens"] for row in new) <= 325
    for memory_id in ids:
        old = small.memory(memory_id)
        assert old["status"] == "superseded"
        assert old["superseded_by"] in {row["id"] for row in new}
    other = small.memory(elsewhere)
    assert (other["status"], other["rev"]) == ("active", 1)
    assert {rows[note]["status"], rows[manual]["status"]} == {"active"}
    assert [version["trigger"] for version in small.versions("s1")] == ["initial", "reflection"]
    assert "From the first." in small.pack_text("s1")


@pytest.mark.controls
def test_a13_below_the_trigger_nothing_is_folded(small: Person, controls: Controls) -> None:
    controls.pause("extract")
    grown(small, "s1", ids_in_order(2), each=324)
    controls.script(NOTHING, {"rows": [{"text": "🔴 This must never be asked for."}]})
    controls.resume("extract")
    controls.drain()
    assert [call["purpose"] for call in controls.calls("model")] == ["observe"]
    assert {row["kind"] for row in small.memories()} == {"observation"}


@pytest.mark.controls
def test_a13_over_the_target_there_is_one_retry_then_trailing_rows_go(small: Person, controls: Controls) -> None:
    controls.pause("extract")
    grown(small, "s1", ids_in_order(2), each=350)
    too_much = {"rows": [{"text": f"🟡 row {n} {filler(190)}"} for n in range(3)]}
    controls.script(NOTHING, too_much, too_much, {"rows": [{"text": "🟡 A third is never asked for."}]})
    controls.resume("extract")
    controls.drain()
    assert [call["purpose"] for call in controls.calls("model")] == ["observe", "reflect", "reflect"]
    assert "325 tokens" in shown(controls.calls("model")[-1])
    [reflection] = small.memories(kind="reflection")
    assert reflection["text"].startswith("🟡 row 0")


@pytest.mark.controls
def test_a13_a_model_that_returns_nothing_changes_nothing(small: Person, controls: Controls) -> None:
    controls.pause("extract")
    ids = ids_in_order(2)
    grown(small, "s1", ids, each=350)
    controls.script(NOTHING, {"rows": []})
    controls.resume("extract")
    controls.drain()
    assert [row["id"] for row in small.memories()] == ids
    assert [version["trigger"] for version in small.versions("s1")] == ["initial"]


@pytest.mark.controls
def test_a13_who_asks_while_it_folds_hears_what_was_written(small: Person, controls: Controls) -> None:
    small.open("s1")
    controls.script(observes(filler(700)), purpose="observe")
    controls.script({"rows": [{"text": "🔴 folded"}]}, purpose="reflect")
    controls.pause("extract")
    controls.hold("compact")
    small.append("s1", *turn("harbour"))
    observe = "/sessions/s1/observe"
    with Beside(lambda: small.call("POST", observe, {"wait": True}), small.api):
        controls.wait_until_held("compact")
        controls.hold("compact")
        controls.resume("compact")
        controls.wait_until_held("compact")  # the pass is committed, and the reflection begins
        controls.resume("extract")
        controls.drain()  # the copy of the message that the turn had queued
        job = small.expect(200, "POST", observe, {})
        controls.resume("compact")
    controls.drain()
    [written] = job["result"]["written"]
    assert small.memory(written)["kind"] == "observation"
    assert "reason" not in job["result"]
    [reflection] = small.memories(kind="reflection")
    assert small.ended(job["id"])["result"]["reflections"] == [reflection["id"]]


@pytest.mark.controls
def test_a14_readers_see_the_old_rows_or_the_new_ones(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    policy = {"window": 100_000, "session_reflection_trigger": 700, "session_reflection_target": 350}
    someone = person(tenant_with(**policy))
    controls.pause("extract")
    someone.open("s1")
    someone.append("s1", *events_of(("Hello.", "Hi.")))
    old_ids = someone.bring_in(
        *[{"text": f"🟡 old row {n:03d}", "kind": "observation", "session_id": "s1"} for n in range(150)]
    )
    assert sum(row["tokens"] for row in someone.memories()) >= 700
    reflections = [f"🔴 new row {n}" for n in range(6)]
    controls.script(NOTHING, {"rows": [{"text": text} for text in reflections]})
    old = frozenset(f"old row {n:03d}" for n in range(150))
    new = frozenset(text.removeprefix("🔴 ") for text in reflections)

    seen: list[frozenset[str]] = []
    begun, enough = threading.Barrier(3), threading.Event()

    def look() -> None:
        begun.wait(PATIENCE_S)
        while not enough.is_set():
            listed = someone.expect(200, "GET", "/memories", query={"session_id": "s1", "limit": 200})["memories"]
            seen.append(frozenset(row["text"].split(" ", 1)[1] for row in listed))
            pack = someone.pack_text().splitlines()
            shown = (line.partition(" row ") for line in pack)
            seen.append(frozenset(f"{said.split(' ')[-1]} row {n}" for said, row, n in shown if row))
            enough.wait(BETWEEN_LOOKS_S)

    with Beside(look, someone.api), Beside(look, someone.api):
        begun.wait(PATIENCE_S)
        controls.resume("extract")
        controls.drain()
        enough.set()
    after = someone.memories()
    assert [row["text"] for row in after] == reflections
    assert set(seen) == {old, new}, [len(rows) for rows in set(seen)]
    assert seen.index(new) > 2, "the reading must have begun before the replacement"
    assert old_ids[0] not in {row["id"] for row in after}


# --- what a burst and a bad event may not lose ------------------------------------------------------

FACTS = (
    "I'm allergic to penicillin.",
    "My sister Mary lives in Leeds.",
    "I work as a nurse.",
    "I have two cats.",
    "I love herring.",
    "I drive a blue Honda.",
    "I bought a boat yesterday.",
    "I play the cello.",
    "I can't stand coriander.",
)


_FOODS = """
apricots beetroot cherries damsons eggplant fennel garlic hazelnuts ice-cream jackfruit kale lentils mangoes nectarines
olives parsnips quinoa radishes spinach turnips unagi venison walnuts xigua yams zucchini artichokes blueberries celery
dumplings
"""
FOODS = _FOODS.split()


def statements(user: Person) -> list[str]:
    return [line for row in user.memories(kind="observation") for line in row["text"].splitlines()]


@pytest.mark.live
def test_e09_nine_facts_in_one_append_are_nine_statements(user: Person) -> None:
    user.open("s1")
    user.append("s1", *(user_message(fact) for fact in FACTS))
    assert user.observe("s1")["status"] == "done"
    stated = statements(user)
    assert len(stated) == 9
    for word in ("penicillin", "Mary", "nurse", "cats", "herring", "Honda", "boat", "cello", "coriander"):
        assert sum(word in line for line in stated) == 1, word
    assert user.session("s1")["observed_seq"] == 9


@pytest.mark.live
def test_e09_thirty_preferences_survive_a_compaction(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    policy = {"window": 400, "session_reflection_trigger": 330, "session_reflection_target": 165}
    someone = person(tenant_with(**policy))
    someone.open("s1")
    someone.append("s1", *(user_message(f"I love {food}.") for food in FOODS))
    job = someone.compact("s1")
    assert (job["status"], job["result"]["outcome"]) == ("done", "covered")
    everything = "\n".join([*statements(someone), someone.pack_text("s1")])
    assert [food for food in FOODS if food not in everything] == []


@pytest.mark.controls
def test_e09_the_next_pass_begins_where_the_model_stopped_and_says_nothing_twice(
    user: Person, controls: Controls
) -> None:
    user.open("s1")
    lines = [{"text": f"🟡 fact {n}", "seq_from": n, "seq_to": n} for n in range(1, 10)]
    controls.script(
        {"has_memory": True, "observations": lines[:5], "covered_to": 4},
        {"has_memory": True, "observations": lines[4:]},
    )
    user.append("s1", *(user_message(fact) for fact in FACTS), answered())
    controls.drain()
    first, second = controls.calls("model")
    assert "#1: " in event_text(first)
    assert "#9: " in event_text(first)
    assert "#4: " not in event_text(second)
    assert "#5: " in event_text(second)
    assert statements(user) == [f"🟡 fact {n}" for n in range(1, 10)]
    ranges = [(row["provenance"]["seq_from"], row["provenance"]["seq_to"]) for row in user.memories()]
    assert ranges == [(1, 4), (5, 10)]
    assert user.session("s1")["observed_seq"] == 10


@pytest.mark.controls
def test_e10_one_bad_event_never_stops_a_session(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.fault("llm", "status:400", match="something unspeakable")
    before = len(controls.logged("event unobservable"))
    facts = [*FACTS[:2], "This is something unspeakable.", *FACTS[2:5]]
    user.append("s1", *(user_message(fact) for fact in facts))
    job = user.observe("s1")
    assert job["status"] == "done"
    [refused] = job["result"]["unobservable"]
    assert refused["seq"] == 3
    assert "400" in refused["reason"]
    marked = {event["seq"]: event["unobservable"]["reason"] for event in user.events("s1") if "unobservable" in event}
    assert marked == {3: refused["reason"]}
    [warning] = controls.logged("event unobservable")[before:]
    assert (warning["level"], warning["seq"]) == ("WARNING", 3)
    assert user.session("s1")["observed_seq"] == 6
    stated = "\n".join(statements(user))
    assert [word for word in ("penicillin", "Mary", "nurse", "cats", "herring") if word not in stated] == []
    assert "unspeakable" not in stated


@pytest.mark.controls
def test_e10_an_event_that_no_answer_can_be_used_about_stops_no_session(user: Person, controls: Controls) -> None:
    before = {name: queue["dlq"] for name, queue in controls.queues().items()}
    user.open("s1")
    out_of_form = {"has_memory": True, "observations": ["no events are named"]}
    controls.script(*[out_of_form] * 40, purpose="observe", when="something unspeakable")
    user.append("s1", user_message("This is something unspeakable."), answered())
    controls.drain()
    user.append("s1", user_message(FACTS[1]), answered())
    controls.drain()
    assert [event["seq"] for event in user.events("s1") if "unobservable" in event] == [1]
    assert "Mary" in "\n".join(statements(user))
    assert user.session("s1")["observed_seq"] >= 3
    user.expect(202, "POST", "/sessions/s1/end", {})
    controls.drain()
    assert user.session("s1")["status"] == "extracted"
    assert {name: queue["dlq"] for name, queue in controls.queues().items()} == before


@pytest.mark.controls
def test_e10_one_bad_line_of_an_answer_costs_only_that_line(user: Person, controls: Controls) -> None:
    user.open("s1")
    bad = {"text": "🟡 out of form", "seq_from": "the first"}
    lines = [{"text": f"🟡 fact {n}", "seq_from": f"#{n}", "seq_to": f"#{n}"} for n in (1, 2)]
    controls.script({"has_memory": True, "observations": [lines[0], bad, lines[1]]})
    user.append("s1", *(user_message(fact) for fact in FACTS[:2]))
    job = user.observe("s1")
    assert (job["status"], job["result"]["lines_not_read"]) == ("done", 1)
    assert statements(user) == ["🟡 fact 1", "🟡 fact 2"]


@pytest.mark.controls
@pytest.mark.parametrize("fault", ["status:400", "status:401"])
def test_e10_a_model_that_refuses_everything_marks_nothing(user: Person, controls: Controls, fault: str) -> None:
    user.open("s1")
    controls.fault("llm", fault)
    user.append("s1", *(user_message(fact) for fact in FACTS))
    job = user.observe("s1")
    assert job["status"] == "failed"
    assert "refused" in job["result"]["reason"]
    assert all("unobservable" not in event for event in user.events("s1"))
    assert user.session("s1")["observed_seq"] == 0
    controls.faults()
    assert user.observe("s1")["status"] == "done"
    assert len(statements(user)) == 9


@pytest.mark.controls
def test_e10_an_image_that_the_model_will_not_see_costs_only_the_image(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.fault("llm", "status:400", match="[image block]")
    picture = [{"type": "text", "text": FACTS[0]}, IMAGE]
    user.append("s1", user_message(picture), user_message(FACTS[1]))
    job = user.observe("s1")
    assert (job["status"], job["result"]["images_left_out"]) == ("done", [1])
    assert "unobservable" not in job["result"]
    assert len(statements(user)) == 2


@pytest.mark.live
def test_e10_bytes_that_are_no_image_are_refused(user: Person) -> None:
    user.open("s1")
    for data, media_type in ((b"<script>alert(1)</script>", "image/png"), (base64.b64decode(PNG), "image/jpeg")):
        block = {"type": "image", "media_type": media_type, "data": base64.b64encode(data).decode()}
        refused = user.call("POST", "/sessions/s1/events", {"events": [user_message("Look:"), user_message([block])]})
        assert (refused.status, refused.json()["code"]) == (422, "validation_failed")
        assert [error["field"] for error in refused.json()["errors"]] == ["events[1].content[0].data"]
    assert user.events("s1") == []


@pytest.mark.live
def test_e10_an_upload_is_looked_at_before_it_is_taken(user: Person) -> None:
    user.open("s1")
    good, send = upload(user, base64.b64decode(PNG))
    assert send(b"something else") in (403, 412), "an address takes one PUT"
    no_image, _ = upload(user, b"%PDF-1.7")
    large, _ = upload(user, base64.b64decode(PNG).ljust(3_932_161, b"."))

    def refusal(upload_id: str) -> tuple[int, str]:
        block = {"type": "image", "media_type": "image/png", "upload_id": upload_id}
        reply = user.call("POST", "/sessions/s1/events", {"events": [user_message([block])]})
        return reply.status, reply.json()["code"]

    assert refusal(no_image) == (422, "validation_failed")
    assert refusal(large) == (413, "image_too_large")
    assert refusal(good[:-1]) == (404, "upload_not_found")
    assert refusal("a") == (404, "upload_not_found")
    assert user.events("s1") == []
    block = {"type": "image", "media_type": "image/png", "upload_id": good}
    user.append("s1", user_message([block]))
    [event] = user.events("s1")
    assert event["content"] == [block]


@pytest.mark.live
def test_e10_an_upload_of_another_length_than_signed_is_refused(user: Person) -> None:
    target = user.expect(201, "POST", "/uploads", {"media_type": "image/png", "size": 100})
    path = "/" + target["url"].split("://", 1)[1].partition("/")[2]
    with closing(ApiClient(target["url"].removesuffix(path))) as bucket:
        statuses = [bucket.call("PUT", path, raw=b"x" * n, headers=target["headers"]).status for n in (101, 99, 100)]
    assert statuses == [403, 403, 200]
    too_large = user.call("POST", "/uploads", {"media_type": "image/png", "size": 4_000_000})
    assert (too_large.status, too_large.json()["code"]) == (413, "image_too_large")
