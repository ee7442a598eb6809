"""What a caller sees of a damaged data folder (docs/faults.md): ``python -m local`` as a process of its own, forked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from local.api_client import ApiClient
from local.template import ROOT
from tests.forked_servers import ForkedServer, forked_servers
from tests.patience import PATIENCE_S

SESSION = "/v1/users/ann/sessions/s1"
PACK = "/v1/users/ann/pack"
TURN = [
    {"event_type": "user_message", "content": "I keep bees in Porto."},
    {"event_type": "assistant_response", "content": "How many hives do you have?"},
]


@contextmanager
def served(data: Path) -> Iterator[tuple[ApiClient, ForkedServer]]:
    server = forked_servers().start(data)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            yield client, server
    finally:
        assert server.stop() == 0


def drained(client: ApiClient) -> None:
    assert client.expect(200, "POST", "/__test/drain", {})["done"]


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service that was stopped in order: a memory, a pack that holds it, and a turn that is observed
    and indexed."""
    data = tmp_path_factory.mktemp("used") / "data"
    with served(data) as (client, _):
        client.expect(201, "POST", "/v1/users/ann/memories", {"text": "User likes the kayak."})
        client.expect(200, "POST", "/v1/users/ann/sessions", {"session_id": "s1"})
        client.expect(201, "POST", f"{SESSION}/events", {"events": TURN})
        drained(client)
    return data


@pytest.fixture
def data(used: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(used, tmp_path / "data"))


def recalled(client: ApiClient, query: str) -> list[str]:
    found = client.expect(200, "POST", "/v1/users/ann/recall", {"query": query, "mode": "tool"})
    return [hit["text"] for hit in found["hits"]]


def spoil_page(file: Path) -> None:
    with file.open("r+b") as stream:
        stream.seek(file.stat().st_size // 2 // 4096 * 4096)
        stream.write(b"\x99" * 4096)


DATABASE: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: os.truncate(file, file.stat().st_size // 2),
    "a damaged page": spoil_page,
}
OBJECT: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: os.truncate(file, file.stat().st_size // 2),
    "other bytes": lambda file: file.write_bytes(b"\xff\x00" * 40),
    "another shape": lambda file: file.write_bytes(b'application/json\n{"manifest": [], "text": null}'),
}


# --- the truth -------------------------------------------------------------------------------------


@pytest.mark.parametrize("spoil", OBJECT.values(), ids=list(OBJECT))
def test_a_damaged_pack_object_degrades_the_pack_and_the_opening_of_its_session(
    data: Path, spoil: Callable[[Path], object]
) -> None:
    (file,) = (data / "objects" / "objects" / "packs").rglob("*.json")
    whole = file.read_bytes()
    spoil(file)
    with served(data) as (client, _):
        reply = client.call("GET", PACK, query={"session_id": "s1"})
        assert (reply.status, reply.json()["state"], reply.json()["degraded"]) == (200, "partial", ["pack:partial"])
        again = client.expect(200, "POST", "/v1/users/ann/sessions", {"session_id": "s1"})
        assert (again["created"], again["pack"]["degraded"]) == (False, ["pack:partial"])
        file.write_bytes(whole)
        assert "kayak" in client.expect(200, "GET", PACK, query={"session_id": "s1"})["text"]


# --- what is made again from the table ---------------------------------------------------------------


@pytest.mark.parametrize("spoil", DATABASE.values(), ids=list(DATABASE))
def test_a_damaged_search_index_is_made_again_and_nothing_is_embedded_twice(
    data: Path, spoil: Callable[[Path], object]
) -> None:
    with served(data) as (client, _):
        before = client.expect(200, "GET", "/v1/users/ann/stats")["usage"]["embedded_texts"]
    spoil(data / "search.db")
    key = (data / "api-key").read_text()
    with served(data) as (client, server):
        assert recalled(client, "kayak") == ["User likes the kayak."]
        assert "I keep bees in Porto." in "".join(recalled(client, "bees in Porto"))
        usage = client.expect(200, "GET", "/v1/users/ann/stats")["usage"]["embedded_texts"]
        output = server.output.read_text()
    assert usage == before, "vectors come from the table"
    assert "It is made again from the table:\n  [##############################] 100%  1 users, " in output
    assert (data / "api-key").read_text() == key
    assert list(data.parent.glob("data.damaged-*")) == []
    assert "lost" not in json.loads((data / "FORMAT").read_text())


@pytest.mark.parametrize("spoil", DATABASE.values(), ids=list(DATABASE))
def test_what_a_damaged_queue_held_is_found_again(used: Path, tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    """A memory and a turn whose messages wait, an edit, a deletion, and two jobs."""
    data = Path(shutil.copytree(used, tmp_path / "data"))
    with served(data) as (client, _):
        (old,) = [m for m in client.expect(200, "GET", "/v1/users/ann/memories")["memories"] if "kayak" in m["text"]]
        for worker in ("embed", "extract", "compact"):
            client.expect(200, "POST", "/__test/pause", {"worker": worker})
        client.expect(201, "POST", "/v1/users/ann/memories", {"text": "User plays the oboe."})
        gone = client.expect(201, "POST", "/v1/users/ann/memories", {"text": "User collects stamps."})
        client.expect(200, "DELETE", f"/v1/users/ann/memories/{gone['id']}")
        client.expect(200, "PATCH", f"/v1/users/ann/memories/{old['id']}", {"text": "User sold the canoe."})
        events = [{"event_type": "user_message", "content": "I am allergic to walnuts."}, TURN[1]]
        client.expect(201, "POST", f"{SESSION}/events", {"events": events})
        observing = client.expect(202, "POST", f"{SESSION}/observe", {})
        compacting = client.expect(202, "POST", f"{SESSION}/compact", {"reason": "topic"})
        changes = client.expect(200, "GET", "/__test/queues")["changes"]
        while changes:
            changes = client.expect(200, "GET", "/__test/queues")["changes"]
    spoil(data / "queue.db")
    with served(data) as (client, _):
        drained(client)
        assert client.expect(200, "GET", SESSION)["indexed_seq"] == 4
        for job in (observing, compacting):
            job_id = job["id"]
            assert client.expect(200, "GET", f"/v1/users/ann/jobs/{job_id}")["status"] == "done"
        memories = client.expect(200, "GET", "/v1/users/ann/memories")["memories"]
        assert any("walnuts" in memory["text"] for memory in memories)
        states = client.expect(200, "GET", "/v1/users/ann/stats")["embeddings"]
        assert states["pending"] == 0
        assert recalled(client, "canoe") == ["User sold the canoe."]
        assert recalled(client, "oboe") == ["User plays the oboe."]
        assert recalled(client, "stamps") == []


def test_both_at_once_are_made_again_by_a_reindex_too(data: Path) -> None:
    for name in ("queue.db", "search.db"):
        spoil_page(data / name)
    command = [sys.executable, "-m", "local.reindex", "--data", str(data), "--embedder", "fixture"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    assert "queued again from the table:\n  [####" in done.stdout
    assert "lost" not in json.loads((data / "FORMAT").read_text())
    with served(data) as (client, _):
        assert recalled(client, "kayak") == ["User likes the kayak."]
