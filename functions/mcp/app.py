"""The memory of one user for a model's host, over the Model Context Protocol: every request becomes calls of the API,
with the token that came with it. This function may read and write nothing by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neve_mcp.in_process import calls
from neve_mcp.web import Web

web = Web(calls())


def handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    return web.answer(event)
