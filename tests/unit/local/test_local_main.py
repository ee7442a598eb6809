"""``python -m local`` as a process of its own: it starts, keeps its data and its key, and stops cleanly. The process is
forked, except where what it loads, logs or leaves at its end matters."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import pytest

from local.api_client import ApiClient
from local.template import ROOT
from tests.encoder import need_encoder
from tests.forked_servers import forked_servers

PATIENCE_S = 60.0
LOOK_S = 0.02


class Server:
    """Started on a free port with the fixture embedder, by ``tests.forked_servers``."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.ready_file, self.printed = folder / "ready.json", folder / "printed"
        self.ready_file.unlink(missing_ok=True)
        self.printed.unlink(missing_ok=True)
        self.data = folder / "data"
        arguments = ["--port", "0", "--embedder", "fixture", "--data", str(self.data)]
        self.pid = self._begin([*arguments, "--ready-file", str(self.ready_file), *options])
        self.ready: dict[str, Any] = self._wait_until_ready()
        self.api = ApiClient(self.ready["url"], self.ready["api_key"])

    def _begin(self, arguments: list[str]) -> int:
        return forked_servers().begin(arguments, self.printed)

    def exit_code(self) -> int | None:
        return forked_servers().exit_code(self.pid)

    def _wait_until_ready(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE_S
        while not self.ready_file.exists():
            if self.exit_code() is not None or time.monotonic() > end:
                pytest.fail(f"the server did not start: {self.printed.read_text()}")
            time.sleep(LOOK_S)
        ready: dict[str, Any] = json.loads(self.ready_file.read_text())
        return ready

    def stop(self, number: signal.Signals = signal.SIGTERM) -> str:
        """What it printed."""
        self.api.close()
        os.kill(self.pid, number)
        assert ended(self.exit_code) == 0, self.printed.read_text()
        return self.printed.read_text()

    def control(self, name: str, body: Any = None) -> Any:
        reply = self.api.call("POST" if body is not None else "GET", f"/__test/{name}", body)
        assert reply.status == 200, reply
        return reply.json()


class FreshServer(Server):
    """In a process that loads everything itself, and ends as Python does. ``stdout``, ``stderr``: where other than to
    what it printed."""

    def __init__(
        self, folder: Path, *options: str, stdout: IO[str] | None = None, stderr: IO[str] | None = None
    ) -> None:
        self._streams = (stdout, stderr)
        super().__init__(folder, *options)

    def _begin(self, arguments: list[str]) -> int:
        stdout, stderr = self._streams
        with self.printed.open("w") as printed:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "local", *arguments],
                cwd=ROOT,
                stdout=stdout or printed,
                stderr=stderr or printed,
            )
        return self._process.pid

    def exit_code(self) -> int | None:
        return self._process.poll()


def ended(exit_code: Callable[[], int | None]) -> int:
    end = time.monotonic() + PATIENCE_S
    while (code := exit_code()) is None:
        assert time.monotonic() < end, "it did not end"
        time.sleep(LOOK_S)
    return code


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """A start that is expected to fail."""
    arguments = ["--data", str(folder), "--embedder", "none", *options]
    output, errors = (folder.with_name(f"{folder.name}.{name}") for name in ("output", "errors"))
    pid = forked_servers().begin(arguments, output, errors=errors)
    code = ended(lambda: forked_servers().exit_code(pid))
    return subprocess.CompletedProcess(arguments, code, output.read_text(), errors.read_text())


# --- starting and stopping ----------------------------------------------------------------------


def test_a_second_start_finds_the_same_data_and_key(tmp_path: Path) -> None:
    first = FreshServer(tmp_path)
    first.api.expect(200, "POST", "/v1/users/u1/sessions", {"session_id": "s1", "title": "Kept"})
    output = first.stop(signal.SIGINT)
    assert first.ready["api_key"] in output
    assert "ANTHROPIC_API_KEY is not set" in output
    assert output.count("curl -s ") == 3
    assert output.rstrip().endswith("Stopped.")
    second = Server(tmp_path)
    assert second.ready["api_key"] == first.ready["api_key"]
    assert second.api.expect(200, "GET", "/v1/users/u1/sessions/s1")["title"] == "Kept"
    second.stop()


def test_the_log_is_on_stderr_and_the_banner_on_stdout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_LOG_LEVEL", "INFO")
    with (tmp_path / "log").open("w") as log:
        server = FreshServer(tmp_path, stderr=log)
        server.api.expect(200, "GET", "/v1/health")
        output = server.stop()
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert "request completed" in {line["message"] for line in lines}
    assert output.startswith("Neve is ready at ") and output.endswith("Stopped.\n")
    assert "request completed" not in output
    assert server.ready["api_key"] in output and server.ready["api_key"] not in str(lines)


def test_a_person_who_runs_it_is_shown_warnings_and_no_line_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("POWERTOOLS_LOG_LEVEL", raising=False)
    with (tmp_path / "log").open("w") as log:
        server = FreshServer(tmp_path, stderr=log)
        server.api.expect(200, "GET", "/v1/health")
        output = server.stop()
    assert "request completed" not in (tmp_path / "log").read_text() + output
    assert output.endswith("Stopped.\n")


def test_the_key_is_for_its_owner_only_and_is_replaced_when_lost(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert "(new, of every scope; kept in " in server.stop()
    for file in (server.data / "api-key", server.ready_file):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lost = server.ready["api_key"]
    (server.data / "api-key").unlink()
    other = Server(tmp_path)
    assert other.ready["api_key"] != lost
    other.api.expect(200, "GET", "/v1/policy")
    told = other.stop()
    assert f"holds none of an earlier start; still good: nv_{lost.split('_')[1]}_…; kept in " in told, "not in silence"


def test_a_start_says_which_key_is_in_use_and_makes_no_other(tmp_path: Path) -> None:
    first = Server(tmp_path)
    first.stop()
    for _ in range(2):
        again = Server(tmp_path)
        assert again.ready["api_key"] == first.ready["api_key"]
        told = again.stop()
        assert f"  API key   {first.ready['api_key']}\n            (as before, from {again.data / 'api-key'})\n" in told


def test_a_start_makes_no_key_in_place_of_one_that_was_rotated(tmp_path: Path) -> None:
    first = Server(tmp_path)
    ready_made = first.ready["api_key"]
    successor = first.api.expect(201, "POST", "/v1/keys", {"scopes": ["chat", "records", "admin"]})["key"]
    rotating = ApiClient(first.ready["url"], successor)
    rotating.expect(204, "DELETE", f"/v1/keys/{ready_made.split('_')[1]}")
    rotating.close()
    first.stop()

    again = Server(tmp_path)
    assert again.ready["api_key"] is None
    with closing(ApiClient(again.ready["url"], successor)) as client:
        client.expect(200, "GET", "/v1/policy")
        client.expect(201, "POST", "/v1/keys", {"scopes": ["chat"]})  # a key that nobody asked for would be in the way
    told = again.stop()
    assert f"was revoked; still good: nv_{successor.split('_')[1]}_…" in told
    assert "make run ARGS=--new-key" in told and "export NEVE_KEY=<yours>" in told

    asked = Server(tmp_path, "--new-key")
    asked.api.expect(200, "GET", "/v1/policy")
    assert "(new, as asked for; still good: " in asked.stop()
    assert Server(tmp_path).stop().count(asked.ready["api_key"]) == 2, "it is the ready-made one from then on"


def test_a_folder_in_use_a_taken_port_and_a_foreign_folder_are_said_plainly(tmp_path: Path) -> None:
    server = Server(tmp_path)
    refused = run(server.data, "--port", "0")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"in use by process {server.pid}" in refused.stderr
    server.stop()
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        refused = run(tmp_path / "new", "--port", str(port))
    assert refused.returncode == 1
    assert f"Port {port} cannot be used" in refused.stderr
    foreign = tmp_path / "documents"
    foreign.mkdir()
    (foreign / "letter.txt").write_text("Dear Ada")
    refused = run(foreign, "--port", "0")
    assert refused.returncode == 1
    assert "holds something else" in refused.stderr


@pytest.mark.parametrize("port", ["80000", "65536", "-1", "8o80"])
def test_a_port_that_cannot_be_is_named(tmp_path: Path, port: str) -> None:
    refused = run(tmp_path / "data", f"--port={port}")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.endswith(f"argument --port: must be a whole number from 0 to 65535, is {port}\n")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.25])
def test_a_stop_while_functions_and_encoder_are_still_being_loaded_is_orderly(tmp_path: Path, after_s: float) -> None:
    server = FreshServer(tmp_path, "--embedder", "bge-small")
    time.sleep(after_s)
    assert server.stop().rstrip().endswith("Stopped.")
    assert (server.data / "CLEAN").exists()


def test_the_first_recall_of_a_fresh_process_waits_for_the_encoder_outside_its_budget(tmp_path: Path) -> None:
    need_encoder()
    first = Server(tmp_path, "--embedder", "bge-small", "--test-controls")
    first.api.expect(201, "POST", "/v1/users/u/memories", {"text": "User keeps bees in Porto."})
    assert first.control("drain", {})["done"]
    first.stop()
    again = FreshServer(tmp_path, "--embedder", "bge-small", "--test-controls")
    asked = {"query": "Where are the bees?", "mode": "prompt"}
    found = again.api.expect(200, "POST", "/v1/users/u/recall", asked)
    assert (found["degraded"], found["budget_ms"]) == ([], 300)
    assert found["legs"]["vector"]["status"] == "complete"
    while again.api.expect(200, "GET", "/v1/health")["status"] == "loading":
        time.sleep(0.02)
    assert again.api.expect(200, "GET", "/v1/health")["embedder"]["state"] == "ready"
    assert "cold_start_ms" not in again.api.expect(200, "POST", "/v1/users/u/recall", asked)
    again.stop()


def test_a_damaged_folder_is_moved_aside_and_its_path_reported(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.stop()
    (server.data / "table.db").write_bytes(b"not a database")
    fresh = Server(tmp_path)
    output = fresh.stop()
    (aside,) = tmp_path.glob("data.damaged-*")
    assert str(aside) in output
    assert (aside / "table.db").read_bytes() == b"not a database"
    assert fresh.ready["api_key"] != server.ready["api_key"]


def test_a_store_that_cannot_be_opened_is_said_plainly(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.stop()
    (server.data / "CLEAN").unlink()
    with closing(sqlite3.connect(server.data / "table.db")) as connection:
        connection.executescript("DROP TABLE rows; CREATE TABLE rows (pk TEXT, sk TEXT);")
    refused = run(server.data, "--port", "0")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith(f"The data in {server.data} cannot be opened (table: no such column: ")
    assert refused.stderr.endswith("Choose another folder with --data, or move this one away.\n")
    assert len(refused.stderr.splitlines()) == 1


def test_a_stop_is_orderly_though_nobody_reads_what_it_says(tmp_path: Path) -> None:
    """Of ``make run | tee log`` a Ctrl-C ends both."""
    reading, writing = os.pipe()
    with (tmp_path / "log").open("w") as log:
        with os.fdopen(writing, "w") as pipe:
            server = FreshServer(tmp_path, stdout=pipe, stderr=log)
        os.close(reading)
        server.stop(signal.SIGINT)
    assert (tmp_path / "log").read_text() == ""
    assert (server.data / "CLEAN").exists()


def test_a_signal_that_another_thread_is_handed_stops_it_too(tmp_path: Path) -> None:
    """The kernel chooses the thread, and takes the main one only while it has nothing else to tell it."""
    server = Server(tmp_path)
    others = [int(thread.name) for thread in Path(f"/proc/{server.pid}/task").iterdir()]
    others.remove(server.pid)
    assert ctypes.CDLL(None).tgkill(server.pid, max(others), int(signal.SIGINT)) == 0
    assert ended(server.exit_code) == 0
    assert server.printed.read_text().rstrip().endswith("Stopped.")


def test_a_file_of_the_folder_that_cannot_be_used_is_not_taken_for_the_port(tmp_path: Path) -> None:
    """As a key that another user owns, or a disk that is full."""
    server = Server(tmp_path)
    server.stop()
    key = server.data / "api-key"
    key.unlink()
    key.mkdir()
    refused = run(server.data, "--port", "0")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"The data folder {server.data} cannot be used: [Errno 21] Is a directory: '{key}'\n"


def test_without_test_controls_there_are_none(tmp_path: Path) -> None:
    server = Server(tmp_path)
    assert server.api.call("GET", "/__test/queues").status == 404
    assert server.api.call("POST", "/__test/faults", []).status == 404
    job = server.api.expect(200, "GET", "/v1/policy", headers={"X-Test-Now": "not a time"})
    assert job
    server.stop()


# --- test controls ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("controls"), "--test-controls")
    yield server
    server.stop()


def test_the_clock_of_requests_and_workers(server: Server) -> None:
    assert server.control("clock", {"now": "2026-03-10T09:00:00Z"}) == {"now": "2026-03-10T09:00:00.000Z"}
    assert server.control("clock", {"advance_s": 90}) == {"now": "2026-03-10T09:01:30.000Z"}
    created = server.api.expect(200, "POST", "/v1/users/clock/sessions", {"session_id": "s"})
    assert created["session"]["started_at"] == "2026-03-10T09:01:30.000Z"
    headers = {"X-Test-Now": "2026-01-01T00:00:00Z"}
    other = server.api.expect(200, "POST", "/v1/users/clock/sessions", {"session_id": "s2"}, headers=headers)
    assert other["session"]["started_at"] == "2026-01-01T00:00:00.000Z"
    assert server.api.call("GET", "/v1/health", headers={"X-Test-Now": "soon"}).status == 400
    running = server.control("clock", {"now": "2030-01-01T00:00:00Z", "running": True})["now"]
    assert running.startswith("2030-01-01T00:00:0")
    assert not server.control("clock", {})["now"].startswith("2030")


def test_another_tenant_gets_a_key_of_its_own(server: Server) -> None:
    made = server.control("tenants", {"tenant_id": "t2"})
    other = ApiClient(server.ready["url"], made["api_key"])
    server.api.expect(200, "POST", "/v1/users/shared/sessions", {"session_id": "s"})
    assert other.call("GET", "/v1/users/shared/sessions/s").status == 404
    other.close()
    assert server.api.call("POST", "/__test/tenants", {"tenant_id": "t2"}).status == 400


def test_a_turn_is_observed_by_the_script_and_its_request_is_shown(server: Server) -> None:
    line = {"text": "🔴 keeps bees MARKER7", "seq_from": 1, "seq_to": 2}
    server.control("llm", {"answers": [{"tool_input": {"has_memory": True, "observations": [line]}}]})
    server.api.expect(200, "POST", "/v1/users/bees/sessions", {"session_id": "s"})
    events = [
        {"event_type": "user_message", "content": "I keep bees."},
        {"event_type": "assistant_response", "content": "Lovely."},
    ]
    server.api.expect(201, "POST", "/v1/users/bees/sessions/s/events", {"events": events})
    assert server.control("drain", {})["done"]
    (call,) = [call for call in server.control("calls?kind=model")["calls"] if "I keep bees." in str(call["content"])]
    assert (call["answered_by"], call["outcome"]) == ("scripted", "ok")
    found = {hit["place"] for hit in server.control("raw?find=MARKER7")["found"]}
    assert any(file.startswith("table.db") for file in found)
    assert "server.log" not in found
    assert server.control("redeliver", {"queue": "extract", "times": 4, "concurrent": 2}) == {
        "delivered": 4,
        "failed": 0,
    }
    memories = server.api.expect(200, "GET", "/v1/users/bees/memories")["memories"]
    assert [memory["text"] for memory in memories] == ["🔴 keeps bees MARKER7"]


def test_a_paused_worker_leaves_its_queue_full(server: Server) -> None:
    server.control("pause", {"worker": "embed"})
    server.api.expect(201, "POST", "/v1/users/paused/memories", {"text": "Paused while embedding."})
    server.control("drain", {})
    assert server.control("queues")["queues"]["embed"]["visible"] > 0
    server.control("resume", {})
    server.control("drain", {})
    assert server.control("run", {"worker": "sweep"}) == {"ran": "sweep"}
    assert server.control("queues")["queues"]["embed"] == {"visible": 0, "in_flight": 0, "delayed": 0, "dlq": 0}


def test_a_fault_degrades_the_answer_until_it_is_cleared(server: Server) -> None:
    asked = {"query": "Which tea does Ann like?"}
    server.control("faults", [{"target": "embed", "fault": "slow:5000"}])
    recalled = server.api.expect(200, "POST", "/v1/users/faults/recall", asked)
    assert "vector:embed_timeout" in recalled["degraded"]
    server.control("faults", [])
    assert not server.api.expect(200, "POST", "/v1/users/faults/recall", asked).get("degraded")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("faults", {}),
        ("faults", [{"target": "moon", "fault": "error"}]),
        ("llm", {"answers": [{}]}),
        ("llm", {}),
        ("pause", {"worker": "nobody"}),
        ("hold-lease", {"worker": "extract", "at": "lunch"}),
        ("redeliver", {"queue": "nothing"}),
        ("clock", {"now": "soon"}),
        ("run", {"worker": "embed"}),
        ("tenants", {"name": "x"}),
        ("restart", {"server": "dynamodb"}),
    ],
)
def test_a_control_in_other_words_is_refused(server: Server, name: str, body: Any) -> None:
    reply = server.api.call("POST", f"/__test/{name}", body)
    assert reply.status == 400, reply
    assert reply.json()["error"]


def test_an_upload_address_takes_the_signed_bytes(server: Server) -> None:
    made = server.api.expect(201, "POST", "/v1/users/pictures/uploads", {"media_type": "image/png"})
    path, signed = made["url"].removeprefix(server.ready["url"]), made["headers"]
    assert server.api.call("PUT", path, raw=b"\x89PNG", headers=signed | {"Content-Type": "image/jpeg"}).status == 403
    assert server.api.call("PUT", path, raw=b"\x89PNG", headers={"Content-Type": "image/png"}).status == 403
    assert server.api.call("PUT", path, raw=b"\x89PNG", headers=signed).status == 200
    assert server.api.call("PUT", path, raw=b"\x89PNG", headers=signed).status == 412
    forged = path.replace("/__uploads/", "/__uploads/A")
    assert server.api.call("PUT", forged, raw=b"\x89PNG", headers=signed).status == 403
    assert server.api.call("GET", path).status == 405
