"""``python -m tests.http.real_encoder.offline <folder>``: the memory of a machine that has no network.

Where Linux allows it (``unshare -rn python -m …``), that is meant literally: the process and the service that it starts
have a loopback interface and nothing else, whatever library wants to get out. What happened is printed as JSON."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.other_server import controlled_server
from tests.http.driving.people import Json, answered, new_user, user_message
from tests.http.real_encoder.egress import blocked_egress

MEMORY = "User's sister is named Mary."
QUESTION = "what is my sibling called?"
"""No word of the memory but stop words."""
NAMESPACE = ("unshare", "--map-root-user", "--net")
ELSEWHERE = ("192.0.2.1", 443)
_SET_FLAGS = 0x8914
_UP = 0x1


def namespace() -> tuple[str, ...]:
    """What to put before a command so that it runs without a network; empty where that is not allowed."""
    try:
        allowed = subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return ()
    return NAMESPACE if allowed else ()


def remember_and_recall(client: ApiClient, controls: Controls) -> Json:
    """A memory that is found by meaning and a turn that is observed: ``{written, recall, observed}``."""
    path = f"/v1/users/{new_user()}"
    written = client.expect(201, "POST", f"{path}/memories", {"text": MEMORY})
    client.expect(200, "POST", f"{path}/sessions", {"session_id": "s1"})
    turn = [user_message("I am vegetarian."), answered()]
    client.expect(201, "POST", f"{path}/sessions/s1/events", {"events": turn})
    controls.drain()
    recall = client.expect(200, "POST", f"{path}/recall", {"query": QUESTION})
    observed = client.expect(200, "GET", f"{path}/memories", query={"kind": "observation"})["memories"]
    return {"written": written, "recall": recall, "observed": observed}


def assert_remembered(done: Json) -> None:
    best, *_ = done["recall"]["hits"]
    assert (best["id"], best["components"]["rank_vec"]) == (done["written"]["id"], 1)
    assert "rank_lex" not in best["components"], "by meaning, not by a word"
    assert done["recall"]["degraded"] == []
    assert len(done["observed"]) == 1


def main() -> None:
    folder = Path(sys.argv[1])
    if os.environ.get("NEVE_TEST_NAMESPACE"):
        _bring_up_loopback()
    egress = blocked_egress(folder / "egress")
    with controlled_server(folder / "data", "embedded", embedder="bge-small", env=egress.env) as (client, controls):
        done = remember_and_recall(client, controls)
        health = client.expect(200, "GET", "/v1/health")
    print(json.dumps({**done, "health": health, "attempts": egress.attempts(), "elsewhere": _reach_elsewhere()}))


def _bring_up_loopback() -> None:
    """It is there in a new network namespace, and down."""
    from fcntl import ioctl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        ioctl(asked, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))


def _reach_elsewhere() -> str:
    """What the system says when this process, which no hook keeps in, wants to get out."""
    try:
        socket.create_connection(ELSEWHERE, 1).close()
    except OSError as error:
        return type(error).__name__ if error.errno is None else os.strerror(error.errno)
    return "reached"


if __name__ == "__main__":
    main()
