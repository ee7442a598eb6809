"""What a caller sees while S3 fails: the pack and observe functions on the real adapter, over loopback HTTP."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import closing

import pytest

from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.s3_objects import S3Objects
from neve.http.schemas.sessions.events import EVENTS, UPLOADS
from neve.http.schemas.sessions.sessions import SESSIONS
from neve.ports.errors import StoreUnavailable
from neve.usecases.core.pack.build_pack import build_pack
from tests.faults.calls import Caller, is_degraded, is_refused_for_now
from tests.pictures import TINY_PNG
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, answering_server, s3_error
from tests.unit.recall_world import RecallWorld

FAILURES = {
    "503": s3_error(503, "SlowDown"),
    "expired credentials": s3_error(400, "ExpiredToken"),
    "skewed clock": s3_error(403, "RequestTimeTooSkewed"),
    "no answer": Reply(lost=True),
}
IMAGE = {"type": "image", "media_type": "image/png", "data": b64encode(TINY_PNG).decode()}


@pytest.fixture(params=list(FAILURES.values()), ids=list(FAILURES))
def failure(request: pytest.FixtureRequest) -> Reply:
    found: Reply = request.param
    return found


@pytest.fixture
def s3() -> Iterator[AnsweringServer]:
    with answering_server() as running:
        yield running


@pytest.fixture
def broken(world: RecallWorld, s3: AnsweringServer, failure: Reply) -> Iterator[S3Objects]:
    """What a test puts in the place of the world's objects."""
    s3.otherwise = failure
    with closing(aws_client("s3", endpoint_url=s3.url, session=SESSION)) as client:
        yield S3Objects(client, "bucket")


def test_a_pack_that_the_function_has_served_is_served_again(
    world: RecallWorld, caller: Caller, broken: S3Objects
) -> None:
    """The current version needs no object; one that became current elsewhere does, and the one before is served."""
    world.remember("likes tea")
    caller.open()
    whole = caller.pack()
    world.objects, working = broken, world.objects  # type: ignore[assignment]
    again = caller.pack()
    assert (again.text, again.headers["ETag"]) == (whole.text, whole.headers["ETag"])
    assert "X-Neve-Degraded" not in again.headers

    caches = world.caches
    world.forget()
    world.objects = working
    world.remember("likes coffee")
    build_pack(world.user("ann").of_session("s1"), "horizon")
    newer = caller.pack()
    world.caches = caches
    world.objects = broken  # type: ignore[assignment]
    stale = caller.pack()
    assert (stale.status, stale.headers["X-Neve-Degraded"]) == (200, "pack:stale"), "the bytes are those of the version"
    assert (stale.json["text"], stale.headers["ETag"]) == (whole.json["text"], whole.headers["ETag"])
    world.objects = working
    assert caller.pack().text == newer.text


def test_a_pack_that_nobody_here_has_served_is_partial(
    world: RecallWorld, caller: Caller, broken: S3Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.remember("likes tea")
    caller.open()
    whole = caller.pack()
    world.forget()
    world.objects, working = broken, world.objects  # type: ignore[assignment]
    partial = caller.pack()
    assert is_degraded(partial, "pack:partial")
    assert partial.json["state"] == "partial"
    assert (partial.headers["Cache-Control"], "ETag" in partial.headers) == ("no-store", False)
    world.objects = working
    assert (caller.pack().text, caller.pack().headers["ETag"]) == (whole.text, whole.headers["ETag"])


DAMAGED = {
    "empty": b"",
    "truncated": b'{"manifest": {"session_id": "s1", "pack_ver',
    "not JSON": b"\xff\xfe\x00",
    "null": b"null",
    "a list": b"[1, 2]",
    "of another shape": b'{"manifest": {"layers": []}, "text": 5}',
    "another text": b'{"manifest": {}, "text": "likes tea"}',
    "half a character": b'{"manifest": {}, "text": "\\ud800"}',
    "nested": b"[" * 100_000,
}


@pytest.mark.parametrize("body", DAMAGED.values(), ids=list(DAMAGED))
def test_a_damaged_pack_object_is_no_pack_and_no_failure(
    world: RecallWorld, caller: Caller, s3: AnsweringServer, body: bytes
) -> None:
    world.remember("likes tea")
    caller.open()
    whole = caller.pack()
    world.forget()
    s3.otherwise = Reply(200, body, {"Content-Type": "application/json"})
    with closing(aws_client("s3", endpoint_url=s3.url, session=SESSION)) as client:
        world.objects, working = S3Objects(client, "bucket"), world.objects  # type: ignore[assignment]
        partial = caller.pack()
        assert is_degraded(partial, "pack:partial")
        assert (partial.json["state"], partial.json["text"], "ETag" in partial.headers) == ("partial", "", False)
        again = caller.call("POST", SESSIONS, {"session_id": "s1"})
        assert is_degraded(again, "pack:partial")
        assert again.json["pack"]["state"] == "partial"
    world.objects = working
    assert (caller.pack().text, caller.pack().headers["ETag"]) == (whole.text, whole.headers["ETag"])


def test_a_session_is_opened_without_its_pack_and_no_version_is_made(
    world: RecallWorld, caller: Caller, broken: S3Objects
) -> None:
    world.remember("likes tea")
    world.objects, working = broken, world.objects  # type: ignore[assignment]
    opened = caller.call("POST", SESSIONS, {"session_id": "s1"})
    assert is_degraded(opened, "pack:partial")
    assert (opened.json["created"], "pack_version" in opened.json["session"]) == (True, False)
    world.objects = working
    first = caller.pack()
    assert (first.json["pack_version"], "likes tea" in first.json["text"]) == (1, True)


def test_an_image_that_cannot_be_kept_fails_the_whole_append(
    world: RecallWorld, caller: Caller, broken: S3Objects
) -> None:
    caller.open()
    world.objects, working = broken, world.objects  # type: ignore[assignment]
    body = {"events": [{"event_type": "user_message", "content": [IMAGE], "client_id": "image-1"}]}
    assert is_refused_for_now(caller.call("POST", EVENTS, body))
    assert caller.log() == []
    assert caller.append().status == 201, "words need no object"
    world.objects = working
    assert caller.call("POST", EVENTS, body).json["seqs"] == [3]


def test_an_upload_that_cannot_be_looked_at_fails_the_whole_append(
    world: RecallWorld, caller: Caller, broken: S3Objects
) -> None:
    caller.open()
    upload_id = caller.call("POST", UPLOADS, {"media_type": "image/png"}).json["upload_id"]
    name = world.user().keys.upload_object(upload_id)
    world.objects.put(name, b64decode(IMAGE["data"]), content_type="image/png")
    world.objects, working = broken, world.objects  # type: ignore[assignment]
    image = {"type": "image", "media_type": "image/png", "upload_id": upload_id}
    body = {"events": [{"event_type": "user_message", "content": [image], "client_id": "image-1"}]}
    assert is_refused_for_now(caller.call("POST", EVENTS, body))
    assert caller.log() == []
    world.objects = working
    assert caller.call("POST", EVENTS, body).json["seqs"] == [1]


def test_an_upload_is_promised_without_asking_the_store(
    world: RecallWorld, caller: Caller, broken: S3Objects, s3: AnsweringServer
) -> None:
    world.objects = broken  # type: ignore[assignment]
    assert caller.call("POST", UPLOADS, {"media_type": "image/png"}).status == 201
    assert s3.requests == []


def test_a_pack_whose_object_is_written_and_whose_pointer_is_not(world: RecallWorld, caller: Caller) -> None:
    """The first read builds the pack; what it wrote before the table failed is what the next one serves."""
    world.remember("likes tea")
    caller.open()

    def refuse() -> None:
        raise StoreUnavailable("table", "throttled")

    world.rows.before_write = refuse
    assert is_degraded(caller.pack(), "pack:unavailable")
    left = world.objects.get(world.tenant.keys.of_user("ann").of_session("s1").pack_object(1))
    assert left is not None
    reply = caller.pack()
    assert (reply.status, reply.json["state"], reply.json["pack_version"]) == (200, "ready", 1)
    assert "likes tea" in reply.json["text"]
    assert world.objects.get(world.tenant.keys.of_user("ann").of_session("s1").pack_object(1)) == left
