"""The table of scenarios, which the SDK of every language is held to, in both faces of the Python SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from local.api_client import ApiClient
from local.running import RunningServer
from local.template import ROOT
from sdk.python.neve import AsyncNeve, Neve
from tests.sdk.driving import Scene
from tests.sdk.proxy import Proxy

TABLE = [
    (file.stem, scenario)
    for file in sorted((ROOT / "sdk" / "scenarios").glob("*.json"))
    for scenario in json.loads(file.read_text(encoding="utf-8"))["scenarios"]
]
LEAST = 40


@pytest.mark.parametrize("face", [Neve, AsyncNeve], ids=["sync", "async"])
@pytest.mark.parametrize("scenario", [pytest.param(one, id=f"{file}: {one['name']}") for file, one in TABLE])
def test_the_scenario_holds(
    scenario: dict[str, Any],
    face: type[Neve] | type[AsyncNeve],
    proxied: Proxy,
    api: ApiClient,
    service: RunningServer,
) -> None:
    asyncio.run(Scene(face, proxied, api, service.key).play(scenario))


def test_the_table_is_whole() -> None:
    names = [scenario["name"] for _, scenario in TABLE]
    assert len(names) == len(set(names))
    assert len(names) >= LEAST
