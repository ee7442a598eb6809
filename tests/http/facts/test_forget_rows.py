"""Row E15 of docs/features.md: forgetting by filter, in two steps."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Json, Person, answered, new_word, user_message

pytestmark = pytest.mark.live


def listed(user: Person, **body: object) -> Json:
    """The answer of a dry run."""
    return dict(user.expect(200, "POST", "/memories/forget", body))


def confirmed(user: Person, confirm: str, **more: object) -> Json:
    """The receipt."""
    reply = user.call("POST", "/memories/forget", {"confirm": confirm, **more})
    assert reply.status in (200, 202), reply.text
    return dict(user.ended(reply.json()["id"])["result"])


def refused(user: Person, **body: object) -> list[str]:
    return [error["field"] for error in user.expect(422, "POST", "/memories/forget", body)["errors"]]


def ids(answer: Json) -> list[str]:
    return [one["id"] for one in answer["memories"]]


def test_e15_what_was_listed_and_confirmed_is_forgotten_and_nothing_else(user: Person) -> None:
    gone = [user.remember(f"Coffee note {n}.", kind="note", tags=["coffee"])["id"] for n in range(3)]
    stays = user.remember("Tea note.", kind="note", tags=["tea"])["id"]
    found = listed(user, filters={"tags": ["coffee"], "kind": "note"})
    assert (found["dry_run"], found["count"], ids(found), found["complete"]) == (True, 3, gone, True)
    assert [one["text"] for one in found["memories"]] == [f"Coffee note {n}." for n in range(3)]
    assert len(user.memories()) == 4, "a list forgets nothing"
    late = user.remember("Coffee note, later.", kind="note", tags=["coffee"])["id"]
    receipt = confirmed(user, found["confirm"])
    assert (receipt["forgotten"], receipt["moved"], receipt["gone"]) == (3, [], [])
    assert [memory["id"] for memory in user.memories()] == [stays, late]
    assert confirmed(user, found["confirm"]) == receipt, "a repeat is answered with the same job"


def test_e15_what_moved_meanwhile_is_named_and_left(user: Person) -> None:
    edited, deleted, untouched, cited = (
        user.remember(f"Plan {n}.", kind="note", group="plans")["id"] for n in ("a", "b", "c", "d")
    )
    found = listed(user, filters={"group": "plans"})
    user.expect(200, "PATCH", f"/memories/{edited}", {"text": "Plan a, after all."})
    user.expect(200, "DELETE", f"/memories/{deleted}")
    user.expect(200, "POST", "/memories/used", {"ids": [cited]})
    receipt = confirmed(user, found["confirm"])
    assert (receipt["forgotten"], receipt["moved"], receipt["gone"]) == (2, [edited], [deleted])
    assert [memory["text"] for memory in user.memories()] == ["Plan a, after all."]
    assert user.call("GET", f"/memories/{untouched}").status == 404


def test_e15_every_filter_narrows_the_list(user: Person) -> None:
    old = user.remember("Old.", kind="note", observed_at="2020-01-01T00:00:00Z")["id"]
    new = user.remember("New.", kind="note", metadata={"app": "a"}, never_recall=True)["id"]
    fact = user.expect(201, "POST", "/memories", {"kind": "fact", "category": "PLACE", "text": "User lives in Lyon."})
    user.expect(200, "PATCH", f"/memories/{new}", {"status": "resolved"})
    for filters, wanted in (
        ({"before": "2021-01-01T00:00:00Z"}, [old]),
        ({"after": "2021-01-01T00:00:00Z"}, [new, fact["id"]]),
        ({"metadata": {"app": "a"}}, [new]),
        ({"never_recall": True}, [new]),
        ({"status": "resolved"}, [new]),
        ({"category": "PLACE"}, [fact["id"]]),
        ({"tier": "semantic", "kind": "fact"}, [fact["id"]]),
        ({"scope": "session"}, []),
        ({"written_by": "model"}, []),
    ):
        found = listed(user, filters=filters)
        assert ids(found) == wanted, filters
        assert ("confirm" in found) == bool(wanted)


def test_e15_a_query_lists_what_a_recall_finds(user: Person) -> None:
    kayak = user.remember("User's kayak is green.", kind="note")["id"]
    user.remember("User plays the cello in an orchestra.", kind="note")
    tagged = user.remember("User sold the other kayak.", kind="note", tags=["sold"])["id"]
    user.settle()
    assert set(ids(listed(user, query="kayak"))) == {kayak, tagged}
    found = listed(user, query="kayak", filters={"tags": ["sold"]})
    assert ids(found) == [tagged]
    assert confirmed(user, found["confirm"])["forgotten"] == 1
    assert user.recalled("kayak") == [kayak]


def test_e15_conversations_go_with_what_was_made_of_them(user: Person) -> None:
    word = new_word()
    for session in ("s1", "s2"):
        user.open(session)
    user.append("s1", user_message(f"My boat is called {word}."), answered())
    user.append("s2", user_message("My cat is called Tom."), answered())
    for session in ("s1", "s2"):
        user.observe(session)
    made = {memory["id"] for memory in user.memories(session_id="s1")}
    assert made
    found = listed(user, sessions=["s1"], events=True)
    assert set(ids(found)) == made
    assert found["conversations"] == [{"session_id": "s1", "last_seq": 2}]
    user.append("s1", user_message("And it is blue."))
    receipt = confirmed(user, found["confirm"])
    assert receipt["forgotten"] == len(made)
    [conversation] = receipt["conversations"]
    user.ended(conversation["job_id"])
    assert [event["retracted"] for event in user.events("s1")] == [True, True, False], "what was said later stays"
    assert word not in str(user.events("s1")) and user.memories(session_id="s2")
    user.settle()
    assert word not in str(user.recall(word)["hits"])


def test_e15_the_receipt_says_where_else_it_stands(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("I always take the train to Porto."), answered())
    user.observe("s1")
    made = [memory["id"] for memory in user.memories(session_id="s1")]
    receipt = confirmed(user, listed(user, sessions=["s1"])["confirm"])
    assert receipt["forgotten"] == len(made)
    assert {(one["where"], one["session_id"]) for one in receipt["also_in"]} == {("events", "s1")}
    assert receipt["packs_complete"] and receipt["also_in_complete"]


def test_e15_packs_that_hold_it_are_named_or_purged(user: Person) -> None:
    first = user.remember("User's boat is red.", kind="note", tags=["boat"])["id"]
    user.open("s1")
    version = user.pack("s1")["pack_version"]
    receipt = confirmed(user, listed(user, filters={"tags": ["boat"]})["confirm"])
    assert receipt["in_packs"] == [{"session_id": "s1", "version": version}] and first
    user.remember("User's boat is blue.", kind="note", tags=["boat"])
    user.open("s2")
    version = user.pack("s2")["pack_version"]
    receipt = confirmed(user, listed(user, filters={"tags": ["boat"]})["confirm"], purge_packs=True)
    assert {"session_id": "s2", "version": version} in receipt["purged_packs"]
    assert "boat is blue" not in user.pack_text("s2")


def test_e15_one_call_lists_and_forgets_where_that_is_said(user: Person) -> None:
    user.remember("Coffee.", kind="note", tags=["coffee"])
    job = user.expect(202, "POST", "/memories/forget", {"filters": {"tags": ["coffee"]}, "dry_run": False})
    assert user.ended(job["id"])["result"]["forgotten"] == 1
    nothing = user.expect(200, "POST", "/memories/forget", {"filters": {"tags": ["coffee"]}, "dry_run": False})
    assert (nothing["count"], "confirm" in nothing) == (0, False)


def test_e15_bad_input_names_the_field_and_the_cure(
    user: Person, api: ApiClient, person: Callable[[ApiClient], Person]
) -> None:
    user.remember("Coffee.", kind="note")
    confirm = listed(user, filters={"kind": "note"})["confirm"]
    assert refused(user) == ["filters"]
    assert refused(user, filters={}) == ["filters"]
    assert refused(user, confirm="forget_01KJ0000000000000000000000") == ["confirm"], "too old"
    assert refused(user, confirm="forget_7ZZZZZZZZZZZZZZZZZZZZZZZZZ") == ["confirm"], "never given"
    assert refused(user, confirm="yes") == ["confirm"]
    assert refused(user, confirm=confirm, filters={"kind": "note"}) == ["filters"]
    assert refused(user, confirm=confirm, dry_run=True) == ["dry_run"]
    assert refused(user, filters={"kind": "note"}, events=True) == ["events"]
    assert refused(user, filters={"path_prefix": "/notes/"}) == ["filters.path_prefix"]
    times = {"after": "2026-01-02T00:00:00Z", "before": "2026-01-01T00:00:00Z"}
    assert refused(user, filters=times) == ["filters.before"]
    assert refused(person(api), confirm=confirm) == ["confirm"], "another user's"
    assert user.expect(404, "POST", "/memories/forget", {"sessions": ["nope"], "events": True})["code"] == (
        "session_not_found"
    )
    assert len(user.memories()) == 1
