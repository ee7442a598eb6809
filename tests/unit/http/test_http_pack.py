"""E1 and E6 through the pack function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.pack.app import router
from neve.http.schemas.pack.packs import PACK, PACK_DIFF, PACK_VERSIONS
from neve.http.schemas.sessions.sessions import SESSION, SESSIONS
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


@pytest.mark.parametrize(
    ("path", "query", "missing"),
    [
        (PACK_VERSIONS.path, "", ["query.session_id"]),
        (PACK_DIFF.path, "session_id=s1", ["query.from", "query.to"]),
    ],
)
def test_a_parameter_that_is_missing_is_named(api: Api, path: str, query: str, missing: list[str]) -> None:
    refused = api.call("GET", path, query=query, user_id="ann")
    assert (refused.status, refused.json["code"]) == (422, "validation_failed")
    assert refused.fields == missing


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


def test_session_without_an_id_gets_one(api: Api) -> None:
    reply = api.call("POST", SESSIONS, raw="", user_id="ann")
    assert reply.json["session"]["id"].startswith("ses_")


def test_repeat_with_the_same_idempotency_key_opens_the_same_session(api: Api, world: World) -> None:
    headers = {"Idempotency-Key": "k"}
    first, second = (api.call("POST", SESSIONS, {"title": "t"}, headers=headers, user_id="ann") for _ in range(2))
    assert first.json["session"]["id"] == second.json["session"]["id"]
    assert second.json["pack"] == first.json["pack"]
    other = api.call("POST", SESSIONS, {"title": "u"}, headers=headers, user_id="ann")
    assert other.json["code"] == "idempotency_mismatch"
    assert len(api.call("GET", SESSIONS, user_id="ann").json["sessions"]) == 1


def test_no_budget_no_pack(api: Api) -> None:
    reply = opened(api, budget_ms=-5)
    assert reply.status == 200
    assert reply.json["pack"] == {"state": "unavailable", "degraded": ["deadline"]}
    assert reply.json["degraded"] == ["deadline"]
    assert reply.headers["X-Neve-Degraded"] == "deadline"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"session_id": " b"}, "session_id"),
        ({"session_id": ""}, "session_id"),
        ({"title": "x" * 201}, "title"),
        ({"title": " "}, "title"),
        ({"budget_ms": "5"}, "budget_ms"),
        ({"user_meta": {"stage": "OLD"}}, "user_meta.stage"),
        ({"user_meta": {"timezone": "Mars/Base"}}, "user_meta.timezone"),
        ({"user_meta": {"timezone": "Europe"}}, "user_meta.timezone"),
        ({"user_meta": {"timezone": "../etc/passwd"}}, "user_meta.timezone"),
        ({"user_meta": {"timezone": ""}}, "user_meta.timezone"),
        ({"user_meta": {"x": "y"}}, "user_meta.x"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_bad_session(api: Api, body: dict[str, object], field: str) -> None:
    assert api.call("POST", SESSIONS, body, user_id="ann").fields == [field]


def test_sessions_are_paged(api: Api) -> None:
    for n in range(3):
        opened(api, f"s{n}")
    page = api.call("GET", SESSIONS, query="limit=2", user_id="ann").json
    assert [session["id"] for session in page["sessions"]] == ["s0", "s1"]
    rest = api.call("GET", SESSIONS, query=f"limit=2&cursor={page['next_cursor']}", user_id="ann").json
    assert [session["id"] for session in rest["sessions"]] == ["s2"]
    assert "next_cursor" not in rest
    forged = api.call("GET", SESSIONS, query=f"cursor={page['next_cursor']}", user_id="bob")
    assert (forged.status, forged.fields) == (422, ["query.cursor"])


def test_read_session(api: Api) -> None:
    opened(api)
    assert api.call("GET", SESSION, user_id="ann", session_id="s1").json["id"] == "s1"
    reply = api.call("GET", SESSION, user_id="bob", session_id="s1")
    assert (reply.status, reply.json["code"]) == (404, "session_not_found")


def test_session_row_that_cannot_be_written_is_a_503(api: Api, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "write", down)
    reply = opened(api)
    assert (reply.status, reply.headers["Retry-After"]) == (503, "2")


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


def test_row_store_down(api: Api, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(api)
    pack(api)

    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get_many", down)
    monkeypatch.setattr(world.table, "get", down)
    for query in ("session_id=s1", "session_id=s1&format=text", "session_id=s1&version=1"):
        reply = pack(api, query, "*")
        assert (reply.status, reply.json) == (200, {"state": "unavailable", "degraded": ["pack:unavailable"]})
        assert reply.headers["X-Neve-Degraded"] == "pack:unavailable"
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


@pytest.mark.parametrize(
    ("query", "status", "what"),
    [
        ("session_id=nope", 404, "session_not_found"),
        ("session_id=s1&version=7", 404, "pack_version_not_found"),
        ("session_id=s1&version=0", 422, "query.version"),
        ("session_id=s1&version=100000000", 422, "query.version"),
        ("version=1", 422, "query.version"),
        ("session_id=s1&format=xml", 422, "query.format"),
        ("session_id=%20b", 422, "query.session_id"),
    ],
)
def test_bad_pack_request(api: Api, query: str, status: int, what: str) -> None:
    opened(api)
    reply = pack(api, query)
    assert reply.status == status
    assert what in (reply.json["code"], *(reply.fields if status == 422 else ()))


def test_versions_and_diff(api: Api) -> None:
    opened(api)
    listed = api.call("GET", PACK_VERSIONS.path, query="session_id=s1", user_id="ann")
    assert [version["pack_version"] for version in listed.json["versions"]] == [1]
    diff = api.call("GET", PACK_DIFF.path, query="session_id=s1&from=1&to=1", user_id="ann")
    assert diff.json == {"added": [], "removed": [], "changed": [], "unified": "", "unified_complete": True}
    missing = api.call("GET", PACK_DIFF.path, query="session_id=s1&from=1&to=2", user_id="ann")
    assert missing.json["code"] == "pack_version_not_found"
    incomplete = api.call("GET", PACK_DIFF.path, query="session_id=s1", user_id="ann")
    assert incomplete.fields == ["query.from", "query.to"]
    foreign = api.call("GET", PACK_VERSIONS.path, query="session_id=s1", user_id="bob")
    assert foreign.json["code"] == "session_not_found"
