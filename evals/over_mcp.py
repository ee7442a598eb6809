"""``python -m evals.over_mcp``: what MCP costs beyond the call of the API that a tool becomes.

One service, one user, one connection for each way. The same call of a tool is made by turns as a call of the API and
over ``/mcp`` in both eras of the protocol; the difference of the medians is what the protocol adds, the second check of
the token included. Then the function of ``/mcp`` in processes of its own: until it is imported, and its first event.
Writes its part of docs/benchmark.md with ``--write``. Exits with 1 when a call is more than 5 ms over the API's."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from evals.bench import machine
from evals.markers import write_between
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import RunningServer, start_server
from local.template import ROOT

CALLS, WARM_UP, STARTS = 300, 20, 5
MOST_MS = 5.0
"""*Given*: of a call over MCP beyond the function that it asks, on a warm process."""
USER = "ada"
TOOLS: Mapping[str, Mapping[str, str]] = {
    "read_document": {"path": "/notes/telescope"},
    "recall_memory": {"query": "Who has the telescope?"},
}
ERAS = ("2025-11-25", "2026-07-28")
META = {
    "io.modelcontextprotocol/protocolVersion": ERAS[1],
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
MARKERS = ("<!-- mcp:begin -->", "<!-- mcp:end -->")
DOCUMENT = ROOT / "docs" / "benchmark.md"
COLD = """
import json, sys, time
sys.path[:0] = [{code!r}, *{paths!r}]
began = time.process_time()
import app
imported = time.process_time()
answer = app.handler({event!r}, None)
assert answer["statusCode"] == 200, answer
print(json.dumps([(imported - began) * 1000, (time.process_time() - imported) * 1000]))
"""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": ERAS[0], "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.over_mcp", description=__doc__)
    parser.add_argument("--calls", type=int, default=CALLS, help=f"of each tool and way ({CALLS})")
    parser.add_argument("--write", action="store_true", help="put the sentence into docs/benchmark.md")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="neve-over-mcp-") as folder:
        service = start_server(Path(folder) / "data")
        try:
            token, over = _measured(service, given.calls)
        finally:
            service.stop()
    said = _said(over, _cold(token), load)
    print(said)
    if given.write:
        write_between(*MARKERS, said, DOCUMENT)
    return max(way["over"] for tool in over.values() for way in tool.values() if "over" in way) > MOST_MS


def _measured(service: RunningServer, calls: int) -> tuple[str, dict[str, dict[str, dict[str, float]]]]:
    """The token of the user, and milliseconds by tool and way: ``median``, and over MCP what it is ``over`` the API."""
    with closing(ApiClient(service.base_url, service.key)) as api:
        api.expect(201, "PUT", f"/v1/users/{USER}/documents?path=/notes/telescope", {"text": "It is with Bob."})
        api.expect(201, "POST", f"/v1/users/{USER}/memories", {"text": "The telescope is with Bob until Friday."})
        token = str(api.expect(201, "POST", f"/v1/users/{USER}/tokens", {"scopes": ["chat"], "ttl_s": 3600})["token"])
    found: dict[str, dict[str, dict[str, float]]] = {}
    with httpx2.Client(base_url=service.base_url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        for tool, arguments in TOOLS.items():
            ways = _ways(client, tool, arguments)
            times: dict[str, list[float]] = {way: [] for way in ways}
            for n in tracked(tool, list(range(WARM_UP + calls))):
                for way, call in ways.items():
                    began = time.perf_counter()
                    call()
                    if n >= WARM_UP:
                        times[way].append((time.perf_counter() - began) * 1000)
            medians = {way: statistics.median(taken) for way, taken in times.items()}
            found[tool] = {way: {"median": median} for way, median in medians.items()}
            for era in ERAS:
                found[tool][era]["over"] = medians[era] - medians["api"]
    return token, found


def _ways(client: httpx2.Client, tool: str, arguments: Mapping[str, str]) -> dict[str, Callable[[], None]]:
    def api() -> None:
        _good(client.post(f"/v1/users/{USER}/tools/{tool}", json={"arguments": arguments}))

    def era(version: str) -> Callable[[], None]:
        modern = version == ERAS[1]
        params = {"name": tool, "arguments": arguments} | ({"_meta": META} if modern else {})
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool} if modern else {}
        return lambda: _good(client.post("/mcp", json=body, headers=headers))

    return {"api": api, **{version: era(version) for version in ERAS}}


def _good(answer: httpx2.Response) -> None:
    result = answer.json().get("result", {})
    if answer.status_code != httpx2.codes.OK or result.get("isError"):
        raise RuntimeError(f"{answer.status_code} {answer.text[:300]}")


def _cold(token: str) -> tuple[float, float]:
    """Medians in milliseconds of processor time: importing the function in a new process, and its first event."""
    event: dict[str, Any] = {
        "httpMethod": "POST",
        "resource": "/mcp",
        "headers": {
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        },
        "body": json.dumps(INITIALIZE),
        "requestContext": {"domainName": "neve.example", "path": "/prod/mcp"},
    }
    program = COLD.format(code=str(ROOT / "functions" / "mcp"), paths=[str(ROOT / "sdk" / "python")], event=event)
    runs = []
    for _ in range(STARTS):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        )
        runs.append(json.loads(done.stdout))
    return statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)


def _said(over: Mapping[str, Any], cold: tuple[float, float], load: float) -> str:
    about = machine.describe()
    tools = "; ".join(
        f"`{tool}` takes {ways['api']['median']:.1f} ms as a call of the API, over MCP"
        f" {ways[ERAS[0]]['over']:.1f} ms more by {ERAS[0]} and {ways[ERAS[1]]['over']:.1f} by {ERAS[1]}"
        for tool, ways in over.items()
    )
    return (
        f"`python -m evals.over_mcp`: medians of {CALLS} calls at the client: {tools}. A new process of the"
        f" function takes {cold[0]:.0f} ms of processor time to be imported and {cold[1]:.0f} for its first event"
        f" (medians of {STARTS})."
        f" {about['cores']} cores ({about['cpu']}), load average {load:.1f} before it began,"
        f" {datetime.now(UTC):%Y-%m-%d}."
    )


if __name__ == "__main__":
    sys.exit(main())
