"""Row E11 of docs/features.md: a model remembers, corrects and forgets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Json, Person, answered, user_message

POLICY_S = 90
"""A policy is read once a minute by each process."""
Tenant = Callable[..., ApiClient]
Introduce = Callable[[ApiClient], Person]


def tool(user: Person, name: str, status: int = 200, **body: object) -> Json:
    return dict(user.expect(status, "POST", f"/tools/{name}", body))


def remembered(user: Person, text: str, **more: object) -> Json:
    return tool(user, "remember", arguments={"text": text, **more})


@contextmanager
def allowed(user: Person) -> Iterator[None]:
    """The tenant's policy lets models write, in every process, and then is what it was."""
    before = user.api.expect(200, "GET", "/v1/policy")["policy"]
    user.api.expect(200, "PATCH", "/v1/policy", {"write_tools": "on"})
    try:
        end = time.monotonic() + POLICY_S
        for name in ("remember", "forget"):
            probe = {"arguments": {"confirm": "x"} if name == "forget" else {"text": "Two. Statements."}}
            while user.call("POST", f"/tools/{name}", probe).status == 403:
                assert time.monotonic() < end
                time.sleep(1)
        yield
    finally:
        user.api.expect(200, "PUT", "/v1/policy", before)


@pytest.mark.live
def test_e11_no_model_writes_unless_the_policy_says_so(user: Person) -> None:
    for name, arguments in (
        ("remember", {"text": "User likes tea."}),
        ("correct", {"id": "mem_x", "text": "User likes tea.", "reason": "x"}),
        ("forget", {"query": "tea"}),
    ):
        assert tool(user, name, 403, arguments=arguments)["code"] == "write_tools_off"
    offered = user.api.expect(200, "GET", "/v1/tools")
    assert offered["version"] == "4"
    assert {"remember", "correct", "forget"}.isdisjoint(one["name"] for one in offered["anthropic"])
    assert user.api.call("GET", "/v1/tools", query={"version": "5"}).status == 403
    assert user.memories() == []


@pytest.mark.live
def test_e11_a_model_remembers_corrects_and_forgets(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("I live in Rome with my cat Tom."), answered())
    with allowed(user):
        said = tool(user, "remember", session_id="s1", arguments={"text": "User lives in Rome.", "seq": 1})
        assert (said["decision"], said["trust"], said["is_error"], said["written_by"]) == (
            *("stored", "user", False, "model"),
        )
        guessed = tool(user, "remember", session_id="s1", arguments={"text": "User owns a bicycle.", "seq": 1})
        assert (guessed["trust"], guessed["status"]) == ("assistant", "active")
        assert user.memory(guessed["id"])["provenance"]["by"] == "assistant"
        corrected = tool(
            user, "correct", arguments={"id": said["id"], "text": "User lives in Milan.", "reason": "moved"}
        )
        assert corrected["corrects"] == said["id"] and said["id"] in corrected["content"]
        assert user.memory(said["id"])["superseded_by"] == corrected["id"]
        again = {"id": said["id"], "text": "User lives in Turin.", "reason": "moved"}
        assert tool(user, "correct", 409, arguments=again)["code"] == "conflict"
        assert {memory["id"] for memory in user.memories(written_by="model")} >= {guessed["id"], corrected["id"]}
        found = tool(user, "forget", arguments={"id": corrected["id"]})
        assert found["dry_run"] and found["confirm"] in found["content"] and "Milan" in found["content"]
        done = tool(user, "forget", arguments={"confirm": found["confirm"]})
        assert user.ended(done["job_id"])["result"]["forgotten"] == 1
        assert user.call("GET", f"/memories/{corrected['id']}").status == 404


@pytest.mark.controls
def test_e11_a_call_is_done_once_for_its_id_in_a_session(tenant_with: Tenant, person: Introduce) -> None:
    user = person(tenant_with(write_tools="on"))
    for session in ("s1", "s2"):
        user.open(session)
    call: Json = {"session_id": "s1", "tool_use_id": "toolu_1", "arguments": {"text": "User likes tea."}}
    first = tool(user, "remember", **call)
    assert tool(user, "remember", **call) == first
    assert user.memory(first["id"])["occurrences"] == 1
    other = tool(user, "remember", **{**call, "session_id": "s2"})
    assert other["decision"] == "reinforced"
    changed = {**call, "arguments": {"text": "User likes coffee."}}
    assert tool(user, "remember", 422, **changed)["code"] == "idempotency_mismatch"
    ask: Json = {"session_id": "s1", "tool_use_id": "toolu_2", "arguments": {"id": first["id"]}}
    found = tool(user, "forget", **ask)
    assert tool(user, "forget", **ask) == found
    user.expect(200, "DELETE", f"/memories/{first['id']}")
    assert "likes tea" not in str(tool(user, "forget", **ask)), "what is deleted is in no answer that is kept"


@pytest.mark.controls
def test_e11_the_storage_decision_holds_for_a_model(tenant_with: Tenant, person: Introduce) -> None:
    user = person(tenant_with(write_tools="on"))
    first = remembered(user, "User likes tea.", category="PREFERENCE", importance=4)
    assert user.memory(first["id"])["category"] == "PREFERENCE"
    assert remembered(user, "user likes  tea.")["id"] == first["id"]
    assert remembered(user, "User saw a bird.", importance=1)["decision"] == "rejected"
    secret = remembered(user, "User's card is 4111 1111 1111 1111.")
    assert secret["is_error"] and "card_number" in secret["content"] and "4111" not in secret["content"]
    assert remembered(user, "User likes tea. User has a dog.")["is_error"]
    assert len(user.memories()) == 1


@pytest.mark.controls
def test_e11_a_models_mistake_is_an_answer(tenant_with: Tenant, person: Introduce) -> None:
    user = person(tenant_with(write_tools="on"))
    user.remember("User likes tea.", kind="note")
    for name, arguments, word in (
        ("remember", {}, "text is required"),
        ("remember", {"text": "x", "category": "PET"}, "category"),
        ("correct", {"id": "mem_nope", "text": "x", "reason": "y"}, "id names no memory"),
        ("correct", {"text": "x", "reason": "y"}, "id is required"),
        ("forget", {}, "id is required, or a query"),
        ("forget", {"id": "mem_nope"}, "id names no memory"),
        ("forget", {"query": "tea", "dry_run": False}, "dry_run"),
        ("forget", {"confirm": "forget_01KJ0000000000000000000000"}, "confirm is not known, or older"),
        ("forget", {"confirm": "x", "query": "tea"}, "must be left out"),
    ):
        answer = tool(user, name, arguments=arguments)
        assert answer["is_error"] and word in answer["content"], (name, arguments, answer)
    assert tool(user, "remember", 404, session_id="nope", arguments={"text": "x"})["code"] == "session_not_found"
    assert len(user.memories()) == 1


@pytest.mark.controls
def test_e11_what_a_model_proposes_waits_for_a_person(tenant_with: Tenant, person: Introduce) -> None:
    user = person(tenant_with(write_tools="propose"))
    user.open("s1")
    user.append("s1", user_message("Good morning."), answered())  # a pass that heard it said would let it in
    said = tool(user, "remember", session_id="s1", arguments={"text": "User lives in Rome.", "seq": 1})
    assert (said["decision"], said["status"]) == ("inbox", "inbox")
    known = user.expect(201, "POST", "/memories", {"kind": "fact", "category": "PLACE", "text": "User works in Bonn."})
    better = tool(user, "correct", arguments={"id": known["id"], "text": "User works in Köln.", "reason": "a new job"})
    assert better["status"] == "inbox" and user.memory(known["id"])["status"] == "active"
    assert {item["id"] for item in user.expect(200, "GET", "/inbox")["items"]} == {said["id"], better["id"]}
    user.expect(200, "POST", f"/inbox/{better['id']}/supersede", {})
    assert user.memory(known["id"])["status"] == "superseded"
    found = tool(user, "forget", arguments={"id": better["id"]})
    refused = tool(user, "forget", arguments={"confirm": found["confirm"]})
    assert refused["is_error"] and "person" in refused["content"]
    job = user.expect(202, "POST", "/memories/forget", {"confirm": found["confirm"]})
    assert user.ended(job["id"])["result"]["forgotten"] == 1


@pytest.mark.controls
def test_e11_a_models_word_lets_nothing_in_that_waits(tenant_with: Tenant, person: Introduce) -> None:
    user = person(tenant_with(write_tools="on"))
    [waiting] = user.bring_in({"text": "User has a boat.", "kind": "fact", "category": "BIOGRAPHY", "status": "inbox"})
    assert remembered(user, "User has a boat.")["status"] == "inbox"
    assert user.memory(waiting)["status"] == "inbox"


@pytest.mark.controls
def test_e11_prompts_offer_the_writers_where_the_policy_allows_them(tenant_with: Tenant, person: Introduce) -> None:
    names = {}
    for policy in ("off", "propose", "on"):
        user = person(tenant_with(write_tools=policy))
        user.open("s1")
        tools = user.context("s1", "Hello", retrieval="tools")["request"]["tools"]
        names[policy] = [one["name"] for one in tools]
    assert names["off"] == ["read_document", "recall_memory", "search_conversation", "search_knowledge"]
    assert names["on"] == names["propose"] == sorted([*names["off"], "remember", "correct", "forget"])


@pytest.mark.controls
def test_e11_who_wrote_it_is_told_until_a_person_rewords_it(tenant_with: Tenant, person: Introduce) -> None:
    api = tenant_with(write_tools="on")
    user, other = person(api), person(api)
    made = remembered(user, "User likes tea.")["id"]
    [copied] = other.bring_in({"id": "tea-1", "text": "User likes tea.", "written_by": "model"})
    assert user.memory(made)["written_by"] == other.memory(copied)["written_by"] == "model"
    assert [
        one["id"]
        for one in user.expect(200, "POST", "/memories/forget", {"filters": {"written_by": "model"}})["memories"]
    ] == [made]
    user.expect(200, "PATCH", f"/memories/{made}", {"importance": 4})
    assert user.memory(made)["written_by"] == "model"
    user.expect(200, "PATCH", f"/memories/{made}", {"text": "User likes green tea."})
    assert "written_by" not in user.memory(made)
    assert user.memories(written_by="model") == []
