"""Whose memory a request is about, and that nothing of one user is in another's answers."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from typing import Any

import pytest

from neve_mcp.calls import Answered
from neve_mcp.tokens import memory_of, user_of
from neve_mcp.web import Web
from tests.unit.mcp_server.host import ERAS, Api, answered, connected, event_of, token_of

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
USERS = ("ada", "bob")
CALLS = int(os.environ.get("NEVE_MCP_CALLS", "1000"))
"""Interleaved, of both users together; NEVE_MCP_CALLS=10000 is what docs/mcp.md promises."""


def refused(method: str, headers: Mapping[str, str]) -> tuple[int, str, Mapping[str, str]]:
    answer = Web(Api(lambda *_: answered())).answer(
        event_of(method, ACCEPT | dict(headers), json.dumps(INITIALIZE).encode())
    )
    return answer["statusCode"], json.loads(answer["body"]).get("error", {}).get("message", ""), answer["headers"]


def test_a_key_of_a_tenant_is_refused_with_the_cure() -> None:
    status, message, _ = refused("POST", {"authorization": "Bearer nv_abc_def"})
    assert status == 403 and "POST /v1/users/{user_id}/tokens" in message


def test_no_token_is_refused_with_the_header_to_send() -> None:
    status, message, headers = refused("POST", {})
    assert (status, headers["WWW-Authenticate"]) == (401, "Bearer") and "Authorization: Bearer" in message


def test_a_token_that_is_over_is_refused_before_anything_is_asked() -> None:
    status, message, headers = refused("POST", {"authorization": f"Bearer {token_of('ada', exp=1)}"})
    assert (status, headers["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')
    assert "POST /v1/users/{user_id}/tokens" in message
    assert refused("POST", {"authorization": f"Bearer {token_of('ada', exp=2**33)}"})[0] == 200


def test_a_token_that_the_api_refuses_is_a_401_whatever_was_asked() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = ACCEPT | {"authorization": f"Bearer {token_of('ada')}", "mcp-protocol-version": "2025-11-25"}
    api = Api(lambda *_: answered(401, code="unauthorized", detail="Revoked."))
    answer = Web(api).answer(event_of("POST", headers, json.dumps(asked).encode()))
    assert (answer["statusCode"], answer["headers"]["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_no_session_to_listen_to_or_to_end(method: str) -> None:
    status, message, headers = refused(method, {"authorization": f"Bearer {token_of('ada')}"})
    assert (status, headers["Allow"]) == (405, "POST") and "POST" in message


def test_a_page_of_another_site_is_refused() -> None:
    def status(origin: str) -> int:
        headers = ACCEPT | {"authorization": f"Bearer {token_of('ada')}", "origin": origin}
        event = event_of("POST", headers, json.dumps(INITIALIZE).encode())
        return int(Web(Api(lambda *_: answered())).answer(event)["statusCode"])

    assert status("https://evil.example") == 403
    assert status("https://neve.example") == status("http://localhost:6274") == 200


@pytest.mark.parametrize(
    "token",
    ["", "a.b", "a.b.c", "a.bnVsbA.c", "a.W10.c", "a.eyJzdWIiOjF9.c", "a.eyJzdWIiOiIifQ.c", "a.e30.c", "a.b.c.d"],
)
def test_what_is_no_token_of_a_user_names_none(token: str) -> None:
    assert user_of(token) is None


def test_a_token_is_read_out_of_its_header() -> None:
    assert memory_of(f"bearer  {token_of('ada')} ", Api(lambda *_: answered())).token == token_of("ada")
    assert user_of(token_of("ada lovelace/ü")) == "ada lovelace/ü"


def test_a_name_stays_one_part_of_the_path() -> None:
    api = Api(lambda *_: answered(content="", is_error=False))

    async def run() -> None:
        async with connected(Web(api), token_of("../bob"), ERAS[1]) as client:
            await client.call_tool("recall_memory", {"query": "x"})

    asyncio.run(run())
    assert api.asked[-1][1] == "/v1/users/..%2Fbob/tools/recall_memory"


def test_of_interleaved_calls_none_has_anything_of_the_other_user() -> None:
    """One server, one connection of each user, and an era each, so that both ways through the server are mixed."""

    def echo(_: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered:
        query = (body or {"arguments": {}})["arguments"].get("query")
        return answered(content=f"{path} {query} {user_of(token)}", is_error=False)

    web = Web(Api(echo))

    async def one(user: str, era: str) -> list[str]:
        async with connected(web, token_of(user), era) as client:

            async def call(n: int) -> str:
                found = await client.call_tool("recall_memory", {"query": f"{user}-{n}"})
                return str(getattr(found.content[0], "text", ""))

            said: list[str] = []
            for n in range(0, CALLS // 2, 20):
                said += await asyncio.gather(*map(call, range(n, n + 20)))
            return said

    async def both() -> list[list[str]]:
        return await asyncio.gather(*map(one, USERS, ERAS))

    for user, said in zip(USERS, asyncio.run(both()), strict=True):
        assert said == [f"/v1/users/{user}/tools/recall_memory {user}-{n} {user}" for n in range(CALLS // 2)]
        assert not [text for text in said if re.search("|".join(set(USERS) - {user}), text)]
