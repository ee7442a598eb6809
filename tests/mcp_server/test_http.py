"""``/mcp`` of the service on one machine, by the official client with tokens of users."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from local.api_client import ApiClient
from local.running import RunningServer
from tests.http.tokens.making import rewritten
from tests.unit.mcp_server.host import ERAS

CALLS = int(os.environ.get("NEVE_MCP_CALLS", "100"))
"""Interleaved, of both users together; NEVE_MCP_CALLS=10000 takes some minutes."""
AT_ONCE = 4
CALL = {"name": "recall_memory", "arguments": {"query": "Where does the user live?"}}
ASK = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def token_of(api: ApiClient, user: str, *scopes: str) -> str:
    body = {"scopes": list(scopes or ("chat",)), "ttl_s": 600}
    return str(api.expect(201, "POST", f"/v1/users/{user}/tokens", body)["token"])


@asynccontextmanager
async def connected(service: RunningServer, token: str, era: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(f"{service.base_url}/mcp", http_client=http), mode=era) as client,
    ):
        yield client


def asked(service: RunningServer, token: str | None, headers: Mapping[str, str] | None = None) -> httpx2.Response:
    """Call a tool without a client in between."""
    given = ASK | ({"Authorization": f"Bearer {token}"} if token else {}) | dict(headers or {})
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}
    return httpx2.post(f"{service.base_url}/mcp", json=body, headers=given, timeout=60)


@pytest.mark.parametrize("era", ERAS)
def test_a_token_finds_what_its_user_said(service: RunningServer, api: ApiClient, era: str) -> None:
    async def run() -> tuple[Any, Any, Any]:
        async with connected(service, token_of(api, "ada"), era) as client:
            found = await client.call_tool("recall_memory", {"query": "Where does the user live?"})
            wrong = await client.call_tool("recall_memory", {"limit": 3})
            return found, wrong, (await client.read_resource("neve://pack")).contents[0]

    found, wrong, pack = asyncio.run(run())
    assert "Lisbon" in found.content[0].text and "Oslo" not in found.content[0].text
    assert wrong.is_error and "query is required" in wrong.content[0].text
    assert "Lisbon" in pack.text


def test_two_users_by_two_tokens_at_once_see_their_own(service: RunningServer, api: ApiClient) -> None:
    cities = {"ada": "Lisbon", "bob": "Oslo"}

    async def one(user: str, era: str) -> list[str]:
        async with connected(service, token_of(api, user), era) as client:

            async def call(_: int) -> str:
                found = await client.call_tool("recall_memory", {"query": "Where does the user live?"})
                return str(getattr(found.content[0], "text", ""))

            said: list[str] = []
            for n in range(0, CALLS // 2, AT_ONCE):
                said += await asyncio.gather(*map(call, range(n, n + AT_ONCE)))
            return said

    async def both() -> list[list[str]]:
        return await asyncio.gather(*map(one, cities, ERAS))

    for own, said in zip(cities.values(), asyncio.run(both()), strict=True):
        assert len(said) >= CALLS // 2
        assert {city for city in cities.values() for text in said if city in text} == {own}


def test_without_a_token_of_a_user_nothing_is_called(service: RunningServer, api: ApiClient) -> None:
    nobody = asked(service, None)
    assert (nobody.status_code, nobody.headers["WWW-Authenticate"]) == (401, "Bearer")
    forged = asked(service, rewritten(token_of(api, "ada"), sub="bob"))
    assert (forged.status_code, forged.headers["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')
    tenant = asked(service, service.key)
    assert tenant.status_code == 403
    assert "POST /v1/users/{user_id}/tokens" in tenant.json()["error"]["message"]
    console = api.expect(201, "POST", "/v1/tokens", {"scopes": ["chat"]})["token"]
    assert asked(service, console).status_code == 403


def test_a_token_ends_with_its_time_and_with_its_key(service: RunningServer, api: ApiClient) -> None:
    token = token_of(api, "ada")
    assert asked(service, token).status_code == 200
    later = asked(service, token, {"X-Test-Now": f"{datetime.now(UTC) + timedelta(hours=2):%Y-%m-%dT%H:%M:%S.000Z}"})
    assert (later.status_code, later.headers["WWW-Authenticate"]) == (401, 'Bearer error="invalid_token"')
    made = api.expect(201, "POST", "/v1/keys", {"scopes": ["tokens"]})
    other = httpx2.post(
        f"{service.base_url}/v1/users/ada/tokens",
        json={"scopes": ["chat"]},
        headers={"Authorization": f"Bearer {made['key']}"},
    ).json()["token"]
    api.expect(204, "DELETE", f"/v1/keys/{made['key_id']}")
    assert asked(service, other).status_code == 401


def test_a_scope_that_the_token_lacks_is_told_to_the_model(service: RunningServer, api: ApiClient) -> None:
    async def run() -> tuple[Any, Any]:
        async with connected(service, token_of(api, "ada", "documents"), ERAS[1]) as client:
            knowledge = await client.call_tool("search_knowledge", {"query": "city"})
            return knowledge, await client.call_tool("recall_memory", {"query": "city"})

    knowledge, memory = asyncio.run(run())
    assert not knowledge.is_error
    assert memory.is_error and "scope 'chat'" in memory.content[0].text


@pytest.mark.parametrize("era", ERAS)
def test_a_model_remembers_corrects_and_forgets_where_the_policy_lets_it(
    service: RunningServer, api: ApiClient, era: str
) -> None:
    user = f"eve-{era}"
    policy = api.expect(200, "GET", "/v1/policy")["policy"]

    async def run() -> list[Any]:
        async with connected(service, token_of(api, user), era) as client:

            async def call(tool: str, **arguments: Any) -> Any:
                found: Any = await client.call_tool(tool, arguments)
                return found.content[0].text, found.is_error

            refused = await call("remember", text="The user lives in Bergen.")
            api.expect(200, "PUT", "/v1/policy", {**policy, "write_tools": "on"})
            said = [refused, [tool.name for tool in (await client.list_tools()).tools]]
            said.append(await call("remember", text="The user lives in Bergen.", kind="PLACE"))
            (known,) = re.findall(r"mem_\w+", said[-1][0])
            said.append(await call("correct", id=known, text="The user lives in Tromsø.", reason="They moved."))
            (corrected,) = set(re.findall(r"mem_\w+", said[-1][0])) - {known}
            said.append(await call("forget", id=corrected))
            (confirm,) = re.findall(r"with confirm (\S+?)\.?\s", said[-1][0] + " ")
            said.append(await call("forget", confirm=confirm))
            said.append(await call("forget", confirm="stale"))
            return said

    try:
        refused, listed, *done, stale = asyncio.run(run())
    finally:
        api.expect(200, "PUT", "/v1/policy", policy)
    assert refused == ("A model may not write to this memory: tell the user that nothing was changed.", True)
    assert listed[4:] == ["remember", "correct", "forget"]
    assert not [text for text, is_error in done if is_error], done
    assert stale[1]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_nothing_to_listen_to_and_nothing_to_end(service: RunningServer, api: ApiClient, method: str) -> None:
    headers = {"Authorization": f"Bearer {token_of(api, 'ada')}", "Accept": "text/event-stream"}
    answer = httpx2.request(method, f"{service.base_url}/mcp", headers=headers)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")


def test_what_is_no_json_is_an_error_of_the_protocol(service: RunningServer, api: ApiClient) -> None:
    headers = ASK | {"Authorization": f"Bearer {token_of(api, 'ada')}", "Content-Type": "application/json"}
    answer = httpx2.post(f"{service.base_url}/mcp", content=b"{", headers=headers)
    assert answer.status_code == 400
    assert json.loads(answer.content)["error"]["code"] == -32700
