"""The row of docs/features.md about outgoing events: the feed."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Json, Person, answered, reflect_job, user_message
from tests.http.outgoing.feeds import feed_behind, feed_of
from tests.patience import PATIENCE_S

JobEnded = Callable[[ApiClient, Json], Json]


def told(user: Person, *wanted: str) -> list[Json]:
    """The user's events, as soon as each of these types is among them."""
    end = time.monotonic() + PATIENCE_S
    while True:
        events = feed_of(user)
        if set(wanted) <= {event["type"] for event in events}:
            return events
        assert time.monotonic() < end, (wanted, events)
        user.settle()


@pytest.mark.live
def test_e14_the_feed_tells_what_became_of_a_memory_in_order(user: Person) -> None:
    user.open("s1")
    first = user.remember("User lives in Lisbon.", kind="fact", category="PLACE")
    path = f"/memories/{first['id']}"
    evolved = user.expect(201, "POST", f"{path}/evolve", {"text": "User lives in Porto.", "reason": "moved"})
    user.expect(200, "DELETE", f"/memories/{evolved['id']}")
    events = told(user, "memory.written", "memory.superseded", "memory.forgotten", "pack.version")
    assert {event["user_id"] for event in events} == {user.id}
    assert [event["type"] for event in events if event["subject"] == first["id"]] == [
        "memory.written",
        "memory.superseded",
    ]
    assert [event["type"] for event in events if event["subject"] == evolved["id"]] == [
        "memory.written",
        "memory.forgotten",
    ]
    [superseded] = [event for event in events if event["type"] == "memory.superseded"]
    assert superseded["data"]["superseded_by"] == evolved["id"]
    assert "Lisbon" not in str(events) and "Porto" not in str(events)
    assert feed_of(user, types="memory.forgotten,pack.version") == [
        event for event in events if event["type"] in ("memory.forgotten", "pack.version")
    ]


@pytest.mark.live
def test_e14_the_feed_tells_of_conversations_that_were_filed_and_of_what_waits(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("I moved to Lisbon, and I am a vegetarian now."), answered())
    user.expect(202, "POST", "/sessions/s1/end", {})
    [waiting] = user.bring_in({"text": "User may sail.", "status": "inbox"})
    events = told(user, "session.extracted", "inbox.waiting", "memory.written")
    [extracted] = [event for event in events if event["type"] == "session.extracted"]
    assert (extracted["subject"], extracted["data"]["last_seq"]) == ("s1", 2)
    assert [event["subject"] for event in events if event["type"] == "inbox.waiting"] == [waiting]


@pytest.mark.live
def test_e14_the_feed_tells_of_nights_and_exports(user: Person, job_ended: JobEnded) -> None:
    old = {"kind": "observation", "created_at": "2026-01-01T00:00:00Z", "observed_at": "2026-01-01T00:00:00Z"}
    user.bring_in(*({"text": f"User drank tea with Tom on day {n}.", **old} for n in range(12)))
    user.settle()
    job_ended(user.api, reflect_job(user.api, user.id, min_age_days=0))
    exported = job_ended(user.api, dict(user.call("POST", "/export").json()))
    events = told(user, "export.done", "reflection.done", "memory.superseded")
    assert [event["data"]["job_id"] for event in events if event["type"] == "export.done"] == [exported["id"]]
    [reflected] = [event for event in events if event["type"] == "reflection.done"]
    assert reflected["data"]["superseded"] >= 2 and reflected["data"]["written"] >= 1


@pytest.mark.live
def test_e14_a_cursor_of_the_feed_goes_on_where_it_ended(user: Person) -> None:
    earlier = {user.remember(f"User keeps {animal}.")["id"] for animal in ("bees", "a dog", "a horse")}
    end = time.monotonic() + PATIENCE_S
    while earlier - {event["subject"] for event in feed_of(user)}:
        assert time.monotonic() < end
        user.settle()
    events, cursor = feed_behind(user)
    known = {event["id"] for event in events}
    later = user.remember("User keeps a cat.")
    found: list[Json] = []
    while not found:
        user.settle()
        page, cursor = feed_behind(user, cursor)
        assert len(page) < len(known)
        found = [event for event in page if event["id"] not in known]  # one may be told again
        assert time.monotonic() < end
    assert [event["subject"] for event in found] == [later["id"]]


@pytest.mark.live
@pytest.mark.parametrize("query", [{"types": "memory.read"}, {"after": "x"}, {"limit": 0}, {"since": "now"}])
def test_e14_what_is_wrong_with_a_question_is_named(user: Person, query: Json) -> None:
    reply = user.api.call("GET", "/v1/events", query=query)
    assert (reply.status, reply.json()["code"]) == (422, "validation_failed")
    assert next(iter(query)) in reply.json()["errors"][0]["field"]


@pytest.mark.controls
def test_e14_an_erased_user_is_in_the_feed_with_the_end_of_the_erasure_alone(
    person: Callable[[ApiClient], Person], api: ApiClient, job_ended: JobEnded
) -> None:
    user = person(api)
    user.remember("User keeps bees.")
    told(user, "memory.written")
    job = job_ended(api, dict(user.call("DELETE", "").json()))
    assert job["result"]["receipt"]["outgoing_events"]["deleted"] >= 1
    events = told(user, "erasure.done")
    assert [(event["type"], event["data"]["job_id"]) for event in events] == [("erasure.done", job["id"])]
