"""What a caller sees while SQS fails, and that every change is queued in the end: the functions on the real adapter,
over loopback HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing

import pytest

from functions.outbox import app as outbox_app
from local.workers.worker_events import sequence_number, stream_event
from neve.adapters.aws.clients import aws_client
from neve.adapters.aws.sqs_queue import SqsQueue
from neve.http.schemas.jobs.jobs import END, OBSERVE
from neve.http.schemas.memories.kept import CREATE_MEMORY
from neve.http.schemas.sessions.events import EVENTS
from neve.ports.queue import QueueName
from tests.faults.calls import Caller, is_refused_for_now
from tests.unit.aws_world import SESSION, AnsweringServer, Reply, Request, answering_server, json_error
from tests.unit.recall_world import RecallWorld

FAILURES = {
    "throttled": json_error(400, "ThrottlingException"),
    "503": Reply(503),
    "expired credentials": json_error(403, "ExpiredToken"),
    "skewed clock": json_error(403, "RequestExpired"),
    "no answer": Reply(lost=True),
}
FOR_GOOD = 50
"""More requests than a batch is sent in."""
for_every_failure = pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
URLS = {name: f"http://127.0.0.1/000000000000/neve-{name}{'' if name == 'embed' else '.fifo'}" for name in QueueName}


class Sqs(AnsweringServer):
    """Takes every message. ``refused``: the positions in its batch that the next request leaves out, and so on.
    ``failure``: what every request is answered with instead."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Reply | None = None
        self.refused: list[tuple[int, ...]] = []

    def enter(self, request: Request) -> Reply:
        super().enter(request)
        return self.failure or self._taken(request.json()["Entries"])

    def _taken(self, entries: list[dict[str, str]]) -> Reply:
        left_out = self.refused.pop(0) if self.refused else ()
        answer = {
            "Successful": [{"Id": e["Id"], "MessageId": "m"} for n, e in enumerate(entries) if n not in left_out],
            "Failed": [{"Id": entries[n]["Id"], "Code": "InternalError", "SenderFault": False} for n in left_out],
        }
        return Reply(body=answer, headers={"content-type": "application/x-amz-json-1.0"})

    def bodies(self) -> list[dict[str, object]]:
        """Of everything that was sent, refused or not."""
        return [json.loads(entry["MessageBody"]) for r in self.requests for entry in r.json()["Entries"]]


@pytest.fixture
def sqs(world: RecallWorld, pauses: list[float]) -> Iterator[Sqs]:
    with answering_server(Sqs) as running, closing(aws_client("sqs", endpoint_url=running.url, session=SESSION)) as c:
        world.queue = SqsQueue(c, URLS, pauses.append)  # type: ignore[assignment]
        assert isinstance(running, Sqs)
        yield running


def outbox(world: RecallWorld) -> list[str]:
    """The sequence numbers that the outbox function names as failed, over everything since the beginning."""
    failures = outbox_app.handler(stream_event(world.rows.read_changes(0, 100)), None)["batchItemFailures"]
    return [failure["itemIdentifier"] for failure in failures]


@for_every_failure
def test_writes_do_not_wait_for_the_queue_and_their_changes_are_queued_later(
    world: RecallWorld, caller: Caller, sqs: Sqs, failure: Reply
) -> None:
    sqs.failure = failure
    caller.open()
    assert caller.append().status == 201
    memory = caller.call("POST", CREATE_MEMORY.path, {"text": "likes tea"})
    assert (memory.status, sqs.requests) == (201, [])

    changes = world.rows.read_changes(0, 100)
    first = next(change for change in changes if "EVT#" in change.key.sk)
    assert outbox(world) == [sequence_number(first)], "the stream comes again from there"
    sqs.failure = None
    sqs.requests.clear()
    assert outbox(world) == []
    sent = sqs.bodies()
    assert memory.json["id"] in {body.get("id") for body in sent}
    assert {"s1"} == {body["session"] for body in sent if "session" in body}


@for_every_failure
def test_a_compaction_that_an_append_or_an_end_asks_for_does_not_wait_for_the_queue(
    world: RecallWorld, caller: Caller, sqs: Sqs, failure: Reply
) -> None:
    sqs.failure = failure
    caller.open()
    boundary = {"event_type": "task_boundary", "content": ""}
    appended = caller.call("POST", EVENTS, {"events": [boundary]})
    assert (appended.status, appended.json["compaction"]) == (201, "queued")
    ended = caller.call("POST", END.path, {})
    assert (ended.status, sqs.requests) == (202, [])
    assert len(outbox(world)) == 1, "the stream comes again"

    sqs.failure = None
    sqs.requests.clear()
    assert outbox(world) == []
    reasons = {body["job_id"]: body["reason"] for body in sqs.bodies() if body.get("work") == "compact"}
    assert reasons == {appended.json["compaction_job_id"]: "task", ended.json["id"]: "end"}


@for_every_failure
def test_asking_for_an_observation_fails_loudly_and_can_be_repeated(
    world: RecallWorld, caller: Caller, sqs: Sqs, failure: Reply
) -> None:
    caller.open()
    caller.append()
    sqs.failure = failure
    assert is_refused_for_now(caller.call("POST", OBSERVE.path, {}))
    sqs.failure = None
    sqs.requests.clear()
    reply = caller.call("POST", OBSERVE.path, {})
    assert (reply.status, reply.json["status"]) == (202, "queued")
    assert [body["job_id"] for body in sqs.bodies()] == [reply.json["id"]]


def test_what_one_batch_refused_is_sent_again_and_nothing_else(world: RecallWorld, sqs: Sqs) -> None:
    ids = {world.remember(f"row {n}") for n in range(3)}
    sqs.refused = [(1,)]
    assert outbox(world) == []
    sent = [body["id"] for body in sqs.bodies()]
    assert (set(sent), len(sent)) == (ids, 4)


def test_what_stays_refused_is_named_and_comes_again(world: RecallWorld, sqs: Sqs) -> None:
    ids = {world.remember(f"row {n}") for n in range(3)}
    sqs.refused = [(0,)] * FOR_GOOD
    changes = world.rows.read_changes(0, 100)
    first = next(change for change in changes if change.key.sk.startswith("MEM#"))
    assert outbox(world) == [sequence_number(first)]
    sqs.refused = []
    sqs.requests.clear()
    assert outbox(world) == []
    assert {body["id"] for body in sqs.bodies()} == ids
