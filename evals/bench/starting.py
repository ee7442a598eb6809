"""How long it takes from the start of the process to the first answers."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.bench.operations import SESSION, USER
from local.api_client import ApiClient
from local.bootstrap import KEY_FILE
from local.running import EmbedderName, RunningServer, launch

LOOK_S = 0.002
GIVE_UP_S = 60.0
PATHS = {"health": "/v1/health", "pack": f"/v1/users/{USER}/pack?session_id={SESSION}"}


def first_answers(data: Path, embedder: EmbedderName) -> tuple[RunningServer, dict[str, float]]:
    """The service, and seconds until the first 200 of ``/v1/health``, then of a pack, then of a recall by both legs,
    which waits for the encoder. ``data`` holds the user and the session of the benchmark."""
    port, key = _free_port(), (data / KEY_FILE).read_text().strip()
    began = time.perf_counter()
    process, _, output = launch(data, embedder=embedder, port=port)
    server = RunningServer(f"http://127.0.0.1:{port}", key, process, output)
    client = ApiClient(server.base_url, key)
    taken = {}
    for name, path in PATHS.items():
        taken[name] = _first(lambda path=path: client.call("GET", path).status == 200, began)  # type: ignore[misc]
    taken["recall"] = _first(lambda: _recalled(client), began)
    client.close()
    return server, taken


def _recalled(client: ApiClient) -> bool:
    body = {"query": "Who has the telescope now?", "mode": "tool"}
    answer: dict[str, Any] = client.expect(200, "POST", f"/v1/users/{USER}/recall", body)
    return not answer["degraded"]


def _first(answered: Callable[[], bool], began: float) -> float:
    while not _without_error(answered):
        if time.perf_counter() - began > GIVE_UP_S:
            raise TimeoutError("the service does not answer")
        time.sleep(LOOK_S)
    return time.perf_counter() - began


def _without_error(answered: Callable[[], bool]) -> bool:
    try:
        return answered()
    except (OSError, http.client.HTTPException):
        return False


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
