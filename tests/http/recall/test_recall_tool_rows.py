"""Rows of docs/features.md about recall. The tool for models (E11)."""

from __future__ import annotations

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Person
from tests.http.real_encoder.rubric import plain
from tests.http.recall.asking import call_tool, components


@pytest.mark.live
def test_a29_the_tool_answers_within_its_scope(user: Person) -> None:
    user.open("s1")
    user.open("s2")
    here = user.remember("User rents a kayak in Bergen.", session_id="s1")["id"]
    there = user.remember("User bought a kayak in Oslo.", session_id="s2")["id"]
    nowhere = user.remember("User repairs a kayak.")["id"]

    def found(**more: object) -> set[str]:
        return {hit["id"] for hit in call_tool(user, "s1", query="kayak", **more)["hits"]}

    assert found(scope="session") == {here}
    assert found(scope="global") == {there, nowhere}
    assert found(scope="all") == found() == {here, there, nowhere}


@pytest.mark.live
def test_a29_the_scope_session_needs_a_session(user: Person) -> None:
    for path, body in (
        ("/tools/recall_memory", {"arguments": {"query": "kayak", "scope": "session"}}),
        ("/recall", {"query": "kayak", "scope": "session"}),
    ):
        problem = user.expect(422, "POST", path, body)
        assert [error["field"] for error in problem["errors"]] == ["session_id"]


@pytest.mark.live
def test_a29_the_tool_returns_eight_unless_asked_for_another_number(user: Person) -> None:
    user.bring_in(*[plain(f"User paddled kayak number {n} today.") for n in range(12)])
    assert len(call_tool(user, query="kayak")["hits"]) == 8
    assert len(call_tool(user, query="kayak", limit=3)["hits"]) == 3
    refused = user.expect(200, "POST", "/tools/recall_memory", {"arguments": {"query": "kayak", "limit": 51}})
    assert refused["is_error"] and "limit" in refused["content"]


@pytest.mark.live
def test_a29_a_hit_says_what_else_its_memory_holds_of_the_query(user: Person) -> None:
    pets = "User has a cat called Milo.\n\nUser paints boats.\n\nUser also has a dog, which the cat likes."
    memory_id = user.remember(pets)["id"]
    user.settle()
    found = user.recall("cat Milo", mode="tool", sources=["memory"])
    [hit] = found["hits"]
    assert (hit["id"], hit["passage"]["n"], hit["text"]) == (memory_id, 0, "User has a cat called Milo.")
    [also] = hit["also"]
    assert (also["n"], also["text"], also["trust"]) == (2, "User also has a dog, which the cat likes.", "user")
    assert "User has a cat called Milo.\n  also: User also has a dog" in found["injection_text"]
    [bare] = user.recall("cat Milo", sources=["memory"])["hits"]
    assert bare["id"] == memory_id and "also" not in bare


@pytest.mark.live
def test_a29_no_tool_has_a_user_or_a_tenant_argument(user: Person, api: ApiClient) -> None:
    tools = api.call("GET", "/v1/tools")
    assert tools.body == api.call("GET", "/v1/tools").body
    [tool] = [tool for tool in tools.json()["anthropic"] if tool["name"] == "recall_memory"]
    assert set(tool["input_schema"]["properties"]) == {"query", "limit", "scope"}
    for name in ("user_id", "tenant_id"):
        body = {"arguments": {"query": "kayak", name: "somebody"}}
        told = user.expect(200, "POST", "/tools/recall_memory", body)
        assert told["is_error"] and f"{name} is not a known field" in told["content"]


@pytest.mark.live
def test_c24_one_engine_answers_both_calls(user: Person) -> None:
    user.bring_in(*[plain(f"User paddled {word} kayak on the lake.") for word in ("a red", "a blue", "my own", "no")])
    user.bring_in(plain("User's doctor lives by the lake."))
    user.settle()
    by_tool = call_tool(user, query="a kayak on the lake")
    by_search = user.recall("a kayak on the lake", limit=8, mode="tool")
    assert len(by_tool["hits"]) >= 4
    assert [hit["id"] for hit in by_tool["hits"]] == [hit["id"] for hit in by_search["hits"]]
    assert components(by_tool) == components(by_search)
