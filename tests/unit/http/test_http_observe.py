"""E2, E4 through the function observe, E3 through compact."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from functions.compact.app import router as compact_router
from functions.observe.app import router
from neve.http.schemas.jobs.jobs import COMPACT, OBSERVE, READ_JOB
from neve.http.schemas.sessions.events import EVENTS, UPLOADS
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import QueueName
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.work.observe.observe_session import observe_session
from tests.pictures import TINY_PNG
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

PNG = base64.b64encode(TINY_PNG).decode()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for world in installed(World.make(tmp_path)):
        world.open()
        yield world


@pytest.fixture
def api(world: World) -> Api:
    return Api(router)


def ask(api: Api) -> Api:
    """The function that is asked for a pass."""
    return replace(api, router=compact_router)


def append(api: Api, *events: Any, session: str = "s1", user: str = "ann", **more: Any) -> Reply:
    return api.call("POST", EVENTS, {"events": list(events)}, user_id=user, session_id=session, **more)


def user_message(text: Any = "hello", **more: Any) -> dict[str, Any]:
    return {"event_type": "user_message", "content": text, **more}


def log(api: Api, query: str = "") -> Reply:
    return api.call("GET", EVENTS, query=query, user_id="ann", session_id="s1")


def test_append_and_read_back(api: Api) -> None:
    events = [
        user_message("hello", name="Ann", client_id="c1", created_at="2026-03-01T10:00:00+01:00"),
        {
            "event_type": "tool_call",
            "content": "",
            "event_data": {"tool_use_id": "t1", "name": "find", "args": {"q": None}},
        },
        {
            "event_type": "tool_result",
            "content": "found",
            "event_data": {"tool_use_id": "t1", "name": "find", "more": [1]},
        },
        {"event_type": "task_boundary", "content": "", "event_data": {"kind": "task"}},
        {"event_type": "assistant_response", "content": "hi"},
    ]
    reply = append(api, *events)
    answer = dict(reply.json)
    assert answer.pop("compaction_job_id").startswith("job_")
    assert (reply.status, answer) == (201, {"seqs": [1, 2, 3, 4, 5], "observation": "waiting", "compaction": "queued"})
    page = log(api).json
    assert "next_from_seq" not in page
    assert page["events"][0] == {
        "seq": 1,
        "client_id": "c1",
        "event_type": "user_message",
        "name": "Ann",
        "content": "hello",
        "original_tokens": 2,
        "pruned": False,
        "archived": False,
        "retracted": False,
        "created_at": "2026-03-01T09:00:00.000Z",
    }
    assert [event.get("event_data") for event in page["events"][1:]] == [
        {"tool_use_id": "t1", "name": "find", "args": {"q": None}},
        {"tool_use_id": "t1", "name": "find", "more": [1]},
        {"kind": "task"},
        None,
    ]


def test_images_are_named_by_upload_and_never_by_store_key(api: Api, world: World) -> None:
    upload = api.call("POST", UPLOADS, {"media_type": "image/png"}, user_id="ann")
    assert upload.status == 201
    assert upload.json["headers"] == {"Content-Type": "image/png", "If-None-Match": "*"}
    name = world.tenant.keys.of_user("ann").upload_object(upload.json["upload_id"])
    world.objects.put(name, base64.b64decode(PNG), content_type="image/png")
    image = {"type": "image", "media_type": "image/png"}
    blocks = [
        {"type": "text", "text": "look"},
        image | {"upload_id": upload.json["upload_id"]},
        image | {"data": PNG},
        image | {"url": "https://example.com/a.png"},
    ]
    assert append(api, user_message(blocks)).status == 201
    [event] = log(api).json["events"]
    assert [sorted(block) for block in event["content"]] == [
        ["text", "type"],
        ["media_type", "type", "upload_id"],
        ["media_type", "type", "upload_id"],
        ["media_type", "type", "url"],
    ]
    assert "images/" not in json.dumps(event["content"])
    assert append(api, user_message([event["content"][2]])).status == 201


def test_idempotency_key_is_part_of_the_append(api: Api, world: World) -> None:
    headers = {"Idempotency-Key": "k"}
    first = append(api, user_message("once"), headers=headers)
    assert append(api, user_message("once"), headers=headers).json == first.json
    assert append(api, user_message("twice"), headers=headers).json["code"] == "idempotency_mismatch"
    assert len(log(api).json["events"]) == 1
    world.table.calls.clear()
    append(api, user_message("calls"), headers={"Idempotency-Key": "k2"})
    assert world.table.calls == {"get_many": 1, "write": 1}


def test_observe_is_a_queued_job_and_then_done(api: Api, world: World) -> None:
    append(api, user_message(), {"event_type": "assistant_response", "content": "hi"})
    queued = ask(api).call("POST", OBSERVE.path, {}, user_id="ann", session_id="s1")
    assert (queued.status, queued.json["status"], queued.json["kind"]) == (202, "queued", "observe")
    assert [name for name, _ in world.queue.sent] == [QueueName.EXTRACT]
    read = api.call("GET", READ_JOB.path, user_id="ann", job_id=queued.json["id"])
    assert (read.status, {name: read.json[name] for name in queued.json}) == (200, queued.json)
    assert api.call("GET", READ_JOB.path, user_id="bob", job_id=queued.json["id"]).json["code"] == "job_not_found"


def test_observe_with_nothing_new_is_done_at_once(api: Api) -> None:
    reply = ask(api).call("POST", OBSERVE.path, raw="", user_id="ann", session_id="s1")
    assert (reply.status, reply.json["status"]) == (200, "done")
    assert reply.json["result"]["written"] == []


def test_a_refused_message_leaves_no_job_and_what_another_pass_observed_is_not_asked_for(
    api: Api, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(api, user_message(), {"event_type": "assistant_response", "content": "hi"})

    def refuse(*_: Any) -> None:
        raise StoreUnavailable("queue", "down")

    with monkeypatch.context() as broken:
        broken.setattr(world.queue, "send", refuse)
        assert ask(api).call("POST", OBSERVE.path, {}, user_id="ann", session_id="s1").status == 503
    assert world.table.query(world.tenant.keys.jobs, limit=10).items == []
    observe_session(world.user("ann").of_session("s1"), 1, closing=True)
    asked = ask(api).call("POST", OBSERVE.path, {}, user_id="ann", session_id="s1")
    assert (asked.status, asked.json["status"], asked.json["result"]["observed_seq"]) == (200, "done", 2)
    assert world.queue.sent == []


def test_compact(api: Api, world: World) -> None:
    headers = {"Idempotency-Key": "k"}
    first = api.call("POST", COMPACT.path, {"reason": "manual"}, headers=headers, user_id="ann", session_id="s1")
    again = api.call("POST", COMPACT.path, {"reason": "manual"}, headers=headers, user_id="ann", session_id="s1")
    assert first.status == again.status == 202
    assert first.json == again.json
    assert world.queue.sent == [], "the row of the job is its message"
    message = message_of_row(world.table.get(world.tenant.keys.job(first.json["id"])) or {})
    assert (message.body["session"], message.body["job_id"]) == ("s1", first.json["id"])
    bad = api.call("POST", COMPACT.path, {"reason": "bored"}, user_id="ann", session_id="s1")
    assert bad.fields == ["reason"]
