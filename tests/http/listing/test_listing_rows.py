"""The row of docs/features.md that what there is can be listed and removed: users, keys, and a session as a whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, new_word, user_message
from tests.http.driving.stage import Stage

JobEnded = Callable[[ApiClient, Json], Json]


def all_pages(api: ApiClient, path: str, name: str, limit: int = 200) -> list[Json]:
    found: list[Json] = []
    query: Json = {"limit": limit}
    while True:
        page = api.expect(200, "GET", path, query=query)
        assert len(page[name]) <= limit
        found += page[name]
        if "next_cursor" not in page:
            return found
        query["cursor"] = page["next_cursor"]


# --- users ----------------------------------------------------------------------------------------


def listed(api: ApiClient, *users: Person) -> list[str]:
    ids = [one["user_id"] for one in all_pages(api, "/v1/users", "users")]
    assert ids == sorted(ids)
    return [user.id for user in users if user.id in ids]


@pytest.mark.live
def test_e25_users_are_listed_until_they_are_erased(
    person: Callable[[ApiClient], Person], api: ApiClient, job_ended: JobEnded
) -> None:
    ann, bob, nobody = person(api), person(api), person(api)
    ann.open("s1")
    bob.remember("User keeps bees.")
    assert nobody.memories() == []
    for user in (ann, bob):
        user.settle()
    assert listed(api, ann, bob, nobody) == [ann.id, bob.id]
    job = ann.expect(202, "DELETE", "")
    assert listed(api, ann, bob) == [bob.id], "who is being erased is not listed"
    assert job_ended(api, job)["status"] == "done"
    assert listed(api, ann, bob) == [bob.id]
    ann.bring_in({"text": "User keeps hens."})
    ann.settle()
    assert listed(api, ann, bob) == [ann.id, bob.id]


@pytest.mark.live
def test_e25_users_are_of_one_tenant_and_for_the_scope_admin(
    user: Person, api: ApiClient, api_c: ApiClient, stage: Stage
) -> None:
    user.remember("User keeps bees.")
    user.settle()
    assert user.id in [one["user_id"] for one in all_pages(api, "/v1/users", "users", limit=2)]
    assert user.id not in [one["user_id"] for one in all_pages(api_c, "/v1/users", "users")]
    cursor = api.expect(200, "GET", "/v1/users", query={"limit": 1}).get("next_cursor")
    if cursor:
        assert api_c.expect(422, "GET", "/v1/users", query={"cursor": cursor})["code"] == "validation_failed"
    key = api.expect(201, "POST", "/v1/keys", {"scopes": ["chat", "records"]})
    with closing(ApiClient(stage.base_url, key["key"])) as client:
        for path in ("/v1/users", "/v1/keys"):
            assert client.expect(403, "GET", path)["code"] == "forbidden"
    api.expect(204, "DELETE", f"/v1/keys/{key['key_id']}")


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.live
def test_e25_keys_are_listed_without_their_secret(api: ApiClient, stage: Stage) -> None:
    made = api.expect(201, "POST", "/v1/keys", {"scopes": ["records", "chat"], "label": "console"})
    secret = made["key"].rpartition("_")[2]
    with closing(ApiClient(stage.base_url, made["key"])) as client:
        client.expect(200, "GET", "/v1/tools")
    reply = api.call("GET", "/v1/keys", query={"limit": 200})
    assert secret not in reply.text and "sha256" not in reply.text
    keys = {one["key_id"]: one for one in all_pages(api, "/v1/keys", "keys", limit=1)}
    own = keys[made["key_id"]]
    assert (own["label"], own["scopes"], own["created_at"]) == ("console", ["chat", "records"], made["created_at"])
    assert "revoked_at" not in own and len(own["last_used_day"]) == len("2026-03-10")
    assert "label" not in keys[stage.key.split("_")[1]] or keys[stage.key.split("_")[1]]["scopes"]
    api.expect(204, "DELETE", f"/v1/keys/{made['key_id']}")
    keys = {one["key_id"]: one for one in all_pages(api, "/v1/keys", "keys")}
    assert keys[made["key_id"]]["revoked_at"] > made["created_at"]


@pytest.mark.live
def test_e25_a_tenant_has_ten_live_keys(api: ApiClient) -> None:
    live = [one for one in all_pages(api, "/v1/keys", "keys") if "revoked_at" not in one]
    with ExitStack() as made:
        for _ in range(10 - len(live)):
            key = api.expect(201, "POST", "/v1/keys", {"scopes": ["chat"]})
            made.callback(api.expect, 204, "DELETE", f"/v1/keys/{key['key_id']}")
        problem = api.expect(409, "POST", "/v1/keys", {"scopes": ["chat"]})
        assert problem["code"] == "too_many_keys"
        assert "revoke one first" in problem["detail"] and live[0]["key_id"] in problem["detail"]


# --- sessions -------------------------------------------------------------------------------------


def gone(user: Person, session: str = "s1") -> Json:
    deleted = user.expect(200, "DELETE", f"/sessions/{session}")
    assert deleted["id"] == session
    return dict(deleted)


SAID = [user_message("I am allergic to peanuts.", client_id="c1"), answered("Noted.", client_id="c2")]


@pytest.mark.live
def test_e25_a_deleted_session_is_not_there(user: Person) -> None:
    user.open("s1", title="Allergies")
    user.open("s2")
    user.append("s1", *SAID)
    user.observe("s1")
    first = gone(user)
    ids = [one["id"] for one in user.expect(200, "GET", "/sessions")["sessions"]]
    assert ids == ["s2"]
    reads: list[tuple[str, str, Any, Json]] = [
        ("GET", "/sessions/s1", None, {}),
        ("GET", "/sessions/s1/events", None, {}),
        ("GET", "/pack", None, {"session_id": "s1"}),
        ("GET", "/pack/versions", None, {"session_id": "s1"}),
        ("POST", "/recall", {"query": "peanuts", "session_id": "s1"}, {}),
        ("POST", "/context", {"session_id": "s1", "message": "Hello."}, {}),
        ("POST", "/sessions/s1/observe", {}, {}),
        ("POST", "/sessions/s1/compact", {"reason": "manual"}, {}),
        ("POST", "/sessions/s1/end", {}, {}),
        ("POST", "/sessions/s1/events/retract", {"from_seq": 1, "to_seq": 1, "reason": "edited"}, {}),
        ("POST", "/memories", {"text": "User keeps bees.", "session_id": "s1"}, {}),
        (
            "POST",
            "/memories",
            {"text": "User keeps bees.", "session_id": "s1", "kind": "fact", "category": "PREFERENCE"},
            {},
        ),
    ]
    for method, path, body, query in reads:
        problem = user.expect(404, method, path, body, query=query)
        assert problem["code"] == "session_not_found", path
    assert user.recalled("peanuts", mode="tool", threshold=0) == []
    again = gone(user)
    assert again == first
    user.ended(first["job_id"])
    assert gone(user) == first
    assert user.expect(404, "DELETE", "/sessions/never")["code"] == "session_not_found"


@pytest.mark.live
def test_e25_what_comes_late_does_not_bring_a_deleted_session_back(user: Person) -> None:
    user.open("s1")
    user.append("s1", *SAID)
    job = gone(user)["job_id"]
    for _ in ("while its words are erased", "and behind that"):
        for events in (SAID, [user_message("One more thing.")]):
            problem = user.expect(410, "POST", "/sessions/s1/events", {"events": events})
            assert problem["code"] == "session_deleted"
        assert user.expect(410, "POST", "/sessions", {"session_id": "s1"})["code"] == "session_deleted"
        user.ended(job)
    user.open("s2")
    user.append("s2", *SAID)
    assert [event["seq"] for event in user.events("s2")] == [1, 2], "another session may hold the same words"


@pytest.mark.live
def test_e25_a_session_without_events_is_deleted_at_once(user: Person) -> None:
    user.open("s1", title="Nothing yet")
    for _ in range(2):
        assert gone(user) == {"id": "s1"}
    assert user.call("GET", "/sessions/s1").status == 404
    assert user.call("POST", "/sessions", {"session_id": "s1"}).status == 410


@pytest.mark.live
def test_e25_a_deletion_is_answered_alike_with_its_key(user: Person) -> None:
    user.open("s1")
    user.append("s1", *SAID)
    headers = {"Idempotency-Key": "gone"}
    first, again = (user.expect(200, "DELETE", "/sessions/s1", headers=headers) for _ in range(2))
    assert first == again


@pytest.mark.live
def test_e25_what_was_taken_back_before_is_erased_with_the_rest(user: Person) -> None:
    user.open("s1")
    user.append("s1", *SAID)
    for reason in ("edited", "deleted"):
        user.expect(200, "POST", "/sessions/s1/events/retract", {"from_seq": 1, "reason": reason})
    user.append("s1", user_message("I keep bees."), answered())
    job = user.ended(gone(user)["job_id"])
    assert (job["status"], job["result"]["erased"]["verified"]) == ("done", True)
    assert job["result"]["erased"]["events"] >= 2


@pytest.mark.controls
@pytest.mark.parametrize("ended", [False, True], ids=["open", "filed"])
def test_e25_no_byte_of_a_deleted_session_is_left(user: Person, controls: Controls, *, ended: bool) -> None:
    title, name, label, said = (new_word()[:16] for _ in range(4))
    user.open("s1", title=f"The {title} plan", user_meta={"name": name}, metadata={"of": label})
    user.append("s1", user_message(f"I decided to buy the {said} house in March."), answered())
    user.observe("s1")
    if ended:
        job = user.expect(202, "POST", "/sessions/s1/end", {}, headers={"Idempotency-Key": "end"})
        user.ended(job["id"])
    user.settle()
    user.open("s2")
    user.context("s1", "And?")
    user.recall(f"What about {said}?", session_id="s1")
    for word in (title, name, label, said):
        assert controls.stored(word) != [], word
    job = user.ended(gone(user)["job_id"])
    if "librarian_job_id" in job["result"]:
        user.ended(job["result"]["librarian_job_id"])
    assert controls.left(title, name, label, said) == []


# --- while a user is erased -----------------------------------------------------------------------

READS: list[tuple[str, str, Any, Json, str]] = [
    ("GET", "/sessions", None, {}, "sessions"),
    ("GET", "/sessions/s1/events", None, {}, "events"),
    ("GET", "/pack", None, {}, "text"),
    ("GET", "/pack", None, {"session_id": "s1"}, "text"),
    ("GET", "/pack/versions", None, {"session_id": "s1"}, "versions"),
    ("POST", "/recall", {"query": "peanuts"}, {}, "hits"),
    ("POST", "/recall", {"query": "peanuts", "session_id": "s1"}, {}, "hits"),
    ("POST", "/context", {"session_id": "s1", "message": "Hello."}, {}, "hits"),
    ("POST", "/tools/recall_memory", {"arguments": {"query": "peanuts"}}, {}, "hits"),
    ("POST", "/tools/search_knowledge", {"arguments": {"query": "peanuts"}}, {}, "hits"),
    ("GET", "/memories", None, {}, "memories"),
    ("GET", "/documents/list", None, {"prefix": "/"}, "documents"),
    ("GET", "/recalls", None, {}, "recalls"),
    ("GET", "/inbox", None, {}, "items"),
]
WRITES: list[tuple[str, str, Any]] = [
    ("POST", "/sessions", {"session_id": "s1"}),
    ("POST", "/sessions", {}),
    ("POST", "/sessions/s1/events", {"events": [user_message("One more thing.")]}),
    ("POST", "/sessions/s1/events/retract", {"from_seq": 1, "to_seq": 1, "reason": "edited"}),
    ("DELETE", "/sessions/s1", None),
    ("POST", "/sessions/s1/observe", {}),
    ("POST", "/sessions/s1/compact", {"reason": "manual"}),
    ("POST", "/sessions/s1/end", {}),
    ("POST", "/uploads", {"media_type": "image/png"}),
    (
        "POST",
        "/usage",
        {
            "session_id": "s1",
            "pack_version": 0,
            "model": "m",
            "usage": {"input": 1, "cache_read": 0, "cache_write": 0, "output": 1},
        },
    ),
    ("POST", "/memories", {"text": "User keeps bees."}),
]


@pytest.mark.live
def test_e25_while_a_user_is_erased_all_calls_answer_alike(user: Person, api: ApiClient, job_ended: JobEnded) -> None:
    user.open("s1", title="Allergies")
    user.append("s1", *SAID)
    user.observe("s1")
    user.remember("User likes peanuts.")
    user.put_document("/peanuts", "Peanuts are legumes.")
    user.settle()
    user.recall("peanuts", session_id="s1")
    erasure = user.expect(202, "DELETE", "")
    for method, path, body, query, empty in READS:
        reply = user.call(method, path, body, query=query)
        assert reply.status == 200, (method, path, query, reply.text)
        assert "erasing" in reply.headers["x-neve-degraded"].split(", "), (path, query)
        answer = reply.json()
        assert "erasing" in answer["degraded"] and not answer.get(empty), (path, query, answer)
        assert "peanut" not in reply.text.lower().replace('"peanuts"', ""), (path, query, answer)
    for method, path, body in WRITES:
        reply = user.call(method, path, body)
        assert (reply.status, reply.json()["code"]) == (409, "erasing"), (method, path, reply.text)
        assert "retry-after" not in reply.headers, path
    assert user.expect(404, "GET", "/sessions/s1")["code"] == "session_not_found"
    status = user.expect(200, "GET", f"/jobs/{erasure['id']}")
    assert "degraded" not in status, "its own job is there as a whole"
    job_ended(api, erasure)
