"""While the language model gives no answer, health and the chat path say that what is said waits."""

from __future__ import annotations

import json

import pytest

from neve import observability
from neve.domain.times import parse
from neve.ports.errors import AnswerCutOff, AnswerOutOfForm, ContentRefused, ModelRefused, ModelUnavailable
from neve.ports.queue import QueueName
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.ask.compile.reads import start_context_reads
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.lag.model_down import QUEUED, queued_of
from neve.usecases.core.lag.note_model import NOTED_EVERY
from neve.usecases.tell.sessions.open_session import OpenSession, open_session
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.observe.extract_session import extract_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.worker import process_fifo
from tests.unit.world import World


def scope_of(world: World) -> SessionScope:
    return world.user().of_session("s1")


def fails(world: World) -> None:
    world.observer.answers.append(ModelUnavailable("status 529"))
    with pytest.raises(ModelUnavailable):
        observe_session(scope_of(world), 1)


def says_queued(world: World) -> list[bool]:
    """Whether E1, E3 and E8 say so."""
    opened = open_session(world.user(), OpenSession("s1"))
    return [QUEUED in given for given in (opened.degraded, queued_of(scope_of(world)), compiled(world))]


def compiled(world: World) -> tuple[str, ...]:
    return start_context_reads(scope_of(world)).collect().degraded


def failed_at(world: World) -> str | None:
    item = world.table.get(scope_of(world).keys.marker)
    assert item is not None
    return rows.read_marker(item).model_failed_at


def test_what_waits_for_a_model_is_said_until_it_has_answered(world: World) -> None:
    world.say("one", "two")
    assert says_queued(world) == [False] * 3
    fails(world)
    assert says_queued(world) == [True] * 3
    [trouble] = world.user().ports.caches.troubles.active()
    assert (trouble.what, trouble.kind, trouble.reason) == ("observer", "failing", "status 529")
    assert world.model_is_down
    observe_session(scope_of(world), 1)
    assert says_queued(world) == [False] * 3
    assert (failed_at(world), world.user().ports.caches.troubles.active()) == (None, ())
    assert not world.model_is_down


def test_a_model_that_refuses_every_request_is_said_by_health_log_and_metric(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_tenant(world, "acme")
    world.say("one", "two")
    logged: list[tuple[str, str, str | None]] = []
    counted: list[dict[str, float]] = []
    monkeypatch.setattr(observability, "failed", lambda where, _, error, job: logged.append((where, str(error), job)))
    monkeypatch.setattr(observability, "emit_metrics", lambda _, values: counted.append(values))
    world.observer.answers.append(ModelRefused("status 401"))
    message = observation_message(scope_of(world).keys, 1, 2)
    record = {"messageId": "m-1", "body": json.dumps(message.body), "attributes": {}}
    answer = process_fifo(world, {"Records": [record]}, None, QueueName.EXTRACT, extract_session)
    assert answer == {"batchItemFailures": []}, "it would not help to send it again"
    assert logged == [("extract", "status 401", message.body["job_id"])]
    assert counted == [{"PassesFailed": 1, "PassesRefused": 1}]
    assert world.model_is_down
    assert says_queued(world) == [True] * 3
    observe_session(scope_of(world), 1)
    assert not world.model_is_down
    assert says_queued(world) == [False] * 3


@pytest.mark.parametrize("failure", [ContentRefused("status 400"), AnswerOutOfForm("no call"), AnswerCutOff("max")])
def test_an_event_that_the_model_will_not_read_is_no_outage(world: World, failure: Exception) -> None:
    world.say("one", "two")
    world.observer.answers.append(failure)
    observe_session(scope_of(world), 1)
    assert not world.model_is_down
    assert failed_at(world) is None


def test_a_marker_is_not_written_with_every_failure(world: World) -> None:
    world.say("one", "two")
    fails(world)
    first = failed_at(world)
    world.clock.move(seconds=60)
    fails(world)
    assert failed_at(world) == first is not None
    world.clock.move(seconds=NOTED_EVERY.total_seconds())
    fails(world)
    assert parse(str(failed_at(world))) > parse(str(first))


def test_the_log_names_the_job_that_failed(caplog: pytest.LogCaptureFixture) -> None:
    observability.failed("extract", "c1", ModelUnavailable("status 529"), "job_1")
    [record] = [one for one in caplog.records if one.message == "failed"]
    assert (vars(record)["job_id"], vars(record)["reason"]) == ("job_1", "status 529")
