"""docs/rules/degradation.md#unreadable: one row that nobody can read, through the functions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.observe.app import router as observing
from functions.pack.app import router as packing
from functions.recall.app import router as recalling
from functions.records.app import router as recording
from neve.ports.table import Key
from neve.readable_table import ReadableTable
from neve.usecases.work.erase.erase_user import erase_user
from neve.usecases.work.erase.user_stores import left_in_stores
from tests.unit.api_world import Api, Reply, installed
from tests.unit.recall_world import RecallWorld

USER, SESSION = "/v1/users/{user_id}", "/v1/users/{user_id}/sessions/{session_id}"
UNREADABLE = "rows:unreadable"
DAMAGES = ("x'7b2274797065223aff'", '\'{"type": "memory"\'', "'{}'", "'[]'", "'\x1e'")


class Stored:
    """A user who has said something, of whose rows one may be damaged."""

    def __init__(self, world: RecallWorld) -> None:
        self.world, self.engine = world, world.rows
        world.table = ReadableTable(world.table, world.caches, world.clock.now)  # type: ignore[assignment]
        self.apis = [Api(router) for router in (packing, recalling, recording, observing)]
        self.call("POST", f"{USER}/sessions", {"session_id": "s1"})
        said = {"events": [{"event_type": "user_message", "content": text} for text in ("I like tea.", "And cake.")]}
        assert self.call("POST", f"{SESSION}/events", said).status == 201
        for text in ("likes tea", "likes cake"):
            assert self.call("POST", f"{USER}/memories", {"text": text, "kind": "note"}).status == 201
        self.call("POST", f"{USER}/recall", {"query": "tea"})

    def call(self, method: str, path: str, body: Any = None, query: str = "") -> Reply:
        place = (method, path)
        api = next(a for a in self.apis if any((o.method, o.path) == place for o in a.router.operations))
        ids: dict[str, Any] = {"user_id": "ann"} | ({"session_id": "s1"} if "{session_id}" in path else {})
        return api.call(method, path, body, query=query, **ids)

    def damage(self, *starts: str, by: str = DAMAGES[0]) -> list[Key]:
        """The first row of each kind, in the user's partitions."""
        keys = []
        with self.engine._file.writing() as connection:
            for start in starts:
                sql = "SELECT pk, sk FROM rows WHERE pk LIKE '%#U#ann%' AND sk LIKE ? ORDER BY sk"
                keys.append(Key(*connection.execute(sql, (f"{start}%",)).fetchone()))
                # what stands behind AS is a literal of this file
                change = f"UPDATE rows SET body = CAST({by} AS TEXT) WHERE pk = ? AND sk = ?"  # noqa: S608
                connection.execute(change, keys[-1])
        return keys

    def health(self) -> list[str]:
        return [trouble.reason for trouble in self.world.caches.troubles.active() if trouble.what == "rows"]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Stored]:
    world: Any = RecallWorld.make(tmp_path)
    for _ in installed(world):
        yield Stored(world)


@pytest.mark.parametrize("by", DAMAGES)
@pytest.mark.parametrize(
    ("kind", "path", "name", "left"),
    [
        ("MEM#", f"{USER}/memories", "memories", 1),
        ("EVT#", f"{SESSION}/events", "events", 1),
        ("RCL#", f"{USER}/recalls", "recalls", 0),
        ("SES#", f"{USER}/sessions", "sessions", 0),
    ],
)
def test_a_list_leaves_it_out_and_says_so(stored: Stored, kind: str, path: str, name: str, left: int, by: str) -> None:
    assert UNREADABLE not in stored.call("GET", path).headers.get("X-Neve-Degraded", "")
    stored.damage(kind, by=by)
    found = stored.call("GET", path)
    assert (found.status, len(found.json[name]), found.json["degraded"]) == (200, left, [UNREADABLE])
    assert found.headers["X-Neve-Degraded"] == UNREADABLE
    assert stored.health() == [f"unreadable: {kind[:-1]}"]


@pytest.mark.parametrize("kind", ["MEM#", "EVT#", "RCL#", "PACK#"])
def test_the_chat_goes_on_without_it(stored: Stored, kind: str) -> None:
    stored.damage(kind)
    for _ in range(2):
        for method, path, body, query in CHAT:
            answer = stored.call(method, path, body, query)
            assert answer.status == 200, answer.text
    said = {"events": [{"event_type": "user_message", "content": "More."}]}
    assert stored.call("POST", f"{SESSION}/events", said).status == 201


CHAT: list[tuple[str, str, Any, str]] = [
    ("POST", f"{USER}/recall", {"query": "cake"}, ""),
    ("POST", f"{USER}/context", {"session_id": "s1", "message": "Hello?"}, ""),
    ("GET", f"{USER}/pack", None, "session_id=s1"),
    ("GET", f"{USER}/pack", None, ""),
]


@pytest.mark.parametrize("head", ["HEAD", "SES#", "SESS#s1#E", "SESS#s1#M"])
def test_below_a_head_there_is_nothing_to_read_and_nowhere_to_write(stored: Stored, head: str) -> None:
    stored.damage(head)
    for method, path, body, query in CHAT:
        answer = stored.call(method, path, body, query)
        assert answer.status == 200, answer.text
        told = answer.headers.get("X-Neve-Degraded", "")
        assert (UNREADABLE in told) or (head != "HEAD" and not query and "session_id" not in str(body)), (path, told)
    opened = stored.call("POST", f"{USER}/sessions", {"session_id": "s1"})
    assert (opened.status, opened.json["code"]) == (503, "store_unavailable")
    if head != "SESS#s1#M":  # no append reads it
        said = {"events": [{"event_type": "user_message", "content": "More."}]}
        assert stored.call("POST", f"{SESSION}/events", said).status == 503


@pytest.mark.parametrize("path", [f"{USER}/{name}" for name in ("memories", "sessions", "recalls", "inbox")])
def test_a_list_below_an_unreadable_user_is_empty_and_says_so(stored: Stored, path: str) -> None:
    stored.damage("HEAD")
    found = stored.call("GET", path)
    assert (found.status, list(found.json.values())) == (200, [[], [UNREADABLE]])


def test_what_cannot_be_read_is_not_said_to_be_missing(stored: Stored) -> None:
    [key] = stored.damage("MEM#")
    memory = "mem_" + key.sk.removeprefix("MEM#")
    api = next(a for a in stored.apis if a.router is recording)
    for method, body in (("GET", None), ("PATCH", {"text": "other"}), ("DELETE", None)):
        found = api.call(method, f"{USER}/memories/{{memory_id}}", body, user_id="ann", memory_id=memory)
        assert (found.status, found.json["code"]) == (503, "store_unavailable")
    found = api.call("GET", f"{USER}/memories/{{memory_id}}", user_id="ann", memory_id="mem_" + "0" * 26)
    assert found.status == 404


def test_an_erasure_takes_it_along(stored: Stored) -> None:
    stored.damage("MEM#", "EVT#", "RCL#")
    data = stored.world.user("ann").data
    erase_user(data)
    assert set(left_in_stores(data).values()) == {0}
    left = [key for key in stored.engine.query(data.keys.partition, limit=100).items if key["sk"] != "HEAD"]
    assert left == []
