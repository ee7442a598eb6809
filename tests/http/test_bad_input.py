"""Bad input gets a clear problem+json that names the field, and loses nothing."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest

from local.api_client import ApiClient, Reply
from local.openapi import TARGET
from tests.http.driving.images import IMAGE
from tests.http.driving.people import Json, Person, answered, new_memory_id, new_user, user_message
from tests.http.driving.stage import Stage

pytestmark = pytest.mark.live

SESSION, EVENTS, RECALL, MEMORIES = "/sessions/s1", "/sessions/s1/events", "/recall", "/memories"
MIB, KIB = 1024 * 1024, 1024
GATEWAY_BYTES = 10 * MIB
"""What API Gateway itself accepts."""
REVOKED_WITHIN_S = 70
"""The authorizer's verdict is cached for up to 60 s on a stage."""
MEMBERS = ["type", "title", "status", "detail", "code", "request_id"]


@dataclass(frozen=True)
class Bad:
    """A request about a user, and how it is refused. ``at`` None: there is no field to name."""

    name: str
    method: str
    path: str
    body: Any = None
    status: int = 422
    code: str = "validation_failed"
    at: str | None = None
    query: Json = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


def problem(reply: Reply, status: int, code: str) -> Json:
    """The body of a refusal, checked for its form (RFC 9457)."""
    assert reply.status == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    found = dict(reply.json())
    assert list(found) == MEMBERS + (["errors"] if "errors" in found else [])
    assert (found["status"], found["code"], found["type"]) == (status, code, f"urn:neve:problem:{code}")
    assert found["request_id"] == reply.headers["x-request-id"]
    assert found["title"]
    assert found["detail"]
    assert not re.search(
        r"Traceback|File \"|pydantic|neve\.|invalid literal|Expecting|delimiter|sys\.|codec", reply.text
    )
    return found


def fields(found: Json) -> list[str]:
    return [error["field"] for error in found["errors"]]


@pytest.fixture
def somebody(user: Person) -> Person:
    """Somebody with a session, two events and a memory, whom a refusal must leave as they are."""
    user.open("s1")
    user.append("s1", user_message("Hello."), answered("Hi."))
    user.remember("User keeps bees.")
    return user


WRITTEN = ("id", "title", "status", "user_meta", "last_event_at", "last_seq", "total_tokens", "epoch", "pack_version")


def all_of(user: Person) -> tuple[Any, ...]:
    """What was written about somebody; what is derived from it may still be on its way."""
    sessions = user.expect(200, "GET", "/sessions")["sessions"]
    heads = [{name: session.get(name) for name in WRITTEN} for session in sessions]
    logs = [user.events(session["id"]) for session in sessions]
    memories = [(row["id"], row["text"], row["rev"], row["last_used_at"]) for row in user.memories()]
    recalls = user.expect(200, "GET", "/recalls")["recalls"]
    versions = [user.versions(session["id"]) for session in sessions]
    return heads, logs, memories, recalls, versions


def an_event(**more: Any) -> Json:
    return {"events": [{"event_type": "user_message", "content": "x", **more}]}


def with_image(**source: str) -> Json:
    return an_event(content=[{"type": "image", "media_type": "image/png", **source}])


def raw(text: str) -> bytes:
    return text.encode()


NOT_JSON = (
    Bad("cut short", "POST", RECALL, raw=b'{"query": ', status=400, code="malformed_json"),
    Bad("not a value", "POST", EVENTS, raw=b"hello", status=400, code="malformed_json"),
    Bad("NaN", "POST", MEMORIES, raw=b'{"text": "x", "confidence": NaN}', status=400, code="malformed_json"),
    Bad("infinity", "POST", RECALL, raw=b'{"query": "x", "threshold": -Infinity}', status=400, code="malformed_json"),
    Bad("a name twice", "POST", RECALL, raw=b'{"query": "a", "query": "b"}', status=400, code="malformed_json"),
    Bad("not UTF-8", "POST", RECALL, raw=b'{"query": "\xff\xfe"}', status=400, code="malformed_json"),
    Bad("too many digits", "POST", EVENTS, raw=b"9" * 5_000, status=400, code="malformed_json"),
    Bad("two values", "POST", RECALL, raw=b'{"query": "a"} {}', status=400, code="malformed_json"),
    Bad("too deep", "POST", EVENTS, raw=b"[" * 50_000, status=400, code="malformed_json"),
    Bad("a byte order mark", "POST", RECALL, raw=b'\xef\xbb\xbf{"query": "a"}', status=400, code="malformed_json"),
    Bad("bad line", "POST", "/memories/import", raw=b'{"text": ', status=400, code="malformed_json"),
)

ENCODED = tuple(
    Bad(f"gzip {path}", "POST", path, raw=body, headers={"Content-Encoding": "gzip"}, at="header.Content-Encoding")
    for path in (RECALL, MEMORIES, EVENTS, "/memories/import")
    for body in (gzip.compress(b'{"query": "a"}'), b'{"query": "a"}')
)

UNKNOWN_FIELDS = (
    Bad("session", "POST", "/sessions", {"session_id": "s2", "colour": 1}, at="colour"),
    Bad("user meta", "POST", "/sessions", {"session_id": "s2", "user_meta": {"age": 1}}, at="user_meta.age"),
    Bad("append", "POST", EVENTS, {**an_event(), "colour": 1}, at="colour"),
    Bad("event", "POST", EVENTS, an_event(colour=1), at="events[0].colour"),
    Bad(
        "block",
        "POST",
        EVENTS,
        an_event(content=[{"type": "text", "text": "x", "z": 1}]),
        at="events[0].content[0].z",
    ),
    Bad("memory", "POST", MEMORIES, {"text": "x", "colour": 1}, at="colour"),
    Bad("import", "POST", "/memories/import", raw=b'{"text": "b", "z": 1}', at="lines[1].z"),
    Bad("recall", "POST", RECALL, {"query": "x", "colour": 1}, at="colour"),
    Bad("filter", "POST", RECALL, {"query": "x", "filters": {"colour": "red"}}, at="filters.colour"),
    Bad("observe", "POST", f"{SESSION}/observe", {"wait": False, "force": True}, at="force"),
    Bad("compact", "POST", f"{SESSION}/compact", {"verbose": "brief"}, at="verbose"),
    Bad("end", "POST", f"{SESSION}/end", {"reason": "end"}, at="reason"),
    Bad("query", "GET", MEMORIES, query={"colour": "red"}, at="query.colour"),
    Bad("query of a call without any", "GET", SESSION, query={"colour": "red"}, at="query.colour"),
)

EVENT_LISTS = (
    Bad("none", "POST", EVENTS, {"events": []}, at="events"),
    Bad("49", "POST", EVENTS, {"events": an_event()["events"] * 49}, at="events"),
    Bad("absent", "POST", EVENTS, {}, at="events"),
    Bad("no body", "POST", EVENTS, raw=b"", at="events"),
    Bad("not a list", "POST", EVENTS, {"events": {"event_type": "user_message"}}, at="events"),
    Bad("not an object", "POST", EVENTS, [1], at="body"),
    Bad("unknown type", "POST", EVENTS, an_event(event_type="foo"), at="events[0].event_type"),
    Bad("the second", "POST", EVENTS, {"events": [user_message("x"), user_message("")]}, at="events[1].content"),
    Bad("a number", "POST", EVENTS, an_event(content=5), at="events[0].content"),
    Bad(
        "two of one id",
        "POST",
        EVENTS,
        {"events": [user_message("x", client_id="c"), user_message("y", client_id="c")]},
        at="events[1].client_id",
    ),
    Bad("no image", "POST", EVENTS, with_image(), at="events[0].content[0]"),
    Bad("two sources", "POST", EVENTS, with_image(url="https://a.example/b", data="AAAA"), at="events[0].content[0]"),
    Bad("not base64", "POST", EVENTS, with_image(data="@@@@"), at="events[0].content[0].data"),
    Bad("not http", "POST", EVENTS, with_image(url="file:///etc/passwd"), at="events[0].content[0].url"),
    Bad("media type", "POST", "/uploads", {"media_type": "text/html"}, at="media_type"),
    Bad("text", "POST", EVENTS, {"events": ["text"]}, at="events[0]"),
    *(
        Bad(f"content {content!r:.30}", "POST", EVENTS, an_event(content=content), at=f"events[0].content{at}")
        for content, at in (
            ([], ""),
            ([{"type": "video"}], "[0].type"),
            ([{"text": "a"}], "[0].type"),
            ([{"type": "text", "text": ""}], "[0].text"),
            ([{"type": "image", "data": "AAAA"}], "[0].media_type"),
            ([{"type": "image", "media_type": "image/bmp", "data": "AAAA"}], "[0].media_type"),
        )
    ),
)

CHARACTERS = (
    Bad("NUL", "POST", EVENTS, an_event(content="a\x00b"), at="events[0].content"),
    Bad("bell", "POST", MEMORIES, {"text": "a\x07b"}, at="text"),
    Bad("escape", "POST", RECALL, {"query": "a\x1bb"}, at="query"),
    Bad("C1", "POST", "/sessions", {"session_id": "s2", "title": "a\x85b"}, at="title"),
    Bad("nested", "POST", EVENTS, an_event(event_data={"a": [{"b": "c\x00"}]}), at="events[0].event_data.a[0].b"),
    Bad("a name", "POST", EVENTS, an_event(event_data={"a\x00": 1}), at="events[0].event_data.a\ufffd"),
    Bad(
        "surrogate",
        "POST",
        EVENTS,
        raw=raw(r'{"events":[{"event_type":"user_message","content":"\ud800"}]}'),
        at="events[0].content",
    ),
    Bad("other surrogate", "POST", MEMORIES, raw=raw(r'{"text":"a \udc00 b"}'), at="text"),
    Bad("surrogates the wrong way round", "POST", RECALL, raw=raw(r'{"query":"\udc00\ud800"}'), at="query"),
    Bad("import", "POST", "/memories/import", raw=raw(r'{"text":"a\u0000"}'), at="lines[1].text"),
)

WRONG_IDS = (
    "",
    " ",
    " a",
    ".",
    "..",
    "a/b",
    "a#b",
    "a~b",
    "a?b",
    "a\\b",
    "a%20b",
    "a\n",
    "a\u200b",
    "x" * 129,
    "é" * 65,
)
IDS = (
    *(Bad(f"session {i!r:.20}", "POST", "/sessions", {"session_id": i}, at="session_id") for i in WRONG_IDS),
    *(Bad(f"client {i!r:.20}", "POST", EVENTS, an_event(client_id=i), at="events[0].client_id") for i in WRONG_IDS),
    Bad("memory", "POST", MEMORIES, {"text": "x", "session_id": " b"}, at="session_id"),
    Bad("recall", "POST", RECALL, {"query": "x", "session_id": " b"}, at="session_id"),
    Bad("query", "GET", "/pack", query={"session_id": " b"}, at="query.session_id"),
    Bad("path", "GET", "/sessions/%20b", at="path.session_id"),
    Bad("path NUL", "GET", "/sessions/a%00b", at="path.session_id"),
    Bad("path long", "GET", f"/sessions/{'x' * 129}", at="path.session_id"),
    *(
        Bad(f"document {path}", "PUT", "/documents", {"text": "x"}, query={"path": path}, at="query.path")
        for path in ("/a//b", "/artifacts/x")
    ),
    Bad("path space", "GET", "/memories/x%20y", at="path.memory_id"),
    Bad("used", "POST", "/memories/used", {"ids": ["mem.1"]}, at="ids[0]"),
    Bad("import", "POST", "/memories/import", raw=b'{"id": "mem.1", "text": "x"}', at="lines[1].id"),
)

LISTS = ("/sessions", EVENTS, MEMORIES, "/recalls", "/pack/versions")
LIMITS = (
    *(
        Bad(
            f"{path} {limit}",
            "GET",
            path,
            query={"limit": limit, **({"session_id": "s1"} if "pack" in path else {})},
            at="query.limit",
        )
        for path in LISTS
        for limit in ("0", "-1", "201", "1.5", "many", "", " 1", "1_0")
    ),
    Bad("twice", "GET", MEMORIES, query={"limit": ["1", "2"]}, at="query.limit"),
    Bad("from_seq", "GET", EVENTS, query={"from_seq": "0"}, at="query.from_seq"),
    *(
        Bad(
            f"{at} as text",
            "POST",
            f"{EVENTS}/retract",
            {"from_seq": 1, "to_seq": 2, "reason": "edited", at: "1"},
            at=at,
        )
        for at in ("from_seq", "to_seq")
    ),
    *(
        Bad(
            f"{at} as text", "POST", "/memories/import", raw=raw(json.dumps({"text": "x", **line})), at=f"lines[1].{at}"
        )
        for at, line in (
            ("provenance.seq_from", {"provenance": {"seq_from": "1", "seq_to": 2}}),
            ("passages[0].seq_to", {"passages": [{"text": "x", "seq_from": 1, "seq_to": "2"}]}),
        )
    ),
    Bad("version", "GET", "/pack", query={"session_id": "s1", "version": "0"}, at="query.version"),
    Bad("version too large", "GET", "/pack", query={"session_id": "s1", "version": "100000000"}, at="query.version"),
    Bad("versions of no session", "GET", "/pack/versions", at="query.session_id"),
    Bad("diff of one version", "GET", "/pack/diff", query={"session_id": "s1", "from": 1}, at="query.to"),
    Bad("version of no session", "GET", "/pack", query={"version": "1"}, at="query.version"),
    *(
        Bad(
            f"{path} cursor",
            "GET",
            path,
            query={"cursor": "bm90IG91cnM=", **({"session_id": "s1"} if "pack" in path else {})},
            at="query.cursor",
        )
        for path in ("/sessions", MEMORIES, "/recalls", "/pack/versions")
    ),
)

RECALLS = (
    Bad("limit 0", "POST", RECALL, {"query": "x", "limit": 0}, at="limit"),
    Bad("limit 51", "POST", RECALL, {"query": "x", "limit": 51}, at="limit"),
    Bad("limit text", "POST", RECALL, {"query": "x", "limit": "5"}, at="limit"),
    Bad("limit true", "POST", RECALL, {"query": "x", "limit": True}, at="limit"),
    Bad("no query", "POST", RECALL, {}, at="query"),
    Bad("query null", "POST", RECALL, {"query": None}, at="query"),
    Bad("query too long", "POST", RECALL, {"query": "x" * 8_001}, at="query"),
    Bad("scope", "POST", RECALL, {"query": "x", "scope": "session"}, at="session_id"),
    Bad("unknown scope", "POST", RECALL, {"query": "x", "scope": "world"}, at="scope"),
    Bad("no sources", "POST", RECALL, {"query": "x", "sources": []}, at="sources"),
    Bad("unknown source", "POST", RECALL, {"query": "x", "sources": ["web"]}, at="sources[0]"),
    Bad("unknown leg", "POST", RECALL, {"query": "x", "legs": ["psychic"]}, at="legs[0]"),
    Bad("mode", "POST", RECALL, {"query": "x", "mode": "loud"}, at="mode"),
    Bad("threshold", "POST", RECALL, {"query": "x", "threshold": 1.1}, at="threshold"),
    Bad("budget", "POST", RECALL, {"query": "x", "budget_ms": 1_000_000}, at="budget_ms"),
    Bad("a path", "POST", RECALL, {"query": "x", "filters": {"path_prefix": "/a//b"}}, at="filters.path_prefix"),
    Bad("an unknown kind", "POST", RECALL, {"query": "x", "filters": {"kind": "rumour"}}, at="filters.kind"),
    Bad("an unknown category", "POST", RECALL, {"query": "x", "filters": {"category": "PET"}}, at="filters.category"),
    Bad(
        "tool session",
        "POST",
        "/tools/recall_memory",
        {"session_id": " ", "arguments": {"query": "x"}},
        at="session_id",
    ),
    Bad("tool nothing", "POST", "/tools/recall_memory", {}, at="arguments"),
)

WRONG_TIMES = (
    "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T25:00:00Z", "2026-01-01T00:61:00Z", "yesterday",
    "2026-01-01", "2026-01-01T00:00:00", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "2026-01-01T00:00:00+99:00",
    "٢٠٢٦-01-01T00:00:00Z", "",
)  # fmt: skip
LATER = "2026-03-10T09:30:00Z"
TIMES = (
    *(Bad(f"event {at}", "POST", EVENTS, an_event(created_at=at), at="events[0].created_at") for at in WRONG_TIMES),
    *(
        Bad(f"filter {at}", "POST", RECALL, {"query": "x", "filters": {"after": at}}, at="filters.after")
        for at in WRONG_TIMES
    ),
    *(
        Bad(f"filter up to {at}", "POST", RECALL, {"query": "x", "filters": {"after": LATER, "before": at}},
            at="filters.before")
        for at in (LATER, "2026-03-10T10:29:59+01:00")
    ),
    Bad("the end of a range first", "POST", f"{EVENTS}/retract", {"from_seq": 2, "to_seq": 1, "reason": "edited"},
        at="to_seq"),
    *(
        Bad(f"import {place}", "POST", "/memories/import", raw=raw(json.dumps({"text": "x", **line})),
            at=f"lines[1].{place}.seq_to")
        for place, line in (
            ("provenance", {"provenance": {"seq_from": 2, "seq_to": 1}}),
            ("passages[1]", {"passages": [{"text": "x"}, {"text": "x", "seq_from": 9, "seq_to": 8}]}),
        )
    ),
    Bad("memory", "POST", MEMORIES, {"text": "x", "observed_at": "2026-02-30T00:00:00Z"}, at="observed_at"),
    Bad("number", "POST", MEMORIES, {"text": "x", "observed_at": 1_700_000_000}, at="observed_at"),
    Bad(
        "import",
        "POST",
        "/memories/import",
        raw=b'{"text": "x", "created_at": "2026-02-30T00:00:00Z"}',
        at="lines[1].created_at",
    ),
    *(
        Bad(f"time zone {zone}", "POST", "/sessions", {"session_id": "s2", "user_meta": {"timezone": zone}},
            at="user_meta.timezone")
        for zone in ("", "../etc/passwd", "Mars/Base", "localtime", "right/Europe/Vienna", "posix/UTC", "posixrules",
            "Factory", "Europe")
    ),
)  # fmt: skip

RECORDS = (
    Bad("blank", "POST", MEMORIES, {"text": " \n "}, at="text"),
    Bad("too long", "POST", MEMORIES, {"text": "x" * 64_001}, at="text"),
    Bad("a fact of no category", "POST", MEMORIES, {"text": "x", "kind": "fact"}, at="category"),
    Bad("a summary without an outcome", "POST", MEMORIES, {"text": "x", "kind": "session_summary"}, at="outcome"),
    Bad("a note with an outcome", "POST", MEMORIES, {"text": "x", "kind": "note", "outcome": "SUCCESS"}, at="outcome"),
    Bad("importance 0", "POST", MEMORIES, {"text": "x", "importance": 0}, at="importance"),
    Bad("importance 6", "POST", MEMORIES, {"text": "x", "importance": 6}, at="importance"),
    Bad("scope", "POST", MEMORIES, {"text": "x", "scope": "session"}, at="session_id"),
    Bad("wait", "POST", MEMORIES, {"text": "x"}, query={"wait": "forever"}, at="query.wait"),
    Bad("split", "POST", MEMORIES, {"text": "Keeps bees. Keeps geese.", "kind": "note"}, query={"split": "true"},
        at="query.split"),
    *(
        Bad(f"half a range {place}", "POST", "/memories/import", raw=raw(json.dumps({"text": "x", **line})),
            at=f"lines[1].{place}")
        for place, line in (
            ("provenance.seq_to", {"provenance": {"seq_from": 2}}),
            ("passages[0].seq_from", {"passages": [{"text": "x", "seq_to": 1}]}),
        )
    ),
    Bad("33 tags", "POST", MEMORIES, {"text": "x", "tags": ["t"] * 33}, at="tags"),
    Bad("no ids", "POST", "/memories/used", {"ids": []}, at="ids"),
    Bad("51 ids", "POST", "/memories/used", {"ids": [new_memory_id(n) for n in range(51)]}, at="ids"),
    Bad("an empty import", "POST", "/memories/import", raw=b"\n\n", at="body"),
    Bad("a line of another form", "POST", "/memories/import", raw=b'\n[]', at="lines[2]"),
    Bad("a fact imported", "POST", "/memories/import", raw=b'{"text": "a", "kind": "fact"}', at="lines[1].category"),
    Bad("stage", "POST", "/sessions", {"session_id": "s2", "user_meta": {"stage": "BFF"}}, at="user_meta.stage"),
    Bad("an unknown kind listed", "GET", MEMORIES, query={"kind": "rumour"}, at="query.kind"),
    Bad("an unknown category listed", "GET", MEMORIES, query={"category": "PET"}, at="query.category"),
    Bad("status", "GET", MEMORIES, query={"status": "lost"}, at="query.status"),
    Bad("pack format", "GET", "/pack", query={"session_id": "s1", "format": "html"}, at="query.format"),
    Bad("reason", "POST", f"{SESSION}/compact", {"reason": "whim"}, at="reason"),
    Bad("verbosity", "POST", f"{SESSION}/compact", {"verbosity": "endless"}, at="verbosity"),
    Bad("outcome", "POST", f"{SESSION}/end", {"outcome": "OK"}, at="outcome"),
    Bad("boundary", "POST", EVENTS, an_event(event_type="task_boundary", event_data={"kind": "mood"}),
        at="events[0].event_data.kind"),
    Bad("wait is no flag", "POST", f"{SESSION}/observe", {"wait": "yes"}, at="wait"),
    Bad("a key with a space", "POST", EVENTS, an_event(), headers={"Idempotency-Key": "a b"},
        at="header.Idempotency-Key"),
    Bad("a key too long", "POST", MEMORIES, {"text": "x"}, headers={"Idempotency-Key": "k" * 256},
        at="header.Idempotency-Key"),
    Bad("an etag without quotes", "GET", "/pack", query={"session_id": "s1"}, headers={"If-None-Match": "abc"},
        at="header.If-None-Match"),
)  # fmt: skip

BLANK = (" ", "\t\n", "\u00a0", "\u200b")
NO_PATHS = ("/ ", "/a/ ", "/\u3000", "/ /b", "/a/ /b", "/a/../b", "/a/./b", "/a//b", "/a\u200b", "/a\u2028b")
NAMES = (
    *(
        Bad(f"{at} {blank!r}", "POST", MEMORIES, {"text": "x", **body}, at=at)
        for blank in BLANK
        for at, body in (("tags[0]", {"tags": [blank]}), ("label", {"label": blank}), ("group", {"group": blank}))
    ),
    *(
        Bad(f"{path} {name} {blank!r}", "GET", path, query={name: blank}, at=f"query.{name}")
        for blank in (" ", "\u00a0")
        for path, name in ((MEMORIES, "tag"), (MEMORIES, "group"))
    ),
    *(
        Bad(f"{at} {blank!r}", "POST", RECALL, {"query": "x", "filters": filters}, at=at)
        for blank in BLANK
        for at, filters in (("filters.tags[0]", {"tags": [blank]}), ("filters.group", {"group": blank}))
    ),
    *(
        Bad(f"document {at} {blank!r}", "PUT", "/documents", {"text": "x", **body}, query={"path": "/a"}, at=at)
        for blank in BLANK
        for at, body in (
            ("tags[1]", {"tags": ["a", blank]}),
            ("kind", {"kind": blank}),
            ("source_type", {"source_type": blank, "source_id": "a"}),
            ("source_id", {"source_type": "wiki", "source_id": blank}),
        )
    ),
    *(
        Bad(f"at {path!r}", "PUT", "/documents", {"text": "x"}, query={"path": path}, at="query.path")
        for path in NO_PATHS
    ),
    *(Bad(f"of {path!r}", "GET", "/documents", query={"path": path}, at="query.path") for path in NO_PATHS),
    *(Bad(f"below {path!r}", "GET", "/documents/list", query={"prefix": path}, at="query.prefix") for path in NO_PATHS),
    *(
        Bad(f"in {path!r}", "POST", RECALL, {"query": "x", "filters": {"path_prefix": path}}, at="filters.path_prefix")
        for path in NO_PATHS
    ),
    Bad("read by a tool", "POST", "/tools/read_document", {"arguments": {"path": "/a/ "}}, at="arguments.path"),
    Bad("moved", "POST", "/documents/move", {"path": "/a", "to": "/b/ "}, at="to"),
    Bad("tone", "POST", MEMORIES, {"text": "x", "kind": "session_summary", "session_id": "s1", "outcome": "SUCCESS",
        "emotional_tone": " "}, at="emotional_tone"),
    Bad("import", "POST", "/memories/import", raw=b'{"text": "x", "tags": [" "]}', at="lines[1].tags[0]"),
    Bad("title", "POST", "/sessions", {"session_id": "s2", "title": " "}, at="title"),
    Bad("part of a prompt", "POST", "/usage", {"session_id": "s1", "pack_version": 1, "model": "m",
        "usage": {"input": 1, "output": 1}, "prefix_sha256": {"static": " "}}, at="prefix_sha256.static"),
)  # fmt: skip

NOT_THERE = (
    Bad("session", "GET", "/sessions/nope", status=404, code="session_not_found"),
    Bad("events", "GET", "/sessions/nope/events", status=404, code="session_not_found"),
    Bad("append", "POST", "/sessions/nope/events", an_event(), status=404, code="session_not_found"),
    Bad("observe", "POST", "/sessions/nope/observe", {}, status=404, code="session_not_found"),
    Bad("compact", "POST", "/sessions/nope/compact", {}, status=404, code="session_not_found"),
    Bad("end", "POST", "/sessions/nope/end", {}, status=404, code="session_not_found"),
    Bad("pack", "GET", "/pack", query={"session_id": "nope"}, status=404, code="session_not_found"),
    Bad("versions", "GET", "/pack/versions", query={"session_id": "nope"}, status=404, code="session_not_found"),
    Bad("version", "GET", "/pack", query={"session_id": "s1", "version": 9}, status=404, code="pack_version_not_found"),
    Bad("diff", "GET", "/pack/diff", query={"session_id": "s1", "from": 1, "to": 9}, status=404,
        code="pack_version_not_found"),
    Bad("recall", "POST", RECALL, {"query": "x", "session_id": "nope"}, status=404, code="session_not_found"),
    Bad("tool", "POST", "/tools/recall_memory", {"session_id": "nope", "arguments": {"query": "x"}}, status=404,
        code="session_not_found"),
    Bad("memory in", "POST", MEMORIES, {"text": "x", "session_id": "nope"}, status=404, code="session_not_found"),
    Bad("memory", "GET", f"/memories/{new_memory_id()}", status=404, code="memory_not_found"),
    Bad("edit", "PATCH", f"/memories/{new_memory_id()}", {"text": "x"}, status=404, code="memory_not_found"),
    Bad("delete", "DELETE", f"/memories/{new_memory_id()}", status=404, code="memory_not_found"),
    Bad("trace", "GET", f"/memories/{new_memory_id()}/trace", status=404, code="memory_not_found"),
    Bad("recorded recall", "GET", "/recalls/rcl_nope", status=404, code="recall_not_found"),
    Bad("job", "GET", "/jobs/job_nope", status=404, code="job_not_found"),
    Bad("upload", "POST", EVENTS, with_image(upload_id="nope"), status=404, code="upload_not_found"),
    Bad("call", "GET", "/horoscope", status=404, code="route_not_found"),
    Bad("tool call", "POST", "/tools/drop_tables", {}, status=404, code="route_not_found"),
)  # fmt: skip

TOO_MANY_IMAGES = (
    Bad("images of an event", "POST", EVENTS, an_event(content=[IMAGE] * 21), at="events[0].content"),
    Bad("images of an append", "POST", EVENTS, {"events": [user_message([IMAGE] * 17)] * 3}, at="events"),
)

TOO_LARGE = (
    Bad("body", "POST", EVENTS, raw=raw(json.dumps(an_event()).ljust(MIB + 1)), status=413, code="payload_too_large"),
    Bad("import", "POST", "/memories/import", raw=b"{}".ljust(MIB + 1), status=413, code="payload_too_large"),
    Bad("recall", "POST", RECALL, raw=b" " * (MIB + 1), status=413, code="payload_too_large"),
    Bad("gateway", "POST", EVENTS, raw=b" " * (GATEWAY_BYTES + 1), status=413, code="payload_too_large"),
    Bad("event", "POST", EVENTS, {"events": [user_message("x"), user_message("x" * (256 * KIB))]}, status=413,
    code="event_too_large",
        at="events[1]"),
    Bad("event in bytes", "POST", EVENTS, an_event(content="é" * (128 * KIB)), status=413, code="event_too_large",
        at="events[0]"),
)  # fmt: skip

GROUPS = {
    "json": NOT_JSON,
    "encoded": ENCODED,
    "unknown": UNKNOWN_FIELDS,
    "events": EVENT_LISTS,
    "characters": CHARACTERS,
    "ids": IDS,
    "limits": LIMITS,
    "recalls": RECALLS,
    "times": TIMES,
    "records": RECORDS,
    "names": NAMES,
    "missing": NOT_THERE,
    "images": TOO_MANY_IMAGES,
    "size": TOO_LARGE,
}


@pytest.mark.parametrize("group", GROUPS)
def test_it_is_refused_and_nothing_is_lost(somebody: Person, group: str) -> None:
    before = all_of(somebody)
    for bad in GROUPS[group]:
        reply = somebody.call(bad.method, bad.path, bad.body, query=bad.query, headers=bad.headers or None, raw=bad.raw)
        found = problem(reply, bad.status, bad.code)
        if bad.at is not None:
            assert bad.at in fields(found), f"{bad.name}: {found}"
            assert all(error["message"] for error in found["errors"])
    assert all_of(somebody) == before


@pytest.mark.parametrize("user_id", ["%20", "%20a", "a%00b", "x" * 129, "%C3%A9" * 65, "a%2Fb", "a%23b", "%25"])
def test_a_user_id_outside_the_grammar(api: ApiClient, user_id: str) -> None:
    for method, path, body in (
        ("POST", "/sessions", {"session_id": "s1"}),
        ("GET", "/memories", None),
        ("POST", "/recall", {"query": "x"}),
        ("GET", "/pack", None),
        ("GET", "/stats", None),
    ):
        reply = api.call(method, f"/v1/users/{user_id}{path}", body)
        assert fields(problem(reply, 422, "validation_failed")) == ["path.user_id"]


def test_ids_use_the_whole_grammar(person: Callable[[ApiClient], Person], api: ApiClient) -> None:
    for identifier in ("a", "0", f"A0._:@-{'z' * 121}", "é" * 64):
        someone = person(api)
        named = Person(
            api,
            f"{someone.id}{identifier}".encode()[-128:].decode(errors="ignore"),
            someone.settle_with,
            someone.finish_with,
        )
        assert len(named.id.encode()) <= 128
        assert named.open(identifier)["session"]["id"] == identifier
        assert named.append(identifier, user_message("Hello.", client_id=identifier))["seqs"] == [1]


def test_what_fits_exactly_is_accepted(user: Person) -> None:
    user.open("s1")
    shell = len(json.dumps(user_message(""), separators=(",", ":")).encode())
    largest = user_message("x" * (256 * KIB - shell))
    assert user.append("s1", largest)["seqs"] == [1]
    assert user.append("s1", *[user_message("x")] * 48)["seqs"][-1] == 49
    body = json.dumps({"events": [user_message("y" * 250_000)] * 4})
    padded = raw(body.ljust(MIB))
    assert len(padded) == MIB
    assert user.expect(201, "POST", EVENTS, raw=padded)["seqs"] == [50, 51, 52, 53]
    assert user.remember("x" * 64_000)["tokens"] == 20_000


def test_a_confidence_is_kept_to_six_places(user: Person) -> None:
    """DynamoDB has no number as small as some that JSON can say."""
    assert user.remember("x", confidence=1.5e-208)["confidence"] == 0
    memory = user.remember("y", confidence=0.12345678)
    assert memory["confidence"] == 0.123457
    assert user.expect(200, "PATCH", f"/memories/{memory['id']}", {"confidence": 1e-300})["confidence"] == 0


def test_text_may_hold_anything_else(user: Person) -> None:
    text = "tab\tline\nreturn\r «é» 漢字 🟡 \u200b \U0010ffff <script> '; DROP TABLE -- {{}} %s \\u0000"
    assert user.memory(user.remember(text)["id"])["text"] == text
    user.open("s1")
    user.append("s1", user_message(text))
    assert user.events("s1")[0]["content"] == text


# --- preconditions ------------------------------------------------------------------------------


def test_a_key_that_was_used_for_another_body(user: Person) -> None:
    """The first body again gets the first answer again; what is asked of a job or a session may have moved on, and an
    upload's target is signed anew."""
    user.open("s1")
    user.append("s1", user_message("Hello."), answered("Hi."))
    memory_id, cited = user.remember("User keeps bees.")["id"], user.remember("User keeps hens.")["id"]
    one, two = (json.dumps({"id": new_memory_id(n), "text": "x"}).encode() for n in (1, 2))
    for name, method, path, first, second in (
        ("append", "POST", EVENTS, an_event(), an_event(content="y")),
        ("upload", "POST", "/uploads", {"media_type": "image/png"}, {"media_type": "image/gif"}),
        ("used", "POST", "/memories/used", {"ids": [cited]}, {"ids": [memory_id]}),
        ("edit", "PATCH", f"/memories/{memory_id}", {"label": "a"}, {"label": "b"}),
        ("import", "POST", "/memories/import", one, two),
        ("memory", "POST", MEMORIES, {"text": "x"}, {"text": "y"}),
        ("session", "POST", "/sessions", {"title": "x"}, {"title": "y"}),
        ("observe", "POST", f"{SESSION}/observe", {}, {"wait": False}),
        ("compact", "POST", f"{SESSION}/compact", {"reason": "task"}, {"reason": "topic"}),
        ("end", "POST", f"{SESSION}/end", {"outcome": "SUCCESS"}, {"outcome": "PARTIAL"}),
    ):

        def send(body: Any, name: str = name, method: str = method, path: str = path) -> Reply:
            sent = {"raw": body} if isinstance(body, bytes) else {"body": body}
            return user.call(method, path, headers={"Idempotency-Key": f"key-{name}"}, **sent)

        original = send(first)
        assert original.status in (200, 201, 202), original.text
        user.settle()
        before = all_of(user)
        problem(send(second), 422, "idempotency_mismatch")
        again = send(first)
        assert again.status == original.status
        assert all_of(user) == before
        if name == "session":
            assert again.json()["session"]["id"] == original.json()["session"]["id"]
        elif name in ("memory", "observe", "compact", "end"):
            assert again.json()["id"] == original.json()["id"]
        elif name == "upload":
            assert again.json()["upload_id"] == original.json()["upload_id"]
        else:
            assert again.json() == original.json()


def test_a_deletion_may_be_repeated_with_its_key(user: Person) -> None:
    path = f"/memories/{user.remember('User keeps bees.')['id']}"
    headers = {"Idempotency-Key": "gone"}
    deleted = user.expect(200, "DELETE", path, headers=headers)
    assert user.expect(200, "DELETE", path, headers=headers) == deleted
    problem(user.call("DELETE", path), 404, "memory_not_found")


def test_a_refused_call_leaves_its_key_free(api: ApiClient) -> None:
    headers = {"Idempotency-Key": uuid4().hex}
    for _ in range(2):
        reply = api.call("DELETE", "/v1/keys/0123456789abcdef", headers=headers)
        assert (reply.status, reply.json()["code"]) == (404, "key_not_found")


def test_a_key_of_an_administrators_call(user: Person, api: ApiClient) -> None:
    headers = {"Idempotency-Key": new_user()}
    drained = api.call("POST", "/v1/admin/embeddings/drain", {"user_id": user.id}, headers=headers)
    assert drained.status in (200, 202)
    other = api.call("POST", "/v1/admin/embeddings/drain", {"user_id": new_user()}, headers=headers)
    problem(other, 422, "idempotency_mismatch")
    again = api.call("POST", "/v1/admin/embeddings/drain", {"user_id": user.id}, headers=headers)
    assert again.json() == drained.json()


def test_if_match_names_the_rev(user: Person) -> None:
    memory_id = user.remember("User keeps bees.")["id"]
    user.settle()
    remembered = user.memory(memory_id)
    path = f"/memories/{remembered['id']}"
    edit = {"text": "User keeps hens."}
    for method, body in (("PATCH", edit), ("DELETE", None)):
        stale = user.call(method, path, body, headers={"If-Match": '"7"'})
        problem(stale, 412, "precondition_failed")
        malformed = user.call(method, path, body, headers={"If-Match": "1"})
        assert fields(problem(malformed, 422, "validation_failed")) == ["header.If-Match"]
    assert user.memory(remembered["id"]) == remembered
    assert user.expect(200, "PATCH", path, edit, headers={"If-Match": '"1"'})["rev"] == 2
    assert fields(problem(user.call("PATCH", path, {}), 422, "validation_failed")) == ["body"]
    assert fields(problem(user.call("PATCH", path, {"kind": "note"}), 422, "validation_failed")) == ["kind"]
    assert user.memory(remembered["id"])["text"] == "User keeps hens."


def test_if_match_takes_a_list_and_a_comma_in_quotes_belongs_to_its_tag(user: Person) -> None:
    memory = user.remember("User keeps bees.")
    path = f"/memories/{memory['id']}"
    for sent in ('"1,0"', 'W/"1"', '"x", "7"'):
        problem(user.call("PATCH", path, {"text": "x"}, headers={"If-Match": sent}), 412, "precondition_failed")
    assert user.expect(200, "PATCH", path, {"text": "User keeps hens."}, headers={"If-Match": '"9,1", "1"'})["rev"] == 2
    refused = user.call("PATCH", path, {"text": "x"}, headers={"If-Match": '"1" "2"'})
    assert fields(problem(refused, 422, "validation_failed")) == ["header.If-Match"]


@pytest.mark.parametrize(
    ("method", "path", "body", "name"),
    [
        ("POST", MEMORIES, {"text": "x"}, "If-Match"),
        ("POST", MEMORIES, {"text": "x"}, "If-None-Match"),
        ("POST", EVENTS, an_event(), "If-None-Match"),
        ("PATCH", "/memories/{memory}", {"text": "x"}, "If-None-Match"),
        ("POST", "/inbox/{memory}/approve", None, "If-Match"),
        ("DELETE", "", None, "If-Match"),
    ],
)
def test_a_precondition_that_a_write_does_not_look_at_is_refused(
    somebody: Person, method: str, path: str, body: Any, name: str
) -> None:
    before = all_of(somebody)
    path = path.format(memory=somebody.memories()[0]["id"])
    for sent in ('"7"', "*"):
        refused = somebody.call(method, path, body, headers={name: sent})
        assert fields(problem(refused, 422, "validation_failed")) == [f"header.{name}"]
    assert all_of(somebody) == before
    assert somebody.call("POST", RECALL, {"query": "bees"}, headers={name: "*"}).status == 200, "nothing is written"


def test_an_empty_text_takes_a_label_or_a_group_away_and_null_nothing(user: Person) -> None:
    remembered = user.remember("User keeps bees.", label="farm", group="animals", tags=["bees"])
    path = f"/memories/{remembered['id']}"
    for name in ("text", "priority", "importance", "confidence", "status", "tags", "group"):
        refused = problem(user.call("PATCH", path, {name: None, "label": ""}), 422, "validation_failed")
        assert (fields(refused), user.memory(remembered["id"])["label"]) == ([name], "farm")
    changed = user.expect(200, "PATCH", path, {"label": "", "group": ""})
    assert ("label" in changed, "group" in changed, changed["tags"]) == (False, False, ["bees"])
    assert [row["id"] for row in user.memories()] == [remembered["id"]]
    assert user.expect(200, "GET", "/memories", query={"group": "animals"})["memories"] == []


@pytest.mark.parametrize("name", ["text", "group", "tags", "status", "source_id"])
def test_null_takes_nothing_of_a_document_away(user: Person, name: str) -> None:
    unchanged = {"text": "Green tea.", "group": "drinks", "tags": ["tea"]}
    user.expect(201, "PUT", "/documents", unchanged, query={"path": "/tea"})
    sent = {"text": "Black tea.", name: None}
    found = problem(user.call("PUT", "/documents", sent, query={"path": "/tea"}), 422, "validation_failed")
    assert fields(found) == [name]
    document = user.expect(200, "GET", "/documents", query={"path": "/tea"})
    assert {field: document[field] for field in unchanged} == unchanged


def test_a_key_that_was_used_with_other_parameters(user: Person) -> None:
    """What the parameter asks for was not done: the first answer must not say that it was."""
    memory = user.remember("User keeps bees.")
    path, headers = f"/memories/{memory['id']}", {"Idempotency-Key": "once"}
    user.expect(200, "DELETE", path, headers=headers)
    problem(user.call("DELETE", path, query={"purge_packs": "true"}, headers=headers), 422, "idempotency_mismatch")
    user.expect(200, "DELETE", path, query={"purge_packs": "false"}, headers=headers)


def test_a_call_that_takes_no_body_is_sent_none(user: Person) -> None:
    """``close`` is a parameter: in a body it would be lost, and the user not closed."""
    remembered = user.remember("User keeps bees.")
    path = f"/memories/{remembered['id']}"
    found = problem(user.call("DELETE", path, {"purge_packs": True}), 422, "validation_failed")
    assert fields(found) == ["body"]
    assert user.memory(remembered["id"])["text"] == "User keeps bees."
    user.expect(200, "DELETE", path, {})


def test_a_wrong_value_of_an_optional_field_is_told_what_holds_for_it(user: Person) -> None:
    path = f"/memories/{user.remember('User keeps bees.')['id']}"
    found = problem(user.call("PATCH", path, {"text": "", "importance": 0}), 422, "validation_failed")
    assert [(error["field"], error["message"]) for error in found["errors"]] == [
        ("text", "must not be blank"),
        ("importance", "must be greater than or equal to 1"),
    ]


def test_a_number_that_is_too_large_is_told_the_largest(user: Person) -> None:
    """And no field is told to be null where something in it is wrong."""
    path = f"/memories/{user.remember('User keeps bees.')['id']}"
    most = "must be less than or equal to"
    for limit in ("201", "9" * 13, "9" * 3_000):
        found = problem(user.call("GET", MEMORIES, query={"limit": limit}), 422, "validation_failed")
        assert found["errors"] == [{"field": "query.limit", "message": f"{most} 200"}]
    body = b'{"importance": 1' + b"0" * 400 + b', "confidence": 1e400}'
    found = problem(user.call("PATCH", path, raw=body), 422, "validation_failed")
    assert found["errors"] == [
        {"field": "confidence", "message": "must be a number between -1.8e+308 and 1.8e+308"},
    ]
    body = b'{"importance": 1' + b"0" * 400 + b', "tags": ["a", ""], "key_topics": [5]}'
    found = problem(user.call("PATCH", path, raw=body), 422, "validation_failed")
    assert {error["field"]: error["message"] for error in found["errors"]} == {
        "importance": f"{most} 5",
        "tags[1]": "must not be blank",
        "key_topics[0]": "must be a string",
    }


def test_a_cursor_of_another_list_is_refused(user: Person) -> None:
    for number in range(2):
        user.open(f"s{number}")
        user.remember(f"User keeps {number} bees.", group="animals")
    lists: dict[str, Json] = {"/sessions": {}, "/memories": {}, "/memories?group": {"group": "animals"}}
    cursors = {
        name: user.expect(200, "GET", name.partition("?")[0], query={"limit": 1, **query})["next_cursor"]
        for name, query in lists.items()
    }
    for name, query in lists.items():
        for other, cursor in cursors.items():
            reply = user.call("GET", name.partition("?")[0], query={"limit": 1, "cursor": cursor, **query})
            if name == other:
                assert reply.status == 200, reply.text
            else:
                assert fields(problem(reply, 422, "validation_failed")) == ["query.cursor"]


# --- the HTTP below the calls ------------------------------------------------------------------------


def test_a_head_is_answered_as_the_get_without_its_body(user: Person, api: ApiClient) -> None:
    user.open("s1")
    for path in (f"/v1/users/{user.id}/sessions/s1", "/v1/health", f"/v1/users/{user.id}/sessions/none"):
        head, get = api.call("HEAD", path), api.call("GET", path)
        assert (head.status, head.text) == (get.status, "")
        assert head.headers["content-type"] == get.headers["content-type"]
        assert head.headers["x-request-id"] != get.headers["x-request-id"]


def test_the_longest_parameters_fit_a_head_of_10_kilobytes(user: Person) -> None:
    """Everything that a call takes has room beside the key and a client's own headers."""
    sign = "\U0001f33f"
    query = {"group": sign * 128, "tag": sign * 128, "session_id": "s" * 128, "limit": 200, "status": "superseded"}
    fits = user.call("GET", MEMORIES, query=query, headers={"X-Trace": "t" * 3_000, "X-Request-Id": "r" * 128})
    assert (fits.status, fits.json()) == (200, {"memories": []})
    user.put_document("/" + "/".join(["é" * 21] * 20) + "é" * 20, "At the longest path.")
    assert user.document("/" + "/".join(["é" * 21] * 20) + "é" * 20)["text"] == "At the longest path."


@pytest.mark.parametrize("where", ["query", "header"])
def test_a_head_of_more_than_10_kilobytes_is_told_so(user: Person, where: str, stage: Stage) -> None:
    """A stage refuses it in front of the API, with a status and a body that are not ours."""
    long = "x" * 10_300
    given: Json = {"query": {"group": long}} if where == "query" else {"headers": {"X-Trace": long}}
    reply = user.call("GET", MEMORIES, **given)
    if stage.controls is None:
        assert 400 <= reply.status < 500
        return
    found = problem(reply, 431, "head_too_large")
    assert found["detail"].endswith("10240 are accepted.")


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/nothing"), ("DELETE", "/v1/policy"), ("HEAD", "/v1/keys/x")])
def test_a_call_that_does_not_exist_is_in_the_table_too(api: ApiClient, method: str, path: str) -> None:
    reply = api.call(method, path)
    if method == "HEAD":
        assert (reply.status, reply.headers["content-type"]) == (404, "application/problem+json")
    else:
        assert problem(reply, 404, "route_not_found")["title"] == "There is no such call"


# --- policy and keys ----------------------------------------------------------------------------

POLICIES = (
    ({"session_reflection_target": 65_000}, "invalid_policy", "session_reflection_target"),
    ({"session_reflection_target": 0}, "invalid_policy", "session_reflection_target"),
    (
        {"session_reflection_trigger": 1_000, "session_reflection_target": 1_000},
        "invalid_policy",
        "session_reflection_target",
    ),
    ({"session_reflection_trigger": 200_000}, "invalid_policy", "session_reflection_trigger"),
    ({"compaction_trigger": 200_000}, "invalid_policy", "compaction_trigger"),
    ({"compaction_trigger": 0}, "invalid_policy", "compaction_trigger"),
    ({"global_budget": 150_000}, "invalid_policy", "global_budget"),
    ({"observer_output_cap": 35_000}, "invalid_policy", "observer_output_cap"),
    ({"observer_transcript_cap": 8_000}, "invalid_policy", "observer_transcript_cap"),
    ({"window": 10_000, "local_rows_budget": 9_000}, "invalid_policy", "local_rows_budget"),
    ({"observer_transcript_cap": 10**18}, "validation_failed", "observer_transcript_cap"),
    ({"prior_memory_cap": 10**6}, "validation_failed", "prior_memory_cap"),
    ({"window": 99}, "validation_failed", "window"),
    ({"window": "200000"}, "validation_failed", "window"),
    ({"recall_limit": 0}, "validation_failed", "recall_limit"),
    ({"recall_limit": 51}, "validation_failed", "recall_limit"),
    ({"recall_threshold": 1.5}, "validation_failed", "recall_threshold"),
    ({"prompt_budget_ms": 0}, "validation_failed", "prompt_budget_ms"),
    ({"token_counter": "fingers"}, "validation_failed", "token_counter"),
    ({"global_budget": -1}, "validation_failed", "global_budget"),
    ({"colour": "red"}, "validation_failed", "colour"),
)


def test_a_policy_whose_numbers_do_not_fit(api: ApiClient) -> None:
    before = api.expect(200, "GET", "/v1/policy")
    for policy, code, name in POLICIES:
        found = problem(api.call("PUT", "/v1/policy", policy), 422, code)
        assert name in fields(found), policy
        assert set(fields(found)) <= set(policy), "nothing stands under a field that was not sent"
        if code == "invalid_policy":
            assert re.search(r"\d", found["detail"]), "the numbers are named"
        assert api.expect(200, "GET", "/v1/policy") == before
    nothing = api.call("PUT", "/v1/policy", raw=b"")
    assert fields(problem(nothing, 422, "validation_failed")) == ["body"], "a policy of defaults has to be asked for"
    problem(api.call("PUT", "/v1/policy", {}, headers={"If-Match": '"999999"'}), 412, "precondition_failed")
    assert api.expect(200, "GET", "/v1/policy") == before


def test_a_drain_is_told_once_how_long_to_wait(api: ApiClient) -> None:
    drain, both = "/v1/admin/embeddings/drain", {"wait": True, "wait_s": 0.5}
    assert fields(problem(api.call("POST", drain, both), 422, "validation_failed")) == ["wait_s"]
    for one in ({"wait": False, "wait_s": 0.5}, {"wait": True, "wait_s": 20}):
        assert api.call("POST", drain, one).status in (200, 202)


def test_keys_with_impossible_scopes(api: ApiClient) -> None:
    for scopes, at in (([], "scopes"), (["root"], "scopes[0]"), (["chat", "chat"], "scopes"), ("chat", "scopes")):
        assert fields(problem(api.call("POST", "/v1/keys", {"scopes": scopes}), 422, "validation_failed")) == [at]
    problem(api.call("DELETE", "/v1/keys/nope"), 404, "key_not_found")


@contextmanager
def key_with(api: ApiClient, *scopes: str) -> Iterator[Json]:
    """A second key of the tenant, revoked in the end."""
    key = api.expect(201, "POST", "/v1/keys", {"scopes": list(scopes)})
    try:
        yield key
    finally:
        api.expect(204, "DELETE", f"/v1/keys/{key['key_id']}")


def calls() -> list[tuple[str, str, str | None]]:
    """Method, path with ids filled in, and scope of every call of the description."""
    description = json.loads(TARGET.read_bytes())
    user, memory = new_user(), new_memory_id()
    ids = {"user_id": user, "session_id": "s1", "memory_id": memory, "item_id": memory}
    ids |= {"recall_id": "r1", "job_id": "j1", "key_id": "k1", "webhook_id": "w1"}
    return [
        (method.upper(), path.format(**ids), operation.get("x-neve-scope"))
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
        if method != "parameters"
    ]


def test_every_call_needs_a_key(stage: Stage) -> None:
    secret = stage.key.rpartition("_")[2]
    wrong = [
        None,
        "",
        "Bearer",
        "Bearer nope",
        f"Basic {stage.key}",
        stage.key,
        f"Bearer {stage.key}x",
        f"Bearer {stage.key[:-1]}",
        f"Bearer nv_unknown_{secret}",
        f"Bearer {stage.key} {stage.key}",
    ]
    checked = [call for call in calls() if call[2] is not None]
    assert len(checked) >= 33
    with closing(ApiClient(stage.base_url)) as client:
        for method, path, _ in checked:
            problem(client.call(method, path), 401, "unauthorized")
        for authorization in wrong:
            headers = {} if authorization is None else {"Authorization": authorization}
            reply = client.call("GET", "/v1/policy", headers=headers)
            assert secret not in problem(reply, 401, "unauthorized")["detail"]
        assert client.call("GET", "/v1/health").status == 200


def test_every_call_needs_its_scope(stage: Stage, api: ApiClient) -> None:
    for scope in ("chat", "records", "admin"):
        with key_with(api, scope) as key, closing(ApiClient(stage.base_url, key["key"])) as client:
            assert key["scopes"] == [scope]
            refused = [call for call in calls() if call[2] not in (None, scope)]
            assert refused
            for method, path, needed in refused:
                found = problem(client.call(method, path), 403, "forbidden")
                assert f"'{needed}'" in found["detail"]
            allowed = {"chat": "/v1/tools", "records": f"/v1/users/{new_user()}/memories", "admin": "/v1/policy"}
            assert client.call("GET", allowed[scope]).status == 200


def test_a_key_of_documents_makes_the_calls_of_documents_alone(stage: Stage, api: ApiClient) -> None:
    tools = ("search_knowledge", "read_document")
    with key_with(api, "documents") as key, closing(ApiClient(stage.base_url, key["key"])) as client:
        assert key["scopes"] == ["documents"]
        for method, path, _ in [call for call in calls() if call[2] is not None]:
            reply = client.call(method, path)
            if "/documents" in path or path.endswith(tools):
                assert reply.status not in (401, 403), (method, path)
            else:
                problem(reply, 403, "forbidden")
        written = client.call("PUT", f"/v1/users/{new_user()}/documents", {"text": "x"}, query={"path": "/memories/a"})
        assert written.status == 201


def test_a_revoked_key_opens_nothing(stage: Stage, api: ApiClient) -> None:
    with key_with(api, "chat", "records") as key, closing(ApiClient(stage.base_url, key["key"])) as client:
        assert client.call("GET", "/v1/tools").status == 200
        assert api.call("DELETE", f"/v1/keys/{key['key_id']}").status == 204
        if stage.controls is not None:
            stage.controls.advance(REVOKED_WITHIN_S)
        end = time.monotonic() + REVOKED_WITHIN_S
        while (reply := client.call("GET", "/v1/tools")).status == 200 and time.monotonic() < end:
            time.sleep(1)
        problem(reply, 401, "unauthorized")


def test_a_leaked_key_is_replaced_as_the_runbook_says(stage: Stage, api: ApiClient) -> None:
    """docs/runbooks/key-compromise.md, command 1: the new one comes, then the leaked one goes."""
    with (
        key_with(api, "chat", "records", "admin") as leaked,
        key_with(api, "chat", "records", "admin") as new,
        closing(ApiClient(stage.base_url, new["key"])) as client,
    ):
        assert client.call("DELETE", f"/v1/keys/{leaked['key_id']}").status == 204
        assert client.call("GET", "/v1/policy").status == 200


def test_the_last_admin_key_stays(stage: Stage, api: ApiClient) -> None:
    own = stage.key.split("_")[1]
    problem(api.call("DELETE", f"/v1/keys/{own}"), 409, "last_admin_key")
    with key_with(api, "chat"):
        problem(api.call("DELETE", f"/v1/keys/{own}"), 409, "last_admin_key")
    assert api.call("GET", "/v1/policy").status == 200
