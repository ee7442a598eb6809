"""Row B41: whoever asks with another key, or for another user, finds nothing that is not theirs."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from local.api_client import ApiClient, Reply
from tests.http.driving.people import Json, Person, answered, filler, layer_ids, new_memory_id, used, user_message
from tests.pictures import TINY_PNG

pytestmark = pytest.mark.live

STORE_KEYS = re.compile(r"T#|U#|\bSESS?#|MEM#|EVT#|PACK#|RCL#|KEY#|packs/|images/|\bpk\b|\bsk\b|rank_sk|born_gen")
UPLOAD_ADDRESS = re.compile(r'"url":"[^"]+X-Amz-Signature=[^"]+"')
"""The store's own: it names the object that it is good for, which is the caller's."""
SECRET = "User's sister lives in Reykjavik."


class Listening(ApiClient):
    """Keeps every answer."""

    def __init__(self, inner: ApiClient) -> None:
        self._inner = inner
        self.heard: list[str] = []

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> Reply:
        reply = self._inner.call(method, path, body, **more)
        self.heard.append(f"{method} {path} -> {reply.status} {reply.headers} {reply.text}")
        return reply

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def owner(person: Callable[[ApiClient], Person], api: ApiClient) -> Person:
    """A, with something of everything."""
    return person(Listening(api))


@pytest.fixture
def owned(owner: Person) -> dict[str, str]:
    """The ids of what A has."""
    memory = owner.remember(SECRET)["id"]
    owner.open("private-session", title="Private")
    owner.append("private-session", user_message("I have a dentist appointment tomorrow."), answered("Noted."))
    job = owner.observe("private-session")["id"]
    observation = owner.memories(kind="observation")[0]["id"]
    owner.settle()
    recall = owner.recall("sister Reykjavik", session_id="private-session", threshold=0)["recall_id"]
    upload = owner.expect(201, "POST", "/uploads", {"media_type": "image/png"})["upload_id"]
    return {"memory": memory, "observation": observation, "job": job, "recall": recall, "upload": upload}


def requests(owned: dict[str, str]) -> Iterator[tuple[str, str, Any, Json, str]]:
    """Every call that names something of A: method, path below the user, body, query, the code of the refusal."""
    session = "/sessions/private-session"
    event = {"events": [user_message("Hello.")]}
    for method, path, body, query in (
        ("GET", session, None, {}),
        ("GET", f"{session}/events", None, {}),
        ("POST", f"{session}/events", event, {}),
        ("POST", f"{session}/observe", {}, {}),
        ("POST", f"{session}/compact", {}, {}),
        ("POST", f"{session}/end", {}, {}),
        ("GET", "/pack", None, {"session_id": "private-session"}),
        ("GET", "/pack", None, {"session_id": "private-session", "version": 1}),
        ("GET", "/pack", None, {"session_id": "private-session", "format": "text"}),
        ("GET", "/pack/versions", None, {"session_id": "private-session"}),
        ("GET", "/pack/diff", None, {"session_id": "private-session", "from": 1, "to": 1}),
        ("POST", "/recall", {"query": "sister", "session_id": "private-session"}, {}),
        ("POST", "/recall", {"query": "sister", "session_id": "private-session", "scope": "session"}, {}),
        (
            "POST",
            "/tools/recall_memory",
            {"session_id": "private-session", "arguments": {"query": "sister", "scope": "session"}},
            {},
        ),
        (
            "POST",
            "/tools/search_conversation",
            {"session_id": "private-session", "arguments": {"query": "sister"}},
            {},
        ),
        ("POST", "/usage", used("private-session"), {}),
        ("POST", "/memories", {"text": "Mine.", "session_id": "private-session"}, {}),
    ):
        yield method, path, body, query, "session_not_found"
    for memory in (owned["memory"], owned["observation"]):
        yield "GET", f"/memories/{memory}", None, {}, "memory_not_found"
        yield "PATCH", f"/memories/{memory}", {"text": "Mine now."}, {}, "memory_not_found"
        yield "DELETE", f"/memories/{memory}", None, {}, "memory_not_found"
        yield "GET", f"/memories/{memory}/trace", None, {}, "memory_not_found"
    yield "GET", f"/jobs/{owned['job']}", None, {}, "job_not_found"
    yield "GET", f"/recalls/{owned['recall']}", None, {}, "recall_not_found"


def state(owner: Person) -> tuple[Any, ...]:
    """What A has, without what merely reading it moves."""
    memories = [{**row, "last_accessed_at": ""} for row in owner.memories()]
    return (
        owner.session("private-session"),
        owner.events("private-session"),
        memories,
        owner.versions("private-session"),
    )


def refuses_everything(stranger: Person, owner: Person, owned: dict[str, str]) -> None:
    before = state(owner)
    for method, path, body, query, code in requests(owned):
        reply = stranger.call(method, path, body, query=query)
        assert (reply.status, reply.json()["code"]) == (404, code), f"{method} {path}"
        assert reply.headers["content-type"] == "application/problem+json"
        assert "Reykjavik" not in reply.text
    assert state(owner) == before


def knows_nothing(stranger: Person, owned: dict[str, str]) -> None:
    """The lists and searches of a user who has never written anything."""
    assert stranger.memories() == []
    assert stranger.expect(200, "GET", "/sessions") == {"sessions": []}
    assert stranger.expect(200, "GET", "/stats")["memories"]["total"] == 0
    assert stranger.pack_text() == ""
    for query in (SECRET, "sister Reykjavik", "dentist"):
        answer = stranger.recall(query, threshold=0, limit=50, exclude_ids=[owned["memory"]])
        assert (answer["hits"], answer["result_state"]) == ([], "none")
    recalls = stranger.expect(200, "GET", "/recalls")["recalls"]
    assert owned["recall"] not in {row["id"] for row in recalls}
    assert all(row["hits"] == [] for row in recalls)
    used = stranger.expect(200, "POST", "/memories/used", {"ids": [owned["memory"]]})
    assert used == {"used": [], "unknown": [owned["memory"]]}


def test_b41_another_user_of_the_tenant(
    owner: Person, owned: dict[str, str], person: Callable[[ApiClient], Person], api: ApiClient
) -> None:
    other = person(api)
    refuses_everything(other, owner, owned)
    knows_nothing(other, owned)
    other.open("s1")
    image = {"type": "image", "media_type": "image/png", "upload_id": owned["upload"]}
    reply = other.call("POST", "/sessions/s1/events", {"events": [user_message([image])]})
    assert (reply.status, reply.json()["code"]) == (404, "upload_not_found")


def test_b41_another_tenant(
    owner: Person, owned: dict[str, str], person: Callable[[ApiClient], Person], api_c: ApiClient
) -> None:
    other = person(api_c)
    refuses_everything(other, owner, owned)
    knows_nothing(other, owned)
    reply = api_c.call("GET", f"/v1/admin/jobs/{owned['job']}")
    assert (reply.status, reply.json()["code"]) == (404, "job_not_found")


def test_b41_the_users_id_in_another_tenant_is_an_empty_user(
    owner: Person, owned: dict[str, str], api_c: ApiClient
) -> None:
    namesake = Person(api_c, owner.id, owner.settle_with, owner.finish_with)
    refuses_everything(namesake, owner, owned)
    knows_nothing(namesake, owned)
    before = state(owner)

    opened = namesake.open("private-session")
    assert opened["created"] is True
    assert opened["pack"]["text"] == ""
    assert namesake.append("private-session", user_message("Hello."))["seqs"] == [1]
    namesake.remember("User's sister lives in Oslo.")
    report = namesake.expect(
        200, "POST", "/memories/import", raw=json.dumps({"id": owned["memory"], "text": "Brought in."}).encode()
    )
    assert report["imported"] == [owned["memory"]], "the id is free there"
    namesake.settle()
    assert namesake.memory(owned["memory"])["text"] == "Brought in."
    assert namesake.expect(200, "DELETE", f"/memories/{owned['memory']}")["id"] == owned["memory"]
    namesake.settle()

    assert state(owner) == before
    assert owner.memory(owned["memory"])["text"] == SECRET
    assert owned["memory"] in owner.recalled("sister Reykjavik")
    assert "Oslo" not in str(owner.recall("sister Oslo", threshold=0, limit=50)["hits"])


def test_b41_policy_keys_and_usage_are_the_tenants_own(api: ApiClient, api_c: ApiClient, owned: dict[str, str]) -> None:
    mine, theirs = (client.expect(200, "GET", "/v1/policy") for client in (api, api_c))
    other = {**theirs["policy"], "recall_limit": 7 if theirs["in_force"]["recall_limit"] != 7 else 6}
    api_c.expect(200, "PUT", "/v1/policy", other)
    try:
        assert api.expect(200, "GET", "/v1/policy") == mine
        key = api.expect(201, "POST", "/v1/keys", {"scopes": ["chat"]})["key_id"]
        try:
            assert api_c.call("DELETE", f"/v1/keys/{key}").status == 404
        finally:
            assert api.call("DELETE", f"/v1/keys/{key}").status == 204
    finally:
        api_c.expect(200, "PUT", "/v1/policy", theirs["policy"])


def test_b41_identical_text_of_two_tenants_stays_apart(
    person: Callable[[ApiClient], Person], api: ApiClient, api_c: ApiClient
) -> None:
    here, there = person(api), person(api_c)
    ids = [one.remember(SECRET, group="family")["id"] for one in (here, there)]
    for one in (here, there):
        one.settle()
    for one, memory_id in zip((here, there), ids, strict=True):
        assert one.recalled(SECRET, filters={"group": "family"}, threshold=0, limit=50) == [memory_id]
        assert layer_ids(one.open("s1")["pack"], "global") == [memory_id]


def test_b41_no_answer_names_a_key_of_a_store(owner: Person, owned: dict[str, str]) -> None:
    owner.memory(owned["observation"])
    owner.memories()
    owner.recall("dentist", debug=True, threshold=0)
    owner.expect(200, "GET", f"/recalls/{owned['recall']}")
    owner.expect(200, "GET", f"/memories/{owned['memory']}/trace")
    owner.expect(200, "GET", f"/jobs/{owned['job']}")
    owner.expect(200, "GET", "/stats")
    owner.expect(200, "GET", "/pack/diff", query={"session_id": "private-session", "from": 1, "to": 1})
    image = {"type": "image", "media_type": "image/png", "data": b64encode(TINY_PNG).decode()}
    owner.append("private-session", user_message([image]), user_message(filler(100)))
    owner.events("private-session")
    owner.call("GET", f"/memories/{new_memory_id()}")
    owner.call("POST", "/recall", {"query": 1})
    assert isinstance(owner.api, Listening)
    assert len(owner.api.heard) > 15
    for answer in owner.api.heard:
        assert STORE_KEYS.search(UPLOAD_ADDRESS.sub("", answer)) is None, answer
