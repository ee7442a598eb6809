"""T0: what was written can be recalled by meaning, in another process. Without it nothing else matters."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.running import StackName
from local.template import ROOT
from tests.http.controls import Controls
from tests.http.other_server import controlled_server
from tests.http.people import Person, new_user
from tests.http.stage import Stage
from tests.patience import PATIENCE_S

MEMORY = "User's sister is named Mary."
QUESTION = "what is my sibling called?"
"""No word of the memory but stop words."""
WITHIN_S = PATIENCE_S
ASKED_FOR_S = PATIENCE_S / 2
"""A process that has just begun may be too slow for a recall's budget."""

CLIENT = """
import json, os, sys, time
from local.api_client import ApiClient
client = ApiClient(os.environ["T0_URL"], os.environ["T0_KEY"])
end = time.monotonic() + float(sys.argv[3])
while True:
    answer = client.expect(200, "POST", sys.argv[1], {"query": sys.argv[2]})
    if answer["hits"] or time.monotonic() > end:
        break
    time.sleep(0.25)
print(json.dumps(answer))
"""

NO_EGRESS = '''
"""Every connection of this process that is not to this machine is refused, and noted in the file of T0_EGRESS."""

import os
import socket

_connect = socket.socket.connect
_resolve = socket.getaddrinfo
HERE = ("127.0.0.1", "::1", "localhost")


def _note(what):
    with open(os.environ["T0_EGRESS"], "a", encoding="utf-8") as notes:
        notes.write(f"{what}\\n")
    raise OSError(f"no way out to {what}")


def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in HERE:
        _note(address)
    return _connect(self, address)


def getaddrinfo(host, *more, **named):
    if host not in (None, "", *HERE):
        _note(host)
    return _resolve(host, *more, **named)


socket.socket.connect = connect
socket.socket.connect_ex = connect
socket.getaddrinfo = getaddrinfo
'''


@pytest.mark.live
def test_t0_a_new_process_recalls_it_by_meaning(user: Person, stage: Stage) -> None:
    written = user.expect(201, "POST", "/memories", {"text": MEMORY}, query={"wait": "embedded"})
    assert written["embedding_state"] == "ready"
    paths = os.pathsep.join([str(ROOT / "layers" / "core"), str(ROOT)])
    asked = subprocess.run(
        [sys.executable, "-c", CLIENT, f"{user.path}/recall", QUESTION, str(ASKED_FOR_S)],
        env={**os.environ, "PYTHONPATH": paths, "T0_URL": stage.base_url, "T0_KEY": stage.key},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    [hit] = json.loads(asked.stdout)["hits"]
    assert hit["id"] == written["id"]
    assert hit["components"]["rank_vec"] == 1
    assert "rank_lex" not in hit["components"], "by meaning, not by a word"


@pytest.mark.controls
def test_t0_a_restarted_server_recalls_it_by_meaning(tmp_path: Path, stack: StackName) -> None:
    user, data = new_user(), tmp_path / "data"
    with controlled_server(data, stack, own_servers=True) as (client, controls):
        written = client.expect(201, "POST", f"/v1/users/{user}/memories", {"text": MEMORY})
        client.expect(200, "POST", f"/v1/users/{user}/sessions", {"session_id": "s1"})
        controls.drain()
        assert client.expect(200, "GET", f"/v1/users/{user}/memories/{written['id']}")["embedding_state"] == "ready"
        pack = client.call("GET", f"/v1/users/{user}/pack", query={"session_id": "s1", "format": "text"})
    with controlled_server(data, stack, own_servers=True) as (client, _):
        [hit] = client.expect(200, "POST", f"/v1/users/{user}/recall", {"query": QUESTION})["hits"]
        assert hit["id"] == written["id"]
        assert hit["components"]["rank_vec"] == 1
        again = client.call("GET", f"/v1/users/{user}/pack", query={"session_id": "s1", "format": "text"})
        assert (again.body, again.headers["etag"]) == (pack.body, pack.headers["etag"])


@pytest.mark.live
def test_c37_nothing_is_recalled_that_was_not_saved(user: Person) -> None:
    assert user.recalled(QUESTION) == []
    kept = user.remember(MEMORY)["id"]
    user.settle()
    assert user.recalled(QUESTION) == [kept]


@pytest.mark.controls
def test_c28_no_call_leaves_the_machine(tmp_path: Path, controls: Controls, stack: StackName) -> None:
    hook, notes = tmp_path / "hook", tmp_path / "egress"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(NO_EGRESS, encoding="utf-8")
    notes.touch()
    paths = os.pathsep.join([str(hook), str(ROOT / "layers" / "core"), str(ROOT)])
    env = {"PYTHONPATH": paths, "T0_EGRESS": str(notes)}
    refused = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 443), 1)"],
        env={**os.environ, **env},
        capture_output=True,
        check=False,
        timeout=WITHIN_S,
    )
    assert b"no way out" in refused.stderr
    assert "192.0.2.1" in notes.read_text(encoding="utf-8"), "the hook must catch what it is there for"
    notes.write_text("", encoding="utf-8")

    user = new_user()
    with controlled_server(tmp_path / "data", stack, env=env) as (client, here):
        written = client.expect(201, "POST", f"/v1/users/{user}/memories", {"text": MEMORY})
        client.expect(200, "POST", f"/v1/users/{user}/sessions", {"session_id": "s1"})
        turn = [
            {"event_type": "user_message", "content": "I am vegetarian."},
            {"event_type": "assistant_response", "content": "Noted."},
        ]
        client.expect(201, "POST", f"/v1/users/{user}/sessions/s1/events", {"events": turn})
        here.drain()
        [hit] = client.expect(200, "POST", f"/v1/users/{user}/recall", {"query": QUESTION})["hits"]
        assert (hit["id"], hit["components"]["rank_vec"]) == (written["id"], 1)
        observed = client.expect(200, "GET", f"/v1/users/{user}/memories", query={"kind": "observation"})["memories"]
        assert len(observed) == 1
    assert notes.read_text(encoding="utf-8") == ""
