"""Clocks that disagree: two processes an hour apart, or one whose clock is set back. What a service says to a signature
that is too old is with the faults of that service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.extract import app as extract_app
from neve import wiring
from neve.http.schemas.recall.recall import LIST_RECALLS
from neve.store.keys import SessionKeys
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.messages.observation import observation_message
from tests.faults.calls import TURN, Caller
from tests.unit.recall_world import RecallWorld
from tests.unit.world import World

skewed = pytest.mark.parametrize("hours", [-1, 1], ids=["behind", "ahead"])


@skewed
def test_appends_of_two_clocks_are_one_log_in_the_order_of_their_arrival(
    world: RecallWorld, caller: Caller, hours: int
) -> None:
    """Seqs come from the row, never from a time."""
    caller.open()
    assert caller.append().json["seqs"] == [1, 2]
    world.clock.move(hours=hours)
    assert caller.append(*TURN, client_ids=True).json["seqs"] == [1, 2], "a repeat is recognised"
    assert caller.append("And then?", client_ids=False).json["seqs"] == [3]
    world.clock.move(hours=-hours)
    assert caller.append("Then Porto.", client_ids=False).json["seqs"] == [4]
    assert caller.log() == [*TURN, "And then?", "Then Porto."]


@skewed
def test_what_another_clock_wrote_is_packed_and_recalled(world: RecallWorld, caller: Caller, hours: int) -> None:
    """Whatever time a row that is not indexed yet was written at, its words are found."""
    world.clock.move(hours=hours)
    caller.open()
    memory = world.remember("a kayak trip on the river")
    world.say("The kayak is red.", "Noted.")
    world.clock.move(hours=-hours)
    before_it_is_indexed = {hit["id"] for hit in caller.recall().json["hits"]}
    assert memory in before_it_is_indexed
    world.pump()
    assert {"memory", "event"} == {hit["source"] for hit in caller.recall(threshold=0).json["hits"]}
    assert "kayak trip" in caller.pack().json["text"]
    assert len(caller.call("GET", LIST_RECALLS.path).json["recalls"]) == 2


# --- workers ------------------------------------------------------------------------------------


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[World]:
    """With the tenant's row, and a session in which something was said."""
    before = list(wiring._installed)
    made = World.make(tmp_path)
    made.table.write([put_tenant(TenantRow(made.tenant.id, "2026-03-10T09:30:00.000Z"))])
    wiring.install(made)
    made.open()
    made.say(*TURN)
    yield made
    made.table.close()
    wiring._installed[:] = before


def extract(world: World) -> list[str]:
    """One delivery of the session's message; the ids that the function names as failed."""
    message = observation_message(SessionKeys(world.tenant.id, "ann", "s1"), 1, 2)
    attributes = {"MessageGroupId": message.group, "ApproximateReceiveCount": "1"}
    record = {"messageId": "m1", "body": json.dumps(message.body), "attributes": attributes}
    answer = extract_app.handler({"Records": [record | {"eventSource": "aws:sqs"}]}, None)
    return [failed["itemIdentifier"] for failed in answer["batchItemFailures"]]


def test_a_worker_whose_clock_is_ahead_takes_a_lease_that_still_runs_and_nothing_is_observed_twice(
    workers: World,
) -> None:
    """The first worker's commit finds the other's token and writes nothing; its message comes again."""

    def other_worker() -> None:
        workers.clock.move(hours=1)
        assert extract(workers) == []
        workers.clock.move(hours=-1)

    workers.observer.meanwhile = other_worker
    assert extract(workers) == ["m1"]
    assert extract(workers) == []
    assert len(workers.memories()) == 1
    assert get_session(workers.user("ann").of_session("s1")).marker.observed_seq == 2


def test_a_worker_whose_clock_is_behind_waits_for_the_lease_and_then_finds_nothing_to_do(workers: World) -> None:
    def other_worker() -> None:
        workers.clock.move(hours=-1)
        assert extract(workers) == []
        workers.clock.move(hours=1)

    workers.observer.meanwhile = other_worker
    assert extract(workers) == []
    [(queue, postponed)] = workers.queue.sent
    assert (queue, postponed.body["session"]) == ("extract", "s1")
    assert extract(workers) == []
    assert len(workers.memories()) == 1
    assert len(workers.observer.passes) == 1
