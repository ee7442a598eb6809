"""The row of docs/features.md that what there is can be listed and removed: labels of the caller's own, by which lists
and recall are filtered."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.downloads import exported_text
from tests.http.driving.people import Json, Person, answered, new_word, user_message

ALPHA = {"project": "alpha", "channel": "web"}
BETA = {"project": "beta", "channel": "web"}


def ids(rows: list[Json]) -> list[str]:
    return [str(row["id"]) for row in rows]


def sessions(user: Person, **query: Any) -> list[str]:
    return ids(user.expect(200, "GET", "/sessions", query=query)["sessions"])


@pytest.mark.live
def test_e25_sessions_are_listed_by_their_metadata(user: Person) -> None:
    assert user.open("s1", metadata=ALPHA)["session"]["metadata"] == ALPHA
    user.open("s2", metadata=BETA)
    assert "metadata" not in user.open("s3")["session"]
    by = {f"metadata.{name}": value for name, value in ALPHA.items()}
    assert sessions(user, **by) == ["s1"]
    assert sessions(user, **{"metadata.channel": "web"}) == ["s1", "s2"]
    assert sessions(user, **{"metadata.channel": "we"}) == []
    assert user.open("s1")["session"]["metadata"] == ALPHA, "what is not sent stays"
    assert user.open("s1", metadata={"project": "beta"})["session"]["metadata"] == {"project": "beta"}
    assert "metadata" not in user.open("s1", metadata={})["session"]
    assert sessions(user, **{"metadata.channel": "web"}) == ["s2"]


@pytest.mark.live
def test_e25_a_page_of_sessions_goes_on_behind_those_without_the_metadata(user: Person) -> None:
    for number in range(9):
        user.open_without_pack(f"s{number}")
    user.open("s9", metadata=ALPHA, budget_ms=0)
    query: Json = {"metadata.project": "alpha", "limit": 2}
    found: list[str] = []
    for _ in range(9):
        page = user.expect(200, "GET", "/sessions", query=query)
        found += ids(page["sessions"])
        if "next_cursor" not in page:
            break
        query["cursor"] = page["next_cursor"]
    assert found == ["s9"]


@pytest.mark.live
def test_e25_events_keep_their_metadata_and_are_listed_by_it(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("I keep bees.", metadata=ALPHA, client_id="c1"), answered(metadata=BETA))
    again = user.append("s1", user_message("I keep bees.", metadata=BETA, client_id="c1"))
    assert again["seqs"] == [1], "metadata is no part of what makes two events the same"
    first, second = user.events("s1")
    assert (first["metadata"], second["metadata"]) == (ALPHA, BETA)
    by_project = {"metadata.project": "beta", "metadata.channel": "web"}
    assert [event["seq"] for event in user.events("s1", **by_project)] == [2]


@pytest.mark.live
@pytest.mark.parametrize("call", ["messages", "turn"])
def test_e25_messages_bring_metadata_of_their_own_and_of_a_new_session(user: Person, call: str) -> None:
    said: Json = {"role": "user", "content": "I keep bees.", "metadata": BETA}
    body: Json = {"messages": [said, {"role": "assistant", "content": "Nice."}], "metadata": ALPHA}
    user.expect(201 if call == "messages" else 200, "POST", f"/sessions/s1/{call}", body)
    assert sessions(user, **{"metadata.project": "alpha"}) == ["s1"]
    assert [event.get("metadata") for event in user.events("s1")] == [BETA, None]
    wrong = user.expect(422, "POST", f"/sessions/s1/{call}", {"messages": [said | {"metadata": {"a b": "x"}}]})
    assert wrong["errors"][0]["field"].startswith("messages[0].metadata")


@pytest.mark.live
def test_e25_memories_keep_their_metadata_and_are_listed_by_it(user: Person) -> None:
    manual = user.remember("The hive stands in the garden.", metadata=ALPHA)
    fact = user.remember("User keeps bees.", kind="fact", category="PREFERENCE", metadata=BETA)
    [brought] = user.bring_in({"text": "The queen is two years old.", "metadata": ALPHA})
    assert (manual["metadata"], fact["metadata"]) == (ALPHA, BETA)
    assert ids(user.memories(**{"metadata.project": "alpha"})) in ([manual["id"], brought], [brought, manual["id"]])
    changed = user.expect(200, "PATCH", f"/memories/{manual['id']}", {"metadata": {"project": "beta"}})
    assert (changed["metadata"], changed["rev"]) == ({"project": "beta"}, manual["rev"] + 1)
    assert ids(user.memories(**{"metadata.project": "alpha"})) == [brought]
    evolved = user.expect(
        201, "POST", f"/memories/{manual['id']}/evolve", {"text": "The hive stands on the roof.", "reason": "Moved."}
    )
    assert evolved["metadata"] == {"project": "beta"}
    cleared = user.expect(200, "PATCH", f"/memories/{evolved['id']}", {"metadata": {}})
    assert "metadata" not in cleared


@pytest.mark.live
def test_e25_recall_is_filtered_by_metadata(user: Person) -> None:
    alpha = user.remember("The kayak is red.", metadata=ALPHA)["id"]
    beta = user.remember("The kayak is blue.", metadata=BETA)["id"]
    user.put_document("/kayaks", "A kayak is a boat.")
    user.open("s1")
    user.append("s1", user_message("My kayak is green.", metadata=ALPHA), answered("A kayak!", metadata=BETA))

    def found(**metadata: str) -> set[str]:
        wanted = {"metadata": metadata}
        return set(user.recalled("kayak", mode="tool", limit=20, filters=wanted, threshold=0))

    fresh = {"mode": "tool", "session_id": "s1", "sources": ["event"], "filters": {"metadata": ALPHA}}
    assert user.recalled("kayak", **fresh) == ["evt:s1:1"], "also what is not in the index yet"
    assert {alpha} <= found(project="alpha") <= {alpha, "evt:s1:1"}
    user.settle()
    assert found(project="alpha") == found(**ALPHA) == {alpha, "evt:s1:1"}
    assert found(project="beta") == {beta, "evt:s1:2"}
    assert found(project="alpha", channel="phone") == set()
    [hit] = user.recall("red kayak", mode="tool", sources=["memory"], filters={"metadata": ALPHA})["hits"]
    assert (hit["id"], hit["metadata"]) == (alpha, ALPHA)


@pytest.mark.controls
def test_e25_what_is_made_of_an_event_does_not_inherit_its_metadata(user: Person, controls: Controls) -> None:
    user.open("s1", metadata=ALPHA)
    user.append("s1", user_message("I am allergic to peanuts.", metadata=ALPHA), answered())
    user.observe("s1")
    made = user.memories()
    assert made and all("metadata" not in memory for memory in made)


TOO_MANY = {f"k{n}": "v" for n in range(17)}
REFUSED: list[tuple[Any, str]] = [
    (TOO_MANY, "metadata"),
    ({"": "v"}, "metadata."),
    ({"a b": "v"}, "metadata.a b"),
    ({"a=b": "v"}, "metadata.a=b"),
    ({"k" * 65: "v"}, "metadata."),
    ({"key": "v" * 257}, "metadata.key"),
    ({"key": 5}, "metadata.key"),
    ({"key": None}, "metadata.key"),
    (["key"], "metadata"),
]


@pytest.mark.live
@pytest.mark.parametrize(("metadata", "field"), REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_e25_metadata_of_another_form_is_refused_by_name(user: Person, metadata: Any, field: str) -> None:
    for path, body in (
        ("/sessions", {"session_id": "s1", "metadata": metadata}),
        ("/memories", {"text": "x", "metadata": metadata}),
        ("/recall", {"query": "x", "filters": {"metadata": metadata}}),
    ):
        problem = user.expect(422, "POST", path, body)
        assert any(field in error["field"] for error in problem["errors"]), problem
    user.open("s1")
    event = user_message("x") | {"metadata": metadata}
    assert user.call("POST", "/sessions/s1/events", {"events": [event]}).status == 422


@pytest.mark.live
def test_e25_a_list_is_asked_for_metadata_by_its_keys(user: Person) -> None:
    for path in ("/sessions", "/memories"):
        problem = user.expect(422, "GET", path, query={"metadata": "alpha"})
        assert problem["errors"][0]["field"] == "query.metadata"
        problem = user.expect(422, "GET", path, query={"metadata.a b": "alpha"})
        assert problem["errors"][0]["field"].startswith("query.metadata")
    assert user.expect(422, "GET", "/recalls", query={"metadata.project": "alpha"})["code"] == "validation_failed"


@pytest.mark.live
def test_e25_metadata_passes_the_privacy_gate(user: Person) -> None:
    card = "4111 1111 1111 1111"
    problem = user.expect(422, "POST", "/memories", {"text": "x", "metadata": {"card": card}})
    assert (problem["code"], problem["errors"][0]["field"]) == ("pii_blocked", "metadata.card")
    problem = user.expect(422, "POST", "/memories", {"text": "x", "metadata": {card.replace(" ", ""): "card"}})
    assert card.replace(" ", "") not in json.dumps(problem)
    memory = user.remember("x")
    problem = user.expect(422, "PATCH", f"/memories/{memory['id']}", {"metadata": {"password": "hunter2!"}})
    assert problem["code"] == "pii_blocked"
    opened = user.open("s1", metadata={"card": card, "project": "alpha"})
    assert opened["session"]["metadata"] == {"card": "[removed]", "project": "alpha"}
    appended = user.append("s1", user_message("Hello.", metadata={"card": card, card.replace(" ", ""): "a"}))
    assert appended["redacted"]["card_number"] == 2
    assert user.events("s1")[0]["metadata"] == {"card": "[removed]"}


@pytest.mark.controls
def test_e25_metadata_goes_where_its_row_goes(
    user: Person, controls: Controls, job_ended: Callable[[ApiClient, Json], Json]
) -> None:
    """Into an export, and from there into an import; out of every store with a deletion and an erasure."""
    of_session, of_event, of_memory = (new_word()[:16] for _ in range(3))
    user.open("s1", metadata={"of": of_session})
    user.append("s1", user_message("I keep bees.", metadata={"of": of_event}), answered())
    user.remember("The hive is green.", metadata={"of": of_memory})
    user.settle()
    job = job_ended(user.api, user.expect(202, "POST", "/export", {}))
    lines = [json.loads(line) for line in exported_text(job).splitlines()]
    by_type = {line["type"]: line for line in lines if "metadata" in line}
    assert {kind: line["metadata"]["of"] for kind, line in by_type.items()} == {
        "session": of_session,
        "event": of_event,
        "memory": of_memory,
    }
    other = Person(user.api, f"{user.id}-2", user.settle_with, user.finish_with)
    other.bring_in({name: value for name, value in by_type["memory"].items() if name != "type"})
    assert other.memories()[0]["metadata"] == {"of": of_memory}
    retracted = user.expect(
        200, "POST", "/sessions/s1/events/retract", {"from_seq": 1, "to_seq": 1, "reason": "deleted"}
    )
    user.ended(retracted["job_id"])
    assert controls.left(of_event) == []
    assert "metadata" not in user.events("s1")[0]
    assert controls.stored(of_session) != [], "the session stays"
