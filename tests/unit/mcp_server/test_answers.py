"""What a host is answered in both eras of the protocol, by the official client over the function's events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from neve_mcp.calls import Answered, Unreachable
from neve_mcp.memory import NOT_NEVE
from neve_mcp.web import Web
from tests.unit.mcp_server.host import ERAS, Api, answered, connected, event_of, token_of

READERS = ["recall_memory", "search_knowledge", "read_document", "search_conversation"]
WRITERS = ["remember", "correct", "forget"]
OFF = answered(403, code="write_tools_off", detail="Set the policy's write_tools.")


def by_rule(method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
    """A memory that repeats what it is asked, of a tenant that lets no model write."""
    if path.partition("?")[0].endswith("/pack"):
        return Answered(200, {"etag": '"v1"'}, b"<neve-memory>Ada lives in Lisbon.</neve-memory>")
    if path.endswith(("remember", "correct", "forget")):
        return OFF
    return answered(content=f"{method} {path} {body}", is_error=False)


def ask(api: Api, era: str, asked: Callable[[Client], Awaitable[Any]], query: str = "") -> Any:
    """Ask as the official client does. Raises MCPError behind the connection, whose task group would wrap it."""

    async def run() -> Any:
        async with connected(Web(api), token_of("ada"), era, query) as client:
            try:
                return await asked(client)
            except MCPError as error:
                return error

    if isinstance(found := asyncio.run(run()), MCPError):
        raise found
    return found


def text_of(result: Any) -> str:
    (part,) = result.content
    return str(part.text)


@pytest.mark.parametrize("era", ERAS)
def test_writers_are_listed_where_the_policy_lets_a_model_write(era: str) -> None:
    def names(answer: Any) -> list[str]:
        found = ask(Api(answer), era, lambda client: client.list_tools())
        return [tool.name for tool in found.tools]

    def offering(*tools: str) -> Any:
        return lambda *_: answered(version="5", anthropic=[{"name": name} for name in tools])

    assert names(offering(*READERS)) == READERS
    assert names(offering(*WRITERS, *READERS)) == READERS + WRITERS
    assert names(lambda *_: answered(403, code="forbidden")) == READERS


@pytest.mark.parametrize("era", ERAS)
def test_a_list_of_tools_is_private_and_fresh_for_a_minute(era: str) -> None:
    found = ask(Api(by_rule), era, lambda client: client.list_tools())
    assert (found.ttl_ms, found.cache_scope) == (60_000, "private") if era != "legacy" else found.tools


@pytest.mark.parametrize("era", ERAS)
def test_a_call_goes_to_the_user_of_the_token_with_the_token(era: str) -> None:
    api = Api(by_rule)
    found = ask(api, era, lambda client: client.call_tool("recall_memory", {"query": "city", "limit": 3}))
    asked = ("POST", "/v1/users/ada/tools/recall_memory", {"arguments": {"query": "city", "limit": 3}}, token_of("ada"))
    assert api.asked[-1] == asked
    assert not found.is_error and text_of(found).startswith("POST /v1/users/ada")


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_call_of_a_tool_is_one_call_of_the_api(version: str) -> None:
    """Without a client, which lists the tools by itself."""
    paths: list[str] = []

    def noted(method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
        paths.append(path)
        return by_rule(method, path, body, token)

    asked: dict[str, Any] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "recall_memory", "arguments": {"query": "x"}},
    }
    headers = {"authorization": f"Bearer {token_of('ada')}", "accept": "application/json, text/event-stream"}
    headers |= {"content-type": "application/json", "mcp-protocol-version": version}
    if version == ERAS[1]:
        asked["params"]["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers |= {"mcp-method": "tools/call", "mcp-name": "recall_memory"}
    answer = Web(Api(noted)).answer(event_of("POST", headers, json.dumps(asked).encode()))
    assert answer["statusCode"] == 200, answer
    assert paths == ["/v1/users/ada/tools/recall_memory"]


@pytest.mark.parametrize("era", ERAS)
def test_whoever_connects_may_name_the_conversation(era: str) -> None:
    api = Api(by_rule)
    ask(api, era, lambda client: client.call_tool("recall_memory", {"query": "city"}), "?session_id=s1")
    assert api.asked[-1][2] == {"arguments": {"query": "city"}, "session_id": "s1"}
    ask(api, era, lambda client: client.read_resource("neve://pack"), "?session_id=s1")
    assert api.asked[-1][1] == "/v1/users/ada/pack?format=text&session_id=s1"


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_call_without_its_argument_is_a_mistake_that_the_model_hears_of(era: str) -> None:
    sentence = "The arguments of this call are wrong: query is required. Call the tool again with other ones."
    api = Api(lambda *_: answered(content=sentence, is_error=True))
    found = ask(api, era, lambda client: client.call_tool("recall_memory"))
    assert found.is_error and text_of(found) == sentence
    assert api.asked[-1][2] == {"arguments": {}}


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_an_error_of_the_protocol_that_names_those_there_are(era: str) -> None:
    with pytest.raises(MCPError, match="There is no tool 'recall'; there are recall_memory, search_knowledge"):
        ask(Api(by_rule), era, lambda client: client.call_tool("recall", {"query": "x"}))


@pytest.mark.parametrize(
    ("refusal", "sentence"),
    [
        (OFF, "A model may not write to this memory: tell the user that nothing was changed."),
        (
            answered(429, {"retry-after": "2"}, code="throttled", detail="Too many requests."),
            "Too many requests. Try again in 2 s.",
        ),
        (Answered(502, {}, b"<html>"), "Neve answered 502. Try again."),
        (Answered(200, {}, b"<html>Welcome to nginx!</html>"), NOT_NEVE),
        (answered(ok=True), NOT_NEVE),
        (
            answered(422, detail="session_id: is required", errors=[{"field": "session_id", "message": "is required"}]),
            "This connection names no conversation: leave scope out, or name a conversation_id.",
        ),
        (
            answered(422, detail="Wrong.", errors=[{"field": "arguments.limit", "message": "must be at most 50"}]),
            "Wrong: limit must be at most 50.",
        ),
    ],
)
def test_what_the_api_refuses_is_a_sentence_for_the_model(refusal: Answered, sentence: str) -> None:
    found = ask(Api(lambda *_: refusal), ERAS[1], lambda client: client.call_tool("remember", {"text": "x"}))
    assert found.is_error and text_of(found) == sentence


def test_an_api_that_nobody_reaches_is_told_to_the_model() -> None:
    def down(*_: Any) -> Answered:
        raise Unreachable("Nobody answers at https://neve.example: ConnectError.")

    found = ask(Api(down), ERAS[1], lambda client: client.call_tool("recall_memory", {"query": "x"}))
    assert found.is_error and text_of(found).startswith("Nobody answers at https://neve.example")
    with pytest.raises(MCPError, match="Nobody answers"):
        ask(Api(down), ERAS[1], lambda client: client.read_resource("neve://pack"))


def test_a_confirm_is_in_the_text_that_a_model_reads() -> None:
    api = Api(lambda *_: answered(content="1 memory would go.", is_error=False, confirm="c-1"))
    found = ask(api, ERAS[1], lambda client: client.call_tool("forget", {"query": "Lisbon"}))
    assert text_of(found) == "1 memory would go.\nconfirm: c-1"


def test_a_kind_reaches_the_api_as_its_category() -> None:
    api = Api(lambda *_: answered(content="Remembered.", is_error=False))
    ask(api, ERAS[1], lambda client: client.call_tool("remember", {"text": "Ada lives in Lisbon.", "kind": "PLACE"}))
    assert api.asked[-1][2] == {"arguments": {"text": "Ada lives in Lisbon.", "category": "PLACE"}}


@pytest.mark.parametrize("era", ERAS)
def test_the_pack_is_a_resource_with_its_etag(era: str) -> None:
    (listed,) = ask(Api(by_rule), era, lambda client: client.list_resources()).resources
    (pack,) = ask(Api(by_rule), era, lambda client: client.read_resource("neve://pack")).contents
    assert (listed.uri, pack.uri, pack.meta) == ("neve://pack", "neve://pack", {"etag": '"v1"'})
    assert "Lisbon" in pack.text


def test_a_preview_which_has_no_etag_gets_one_of_its_bytes() -> None:
    def etag(text: bytes) -> str:
        found = ask(
            Api(lambda *_: Answered(200, {}, text)), ERAS[1], lambda client: client.read_resource("neve://pack")
        )
        return str(found.contents[0].meta["etag"])

    assert etag(b"one") == etag(b"one") != etag(b"two")


@pytest.mark.parametrize("era", ERAS)
def test_there_is_one_resource_and_one_prompt(era: str) -> None:
    with pytest.raises(MCPError, match="There is no resource 'neve://other'; there is neve://pack"):
        ask(Api(by_rule), era, lambda client: client.read_resource("neve://other"))
    with pytest.raises(MCPError, match="There is no prompt 'other'; there is memory"):
        ask(Api(by_rule), era, lambda client: client.get_prompt("other"))
    (prompt,) = ask(Api(by_rule), era, lambda client: client.list_prompts()).prompts
    assert prompt.name == "memory"


@pytest.mark.parametrize("era", ERAS)
def test_the_prompt_holds_the_pack_and_what_a_query_finds(era: str) -> None:
    found = ask(Api(by_rule), era, lambda client: client.get_prompt("memory", {"query": "city"}))
    pack, hits = (message.content.text for message in found.messages)
    assert "Lisbon" in pack and "recall_memory" in hits
    nothing = ask(Api(lambda *_: Answered(200, {}, b"")), era, lambda client: client.get_prompt("memory"))
    assert [message.content.text for message in nothing.messages] == ["Nothing is known of the user yet."]
