"""Rows E06 and E07 of docs/features.md: how far memory is behind what was said, and words that wait for no vector."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, user_message

WORKERS = ("outbox", "index", "embed", "extract", "compact")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
NONE = {"events": 0, "unindexed": 0, "unembedded": 0, "unobserved": 0, "seconds": 0}
HEADER = "x-neve-memory-lag"
DRAIN = "/v1/admin/embeddings/drain"


def numbers(header: str) -> dict[str, int]:
    """What the header says."""
    return {name: int(value) for name, _, value in (part.partition("=") for part in header.split(", "))}


def conversation() -> list[Json]:
    """Five turns."""
    return [event for n in range(5) for event in (user_message(f"I paddled kayak number {n}."), answered("Splendid."))]


@pytest.mark.controls
def test_e06_what_is_behind_is_told_until_it_is_not(user: Person, api: ApiClient, controls: Controls) -> None:
    user.open("s1")
    etag = user.read_pack("s1", format="text").headers["etag"]
    controls.freeze(NOW)
    with ExitStack() as paused:
        for worker in WORKERS:
            paused.enter_context(controls.paused(worker))
        user.append("s1", *conversation())
        controls.advance(30)
        behind = {"events": 10, "unindexed": 10, "unembedded": 10, "unobserved": 10, "seconds": 30}
        assert user.session("s1")["memory_lag"] == behind
        assert user.open("s1")["session"]["memory_lag"] == behind
        assert user.expect(200, "GET", "/stats")["memory_lag"] == behind
        assert user.context("s1", "Kayak?", retrieval="none")["memory_lag"] == behind
        again = user.read_pack("s1", format="text", etag=etag)
        assert (again.status, numbers(again.headers[HEADER])) == (304, behind), "outside the ETag"
        assert numbers(user.read_pack().headers[HEADER]) == behind, "without a session it is the user's"

        opened = user.open("s2")
        assert opened["session"]["memory_lag"] == behind, "of the user"
        assert user.context("s2", "Kayak?", retrieval="none")["memory_lag"] == NONE, "of the session"
        assert numbers(user.read_pack("s2").headers[HEADER]) == NONE

        elsewhere = user.recall("kayak")
        assert (elsewhere["hits"], elsewhere["degraded"], elsewhere["memory_lag"]) == ([], ["index:behind"], behind)
        assert elsewhere["result_state"] == "none"
        here = user.recall("kayak", session_id="s1")
        assert len(here["hits"]) == 5 and here["degraded"] == [], "the tail covers the session"
        assert user.recall("kayak", sources=["memory"])["degraded"] == [], "utterances were not asked for"

        memory_id = user.remember("User sold kayak number 7.")["id"]
        more = behind | {"unindexed": 11, "unembedded": 11}
        assert user.expect(200, "GET", "/stats")["memory_lag"] == more
        assert user.recalled("kayak", sources=["memory"]) == [memory_id]
        drain = api.expect(202, "POST", DRAIN, {"user_id": user.id, "wait_s": 0.1})
        assert (drain["status"], drain["result"]["pending"]) == ("running", 11)
    controls.drain()
    assert user.session("s1")["memory_lag"] == NONE
    assert user.expect(200, "GET", "/stats")["memory_lag"] == NONE
    assert numbers(user.read_pack("s1").headers[HEADER]) == NONE
    found = user.recall("kayak", limit=20)
    assert found["degraded"] == [] and "memory_lag" not in found
    assert {hit["seq"] for hit in found["hits"] if hit["source"] == "event"} >= {1, 3, 5, 7, 9}
    ended = api.expect(200, "GET", f"/v1/admin/jobs/{drain['id']}")
    assert (ended["status"], ended["result"]["pending"]) == ("done", 0)


@pytest.mark.controls
def test_e06_a_log_longer_than_its_tail_is_behind_for_its_own_session_too(user: Person, controls: Controls) -> None:
    user.open_without_pack("s1")
    with controls.paused("index"):
        user.append("s1", *(user_message(f"I own lamp number {n}.") for n in range(48)))
        user.append("s1", *(user_message(f"I own lamp number {n}.") for n in range(48, 60)))
        answer = user.recall("lamp number 2", session_id="s1")
        assert answer["degraded"] == ["index:behind"] and answer["memory_lag"]["events"] == 60
    controls.drain()
    assert user.recall("lamp number 2", session_id="s1")["degraded"] == []


@pytest.mark.controls
def test_e06_more_new_memories_than_a_recall_reads_are_not_nothing(user: Person, controls: Controls) -> None:
    """The 200 newest compete by themselves; the first of 206 is not among them."""
    with controls.paused("outbox"), controls.paused("index"):
        user.bring_in(*({"id": f"row{n}", "text": f"Lamp number {n}."} for n in range(200)))
        assert user.recall("walrus", mode="tool")["degraded"] == []
        user.bring_in(*({"id": f"more{n}", "text": f"Kayak number {n}."} for n in range(6)))
        answer = user.recall("walrus", mode="tool")
        assert (answer["result_state"], answer["degraded"]) == ("none", ["index:behind"])
        assert (answer["memory_lag"]["unindexed"], answer["memory_lag"].get("at_least")) == (206, None)
    controls.drain()
    assert user.recall("walrus", mode="tool")["degraded"] == []


@pytest.mark.controls
def test_e06_a_batch_that_the_stream_gave_up_is_found_by_the_sweep(user: Person, controls: Controls) -> None:
    """Its message waits in the DLQ of the outbox: nobody has to redrive it for the memory to be whole."""
    user.open_without_pack("s1")
    controls.freeze(NOW)
    controls.fault("queue", "error")
    user.append("s1", user_message("I moved to Bergen."), answered("Noted."))
    controls.drain()
    assert user.session("s1")["memory_lag"]["events"] == 2
    controls.faults()
    controls.advance(9 * 60)
    controls.run("sweep")
    controls.drain()
    assert user.session("s1")["memory_lag"]["events"] == 2, "it may still be on its way"
    controls.advance(2 * 60)
    controls.run("sweep")
    controls.drain()
    assert user.session("s1")["memory_lag"] == NONE
    assert user.recalled("Bergen", sources=["event"])[0] == "evt:s1:1"
    assert [row["text"] for row in user.memories()], "and it was observed"


@pytest.mark.controls
def test_e07_words_wait_for_no_vector(
    person: Callable[[ApiClient], Person], api: ApiClient, controls: Controls
) -> None:
    people = [person(api) for _ in range(4)]
    with controls.paused("embed"):
        for someone in people:
            someone.open_without_pack("s1")
            for part in range(5):
                lines = [user_message(f"Lamp {part * 40 + n} hangs in room {someone.id[-6:]}.") for n in range(40)]
                someone.append("s1", *lines)
        controls.drain()
        assert controls.queues()["index"]["visible"] == 0
        for someone in people:
            answer = someone.recall("lamp 173", legs=["lexical"])
            assert (answer["hits"][0]["seq"], answer["degraded"]) == (174, [])
            lag = someone.session("s1")["memory_lag"]
            assert (lag["events"], lag["unembedded"]) == (0, 200)
        assert not any(text.startswith("user: Lamp") for call in controls.calls("embed") for text in call["texts"])
    controls.drain()
    for someone in people:
        answer = someone.recall("lamp 173", legs=["vector"], threshold=0)
        assert answer["hits"] and answer["degraded"] == []
        assert someone.session("s1")["memory_lag"]["unembedded"] == 0
    calls = controls.calls("embed", operation="passages")
    texts = [text for call in calls for text in call["texts"] if text.startswith("user: Lamp")]
    assert len(texts) == len(set(texts)) == 200 * len(people), "each once"
