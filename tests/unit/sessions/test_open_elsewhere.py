"""What opening a session asks of the user's other ones, and what it answers where stores are slow or down."""

from __future__ import annotations

import pytest

from neve.ports.errors import StoreUnavailable
from neve.ports.queue import QueueName
from neve.ports.table import Put
from neve.usecases.core.jobs.messages.observation import observation_job_id
from neve.usecases.tell.sessions.open_session import OpenedSession, OpenSession, open_session
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.open("a")
    new_recall_world.say("I keep bees.", "Noted.", session="a")
    new_recall_world.queue.sent.clear()
    return new_recall_world


def opened(world: RecallWorld, session: str = "b") -> OpenedSession:
    return open_session(world.user(), OpenSession(session))


def asked(world: RecallWorld) -> list[str]:
    return [message.body["job_id"] for message in world.taken(QueueName.COMPACT)]


def test_a_pass_over_the_tails_of_others_is_asked_for_as_the_outbox_would(world: RecallWorld) -> None:
    made = opened(world)
    assert "I keep bees." in str(made.pack.text)
    assert made.view.lag.unobserved == 2
    assert asked(world) == [observation_job_id(world.user().of_session("a").keys, 1, 2)]
    assert opened(world, "a").view.lag.unobserved == 2
    assert asked(world) == [], "not over the own one"


def test_a_queue_that_is_down_costs_no_session(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise StoreUnavailable("queue", "down")

    monkeypatch.setattr(world.queue, "send", fails)
    made = opened(world)
    assert made.pack.state == "ready" and made.degraded == []
    assert made.view.lag.at_least is False


def test_an_unreadable_session_is_passed_over(world: RecallWorld) -> None:
    world.open("z")  # whose end the next one tells
    key = world.user().of_session("a").keys.session_head
    item = world.rows.get(key)
    assert item is not None
    world.rows.write([Put({**item, "last_seq": "many"})])
    made = opened(world)
    assert made.pack.state == "ready" and "bees" not in str(made.pack.text)
