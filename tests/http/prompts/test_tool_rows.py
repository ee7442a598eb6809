"""Rows D08, D22 and D33 of docs/features.md: the tools that a language model calls."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.people import Json, Person, answered, filler, tokens, user_message


def search(user: Person, conversation: str, query: str) -> Json:
    arguments = {"query": query, "conversation_id": conversation}
    return dict(user.expect(200, "POST", "/tools/search_conversation", {"arguments": arguments}))


@pytest.mark.live
def test_d08_the_tools_are_the_same_bytes_every_time(api: ApiClient, api_c: ApiClient) -> None:
    """For every tenant, in every process; an older version is there as it was."""
    newest = api.call("GET", "/v1/tools")
    assert newest.body == api.call("GET", "/v1/tools").body == api_c.call("GET", "/v1/tools").body
    body = newest.json()
    assert api.call("GET", "/v1/tools", query={"version": body["version"]}).body == newest.body
    names = ["read_document", "recall_memory", "search_conversation", "search_knowledge"]
    assert [tool["name"] for tool in body["anthropic"]] == names
    assert [tool["function"]["name"] for tool in body["openai"]] == names
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in body["anthropic"])
    first = api.expect(200, "GET", "/v1/tools", query={"version": "1"})
    assert (first["version"], [tool["name"] for tool in first["anthropic"]]) == ("1", ["recall_memory"])
    assert api.expect(422, "GET", "/v1/tools", query={"version": "0"})["errors"][0]["field"] == "query.version"


@pytest.mark.live
def test_d22_the_five_best_of_one_conversation(user: Person) -> None:
    for session in ("s1", "s2"):
        user.open(session)
    for n in range(8):
        user.append("s1", user_message(f"I paddled kayak number {n} on the lake."), answered("Noted."))
    user.append("s2", user_message("I sold my kayak number 9."), answered("Noted."))
    user.remember("User likes the kayak.", session_id="s1")
    user.settle()
    found = search(user, "s1", "kayak number 3")
    assert len(found["hits"]) == 5
    assert {(hit["source"], hit["session_id"]) for hit in found["hits"]} == {("event", "s1")}
    assert found["hits"][0]["text"] == "I paddled kayak number 3 on the lake."
    scores = [hit["score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True)
    other = search(user, "s2", "kayak")["hits"]
    assert (other[0]["seq"], {hit["session_id"] for hit in other}) == (1, {"s2"})
    assert search(user, "s2", "gardening")["hits"] == []


@pytest.mark.live
def test_d22_what_a_compaction_covers_is_still_found(user: Person) -> None:
    user.open("s1")
    for _ in range(2):
        user.append("s1", user_message("Good morning."), answered("Good morning."))
    user.append("s1", user_message("The kayak's serial number is QX-4711."), answered("Noted."))
    for _ in range(8):
        user.append("s1", user_message(filler(6_000)), answered(filler(6_000)))
    assert user.compact("s1")["result"]["outcome"] == "covered"
    [event] = user.events("s1", from_seq=5, limit=1)
    assert event["archived"] is True
    user.settle()
    assert search(user, "s1", "serial number of the kayak")["hits"][0]["seq"] == 5


@pytest.mark.live
def test_d22_an_unknown_conversation_and_that_of_another_are_not_found(
    user: Person, person: Callable[[ApiClient], Person], api: ApiClient
) -> None:
    user.open("s1")
    other = person(api)
    for someone, conversation in ((other, "s1"), (user, "s9")):
        body: Json = {"arguments": {"query": "kayak", "conversation_id": conversation}}
        told = someone.expect(200, "POST", "/tools/search_conversation", body)
        assert set(told) == {"content", "is_error"} and told["is_error"] and "conversation_id" in told["content"]
        body = {"session_id": conversation, "arguments": {"query": "kayak"}}
        assert someone.expect(404, "POST", "/tools/search_conversation", body)["code"] == "session_not_found"
    without = user.expect(422, "POST", "/tools/search_conversation", {"arguments": {"query": "kayak"}})
    assert [error["field"] for error in without["errors"]] == ["session_id"]


@pytest.mark.live
def test_d22_without_a_name_it_is_the_conversation_of_the_call_without_its_question(user: Person) -> None:
    user.open("s1")
    user.append("s1", user_message("The kayak is red."), answered("Noted."), user_message("Which colour has my kayak?"))
    user.settle()
    body = {"session_id": "s1", "arguments": {"query": "colour kayak"}}
    seqs = [hit["seq"] for hit in user.expect(200, "POST", "/tools/search_conversation", body)["hits"]]
    assert seqs[0] == 1 and 3 not in seqs


# --- what the model reads -------------------------------------------------------------------------

WRONG = [
    ("recall_memory", {}, "query is required"),
    ("recall_memory", {"query": 1}, "query must be a string"),
    ("recall_memory", {"query": "kayak", "limit": 51}, "limit must be"),
    ("search_knowledge", {"query": " "}, "query must not be blank"),
    ("search_conversation", {"conversation_id": "s1"}, "query is required"),
    ("read_document", {}, "path is required"),
    ("read_document", {"path": "/a", "offset": -1}, "offset must be"),
]


@pytest.mark.live
@pytest.mark.parametrize(("tool", "arguments", "said"), WRONG)
def test_e19_what_a_model_does_wrong_is_an_answer_for_it(user: Person, tool: str, arguments: Json, said: str) -> None:
    user.open("s1")
    told = user.expect(200, "POST", f"/tools/{tool}", {"session_id": "s1", "arguments": arguments})
    assert set(told) == {"content", "is_error"} and told["is_error"] and said in told["content"]


@pytest.mark.live
def test_e19_what_a_backend_does_wrong_is_refused(user: Person) -> None:
    for body in ({}, {"arguments": "{}"}, {"arguments": {"query": "kayak"}, "session": "s1"}, {"session_id": 1}):
        assert user.call("POST", "/tools/recall_memory", body).status == 422


FOUND = {
    "recall_memory": ({"query": "sister lives"}, "Kyoto"),
    "search_knowledge": ({"query": "bees manual"}, "/reference/bees"),
    "read_document": ({"path": "/reference/bees"}, "Feed the bees in autumn."),
    "search_conversation": ({"query": "number of the boat"}, "QX-4711"),
}


@pytest.mark.live
@pytest.mark.parametrize("tool", FOUND)
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_e19_the_model_reads_what_its_own_tool_found(user: Person, tool: str, provider: str) -> None:
    """In the loop and in the history of the next turn; and it is not observed."""
    arguments, found = FOUND[tool]
    user.remember("My sister Ana lives in Kyoto.")
    user.put_document("/reference/bees", "Feed the bees in autumn.", name="bees manual")
    user.open("s1")
    user.append("s1", user_message("The number of the boat is QX-4711."), answered("Noted."), user_message("Tell me."))
    user.settle()
    answer = user.expect(200, "POST", f"/tools/{tool}", {"session_id": "s1", "arguments": arguments})
    assert answer["is_error"] is False and found in answer["content"] and "Tell me." not in answer["content"]
    data = {"tool_use_id": "t1", "name": tool}
    user.append(
        "s1",
        {"event_type": "tool_call", "content": "", "event_data": {**data, "args": arguments}},
        {"event_type": "tool_result", "content": answer["content"], "event_data": data},
    )
    in_the_loop = user.context("s1", format=provider, retrieval="tools")
    user.append("s1", answered("Here it is."))
    later = user.context("s1", "Thanks, and now?", format=provider, retrieval="tools")
    for made in (in_the_loop, later):
        assert results_in(made["request"]) == [answer["content"].strip()]
        used = {one["section"]: one["used"] for one in made["report"]["sections"]}
        assert used["message" if made is in_the_loop else "history"] >= tokens(answer["content"])
    assert user.events("s1", from_seq=5, limit=1)[0]["original_tokens"] < 30, "it was not said"
    user.observe("s1")
    assert all("Kyoto" not in row["text"] for row in user.memories() if row["kind"] != "manual")


def results_in(request: Json) -> list[str]:
    """The texts of the results, in either format."""
    found = []
    for message in request["messages"]:
        if message["role"] == "tool":
            found.append(message["content"].strip())
        for block in message.get("content") or () if isinstance(message.get("content"), list) else ():
            if block["type"] == "tool_result":
                found.append("".join(part["text"] for part in block["content"]).strip())  # noqa: PERF401
    return found


@pytest.mark.live
def test_e19_a_tool_leaves_out_what_the_prompt_of_its_session_shows(user: Person) -> None:
    """The question, the history and the pack; and says it where nothing else is found."""
    user.open("s2")
    user.append("s2", user_message("I rent a red kayak in Bergen."), answered("Noted."))
    user.settle()
    user.remember("User has a kayak licence.")
    user.open("s1")
    user.append("s1", user_message("I like kayaks."), answered("Good."), user_message("Where do I rent the kayak?"))
    user.settle()
    body = {"session_id": "s1", "arguments": {"query": "rent kayak"}}
    found = user.expect(200, "POST", "/tools/recall_memory", body)
    assert {hit.get("session_id") for hit in found["hits"]} == {"s2"}
    assert "Bergen" in found["content"] and "Where do I rent" not in found["content"]
    body = {"session_id": "s1", "arguments": {"query": "licence"}}
    shown = user.expect(200, "POST", "/tools/recall_memory", body)
    assert (shown["hits"], shown["result_state"], shown["is_error"]) == ([], "none", False)
    assert shown["content"].startswith("Nothing was found beside what the context shows already.")
    assert "kayak licence" in shown["content"]
    body = {"session_id": "s1", "arguments": {"query": "submarine"}}
    nothing = user.expect(200, "POST", "/tools/recall_memory", body)
    assert nothing["content"] == "Nothing was found beside what the context shows already."


# --- documents ------------------------------------------------------------------------------------


def read(user: Person, path: str, **more: int) -> Json:
    return dict(user.expect(200, "POST", "/tools/read_document", {"arguments": {"path": path, **more}}))


@pytest.mark.live
def test_d33_what_a_compaction_put_away_is_read_as_it_was(user: Person) -> None:
    """In pages of 4,000 tokens, which is 12,800 characters of ASCII."""
    output = "".join(f"line {n:05d}: café & <b>bold</b> \\u0041 \t\n" for n in range(700))
    user.open("s1")
    data = {"tool_use_id": "t1", "name": "fetch"}
    user.append(
        "s1",
        user_message("Look it up."),
        {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {}}},
        {"event_type": "tool_result", "content": output, "event_data": data},
        answered("I found it."),
    )
    for _ in range(3):
        user.append("s1", user_message("And now?"), answered("Nothing new."))
    assert user.compact("s1")["result"]["outcome"] == "pruned"
    [event] = user.events("s1", from_seq=3, limit=1)
    path = event["artifact_path"]
    assert event["content"] == f"[Tool output saved to {path}]"

    first = read(user, path)
    assert (first["found"], first["session_id"], first["seq"]) == (True, "s1", 3)
    assert (first["characters"], first["tokens"]) == (len(output), event["original_tokens"])
    pages = [first]
    while "next_offset" in pages[-1]:
        pages.append(read(user, path, offset=pages[-1]["next_offset"]))
    assert "".join(page["text"] for page in pages) == output
    assert len(pages) == -(-len(output) // 12_800) and all(tokens(page["text"]) <= 4_000 for page in pages)
    assert read(user, path, offset=len(output))["text"] == ""


@pytest.mark.live
def test_d33_nothing_else_can_be_read(user: Person) -> None:
    missing = "/artifacts/01JZZZZZZZZZZZZZZZZZZZZZZZ"
    for path in (missing, "/profile/identity", "/artifacts"):
        told = {"content": f"There is no document at {path}.", "is_error": True}
        assert read(user, path) == {"found": False, "path": path, **told}
    for path in ("/artifacts/../profile", "artifacts/x", "/", "//x", "/" + "x" * 900, "/a" * 21):
        problem = user.expect(422, "POST", "/tools/read_document", {"arguments": {"path": path}})
        assert [error["field"] for error in problem["errors"]] == ["arguments.path"]


@pytest.mark.live
def test_d33_an_artifact_of_another_is_not_found(
    user: Person, person: Callable[[ApiClient], Person], api: ApiClient, api_c: ApiClient
) -> None:
    user.open("s1")
    data = {"tool_use_id": "t1", "name": "fetch"}
    call = {"event_type": "tool_call", "content": "", "event_data": {**data, "args": {}}}
    user.append(
        "s1", user_message("Go."), call, {"event_type": "tool_result", "content": "x" * 6_000, "event_data": data}
    )
    user.append(
        "s1", answered("Done."), *[event for _ in range(3) for event in (user_message("So?"), answered("Yes."))]
    )
    user.compact("s1")
    [event] = user.events("s1", from_seq=3, limit=1)
    assert read(user, event["artifact_path"])["text"] == "x" * 6_000
    for client in (api, api_c):
        assert read(person(client), event["artifact_path"])["found"] is False
