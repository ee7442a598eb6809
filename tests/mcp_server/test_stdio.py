"""``neve mcp`` as a host on one's own machine starts it, by the official client."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from local.api_client import ApiClient
from local.running import RunningServer
from local.template import ROOT
from tests.mcp_server.test_http import token_of
from tests.unit.mcp_server.host import ERAS

COMMAND = ["-m", "neve_cli", "mcp"]
OWN = {"PYTHONPATH": str(ROOT / "sdk" / "python"), "PATH": os.environ["PATH"]}


@pytest.mark.parametrize(("era", "secret"), list(zip(ERAS, ("key", "token"), strict=True)))
def test_a_host_finds_what_is_remembered(service: RunningServer, api: ApiClient, era: str, secret: str) -> None:
    by_key = {"NEVE_KEY": service.key, "NEVE_USER": "ada"}
    who = by_key if secret == "key" else {"NEVE_TOKEN": token_of(api, "ada")}
    where = OWN | {"NEVE_URL": service.base_url} | who
    server = StdioServerParameters(command=sys.executable, args=COMMAND, env=where)

    async def run() -> tuple[list[str], Any, Any]:
        async with Client(server, mode=era) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("recall_memory", {"query": "Where does the user live?"})
            return tools, found, (await client.read_resource("neve://pack")).contents[0]

    tools, found, pack = asyncio.run(run())
    assert tools[:4] == ["recall_memory", "search_knowledge", "read_document", "search_conversation"]
    assert "Lisbon" in found.content[0].text and "Oslo" not in found.content[0].text
    assert "Lisbon" in pack.text and pack.meta["etag"]
