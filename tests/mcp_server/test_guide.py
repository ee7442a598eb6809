"""Everything that docs/mcp.md tells a reader to write: configurations of hosts are used as a host would, the programs
run, and what they hand to a provider is called as the provider would call it."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from local.api_client import ApiClient
from local.running import RunningServer
from local.template import ROOT
from neve_mcp.tools import TOOLS
from tests.mcp_server.test_http import token_of
from tests.mcp_server.test_stdio import COMMAND, OWN
from tests.sdk import pages

PAGE = "mcp.md"
HERE = "http://127.0.0.1:8787"
"""Where the page says that the service is."""
GUIDE = (ROOT / "docs" / PAGE).read_text(encoding="utf-8")
CONFIGURATIONS = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)]
KEY = re.compile(r"\$\{(env:)?NEVE_KEY\}|\$\{input:neve-key\}")
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "claude-sonnet-5",
    "content": [{"type": "text", "text": "In Lisbon."}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 0,
    "model": "gpt-5",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


async def where_they_live(server: Any) -> str:
    async with Client(server) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} <= set(TOOLS)
        found = await client.call_tool("recall_memory", {"query": "Where does the user live?"})
        return str(getattr(found.content[0], "text", ""))


async def over_http(url: str, authorization: str) -> str:
    async with httpx2.AsyncClient(headers={"Authorization": authorization}, timeout=60) as http:
        return await where_they_live(streamable_http_client(url, http_client=http))


def test_the_page_configures_three_hosts_and_one_over_http() -> None:
    kinds = [next(iter(it.get("mcpServers") or it["servers"])) for it in CONFIGURATIONS]
    assert kinds == ["neve"] * 4


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=["claude-code", "cursor", "vs-code", "http"])
def test_a_configuration_leads_to_the_memory(
    service: RunningServer, api: ApiClient, configuration: dict[str, Any]
) -> None:
    told = (configuration.get("mcpServers") or configuration["servers"])["neve"]
    if told.get("type") == "http":
        api.expect(200, "POST", "/v1/users/ada/sessions", {"session_id": "s1"})
        authorization = told["headers"]["Authorization"].replace("${NEVE_TOKEN}", token_of(api, "ada"))
        found = asyncio.run(over_http(told["url"].replace(HERE, service.base_url), authorization))
    else:
        assert (told["command"], told["args"]) == ("neve", COMMAND[-1:])
        filled = {name: KEY.sub(service.key, value) for name, value in told["env"].items()}
        assert filled["NEVE_URL"] == HERE and filled["NEVE_KEY"] == service.key
        own = OWN | filled | {"NEVE_URL": service.base_url}
        found = asyncio.run(where_they_live(StdioServerParameters(command=sys.executable, args=COMMAND, env=own)))
    assert "Lisbon" in found and "Oslo" not in found


@contextmanager
def provider(answer: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Its address, and what it was asked for."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(("program", "answer"), [(0, MESSAGE), (1, RESPONSE)], ids=["messages", "responses"])
def test_a_program_hands_the_provider_what_it_needs(
    service: RunningServer, tmp_path: Path, program: int, answer: dict[str, Any]
) -> None:
    with provider(answer) as (url, asked):
        keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
        places = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": url, "NEVE_URL": service.base_url}
        done = pages.run(pages.blocks(PAGE)[program], tmp_path, "", keys | places | {"NEVE_KEY": service.key})
    assert done.returncode == 0, done.stderr
    (request,) = asked
    if "mcp_servers" in request:
        (told,) = request["mcp_servers"]
        assert request["tools"] == [{"type": "mcp_toolset", "mcp_server_name": told["name"]}]
        where, token = told["url"], told["authorization_token"]
    else:
        (told,) = request["tools"]
        where, token = told["server_url"], told["authorization"]
    assert "Lisbon" in asyncio.run(over_http(where, f"Bearer {token}"))
