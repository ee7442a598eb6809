"""E1 and E6 through the pack function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.pack.app import router
from neve.http.schemas.pack.packs import PACK
from neve.http.schemas.sessions.sessions import SESSIONS
from neve.ports.errors import StoreUnavailable
from neve.usecases.ask.pack import read_pack
from neve.usecases.core.lag.memory_lag import MemoryLag
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    yield from installed(World.make(tmp_path))


@pytest.fixture
def api(world: World) -> Api:
    return Api(router)


def opened(api: Api, session: str = "s1", **body: object) -> Reply:
    return api.call("POST", SESSIONS, {"session_id": session, **body}, user_id="ann")


def pack(api: Api, query: str = "session_id=s1", sent: str | None = None, user: str = "ann") -> Reply:
    headers = {"If-None-Match": sent} if sent is not None else {}
    return api.call("GET", PACK, query=query, headers=headers, user_id=user)


# --- sessions -----------------------------------------------------------------------------------


def test_open_session(api: Api) -> None:
    meta = {"name": "Ann", "stage": "NEW", "timezone": "Europe/Vienna"}
    reply = opened(api, title="First", user_meta=meta)
    assert reply.status == 200
    assert reply.json["created"] is True
    assert reply.json["session"] == {
        "id": "s1",
        "status": "open",
        "title": "First",
        "user_meta": meta,
        "started_at": "2026-03-10T09:30:00.000Z",
        "last_seq": 0,
        "observed_seq": 0,
        "indexed_seq": 0,
        "epoch": 0,
        "pack_version": 1,
        "total_tokens": 0,
        "memory_lag": dict.fromkeys(("events", "unindexed", "unembedded", "unobserved", "seconds"), 0),
    }
    assert reply.json["pack"]["state"] == "ready"
    assert reply.json["pack"]["text"] == ""
    assert reply.json["pack"]["layers"] == {"always": [], "profile": [], "global": [], "local": []}
    again = opened(api)
    assert again.json["created"] is False
    assert again.json["pack"] == reply.json["pack"]
    assert again.json["session"]["pack_version"] == 1


# --- the pack -----------------------------------------------------------------------------------


def test_pack_as_text_and_json(api: Api, world: World) -> None:
    opened(api)
    text = pack(api, "session_id=s1&format=text")
    assert (text.status, text.headers["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert text.headers["Cache-Control"] == "private, no-cache"
    document = pack(api)
    assert document.json["text"] == text.text
    assert text.headers["ETag"] == f'"{document.json["sha256"]}"'
    assert document.headers["ETag"] == f'"{document.json["sha256"]}-j"'
    assert "degraded" not in document.json
    world.clock.move(days=3)
    assert pack(api).text == document.text


def test_not_modified(api: Api, world: World) -> None:
    opened(api)
    tag = pack(api, "session_id=s1&format=text").headers["ETag"]
    as_json = pack(api).headers["ETag"]
    for sent in (tag, f"W/{tag}", f'"x", {tag}', f'"x",W/{tag} , "y"', "*"):
        world.table.calls.clear()
        reply = pack(api, "session_id=s1&format=text", sent)
        assert (reply.status, reply.text, reply.headers["ETag"]) == (304, "", tag)
        assert "Content-Type" not in reply.headers
        assert reply.headers["Cache-Control"] == "private, no-cache"
        assert world.table.calls == {"get_many": 1, "query": 1}
    assert pack(api, sent=as_json).status == 304
    assert pack(api, sent=tag).status == 200
    assert pack(api, "session_id=s1&format=text", as_json).status == 200
    assert pack(api, sent='"x"').status == 200
    assert pack(api, "session_id=s1&version=1", as_json).status == 304


def test_a_lag_that_is_not_counted_to_its_end_says_so_in_the_header(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def some(_: object) -> MemoryLag:
        return MemoryLag(unindexed=1_000, unembedded=1_000, seconds=7, at_least=True)

    assert pack(api, "").headers["X-Neve-Memory-Lag"] == "events=0, unindexed=0, unembedded=0, unobserved=0, seconds=0"
    monkeypatch.setattr(read_pack, "user_lag", some)
    expected = "events=0, unindexed=1000, unembedded=1000, unobserved=0, seconds=7, at_least=1"
    assert pack(api, "").headers["X-Neve-Memory-Lag"] == expected


def test_preview_has_no_etag(api: Api) -> None:
    reply = pack(api, "", "*")
    assert (reply.status, reply.json) == (200, {"state": "preview", "text": ""})
    assert reply.headers["Cache-Control"] == "no-store"
    assert "ETag" not in reply.headers


def test_object_store_down(api: Api, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(api)
    good = pack(api)

    def down(_: object) -> None:
        raise StoreUnavailable("objects", "down")

    monkeypatch.setattr(world.objects, "get", down)
    cached = pack(api)
    assert (cached.status, cached.text, cached.headers["ETag"]) == (200, good.text, good.headers["ETag"])
    world.forget()
    partial = pack(api, "session_id=s1&format=text")
    assert (partial.status, partial.text) == (200, "")
    assert partial.headers["X-Neve-Degraded"] == "pack:partial"
    assert partial.headers["Cache-Control"] == "no-store"
    assert "ETag" not in partial.headers
