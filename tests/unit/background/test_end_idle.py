"""Sessions that nobody ends: closed after half an hour, extracted after an hour, found without a scan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from neve.domain.records.sessions import SessionHead
from neve.domain.sessions.idle import due_of
from neve.ports.errors import ModelRefused
from neve.ports.queue import QueueName
from neve.ports.table import Delete
from neve.store.partitions import all_rows, due_rows
from neve.store.stream_records import Change
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.requests.end_session import end_session, has_failed_to_end
from neve.usecases.tell.sessions.note_open import note_open
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background import end_idle as sweeping
from neve.usecases.work.background.end_idle import end_idle
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.erase.erase_user import begin_erasure
from neve.usecases.work.librarian.file_session import file_session
from tests.unit.librarian.library_world import LibraryWorld
from tests.unlimited import unlimited

NOTHING = {"closed": 0, "orphans": 0, "idle_failed": 0, "idle_left": 0}


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("idle"))
    create_tenant(world, "acme")
    world.open()
    world.say("I prefer tea.", "Noted.")
    tell(world)
    yield world
    world.table.close()


def tell(world: LibraryWorld) -> None:
    """What the stream tells of the user's rows."""
    items = all_rows(world.table, world.user().keys.partition, prefix="SES#")
    note_open(world, [Change("", None, item) for item in items])


def status(world: LibraryWorld) -> str:
    return get_session(world.session).head.status


def watched(world: LibraryWorld) -> int:
    return len(list(due_rows(world.table, "idle")))


def after(world: LibraryWorld, minutes: int) -> dict[str, int]:
    world.clock.move(minutes=minutes)
    return end_idle(world, unlimited())


def test_half_an_hour_closes_and_an_hour_ends(world: LibraryWorld) -> None:
    assert after(world, 29) == NOTHING and status(world) == "open"
    assert after(world, 10)["closed"] == 1 and status(world) == "closed"
    assert after(world, 10)["orphans"] == 0
    assert after(world, 21)["orphans"] == 1
    [job] = list(all_rows(world.table, world.user().keys.jobs))
    assert (job["kind"], job["status"]) == ("compact", "queued")
    file_session(world.session, {"job_id": f"job_{job['sk']}", "incarnation": 1, "kind": "compact"})
    assert status(world) == "extracted"
    assert after(world, 61)["orphans"] == 0 and watched(world) == 0


def test_what_is_said_in_between_puts_it_off(world: LibraryWorld) -> None:
    world.clock.move(minutes=20)
    world.say("And biscuits.", "Noted.")
    assert after(world, 20) == NOTHING and status(world) == "open"
    assert after(world, 20)["closed"] == 1
    world.say("One thing more.", "Yes?")
    assert status(world) == "open"
    [last] = [item for item in all_rows(world.table, world.session.keys.log, prefix="EVT#") if item.get("reopens")]
    note_open(world, [Change("", None, last)])
    assert after(world, 20) == NOTHING
    assert after(world, 20)["closed"] == 1


def test_a_session_that_was_ended_is_looked_at_until_it_is_extracted(world: LibraryWorld) -> None:
    end_session(world.session)
    assert after(world, 31) == NOTHING and watched(world) == 1
    assert after(world, 31)["orphans"] == 1, "the same job, once more"
    assert len(list(all_rows(world.table, world.user().keys.jobs))) == 1


def test_an_end_that_the_model_refuses_is_tried_again_every_hour_until_it_works(world: LibraryWorld) -> None:
    """Nothing else would read the session to its end."""
    world.observer.answers = [ModelRefused("status 401"), ModelRefused("status 401")]
    assert (after(world, 61)["orphans"], work_on_the_end(world)) == (1, "failed")
    for then in ("failed", "running"):
        counts = after(world, 61)
        assert (counts["orphans"], counts["idle_failed"], watched(world)) == (0, 1, 1)
        assert work_on_the_end(world) == then
    file_session(world.session, world.last_message())
    assert (status(world), world.observer.passes[-1].events[-1].seq) == ("extracted", 2)
    assert after(world, 61) == NOTHING and watched(world) == 0


def work_on_the_end(world: LibraryWorld) -> str:
    """How the session's one job stands behind it."""
    [row] = all_rows(world.table, world.user().keys.jobs)
    message = message_of_row(row).body
    compact_session(world.session, message)
    return get_job(world.user(), message["job_id"]).status


def test_a_session_without_an_event_is_closed_and_forgotten(world: LibraryWorld) -> None:
    world.open(session="empty")
    tell(world)
    assert after(world, 31)["closed"] == 2
    assert after(world, 61)["orphans"] == 1
    assert {item["session_id"] for item in due_rows(world.table, "idle")} == {"s1"}


def test_a_session_that_goes_on_between_the_look_and_its_end_is_not_ended(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.clock.move(minutes=61)

    def then_more(*asked: Any) -> bool:
        world.say("I am back.", "Good.")
        return has_failed_to_end(*asked)

    monkeypatch.setattr(sweeping, "has_failed_to_end", then_more)
    counts = end_idle(world, unlimited())
    assert (counts["orphans"], counts["idle_failed"], status(world), watched(world)) == (0, 1, "open", 1)
    assert not list(all_rows(world.table, world.user().keys.jobs))


def test_an_append_that_meets_the_sweep_wins(world: LibraryWorld) -> None:
    world.clock.move(minutes=31)

    def answer() -> None:
        world.say("Still here.", "Good.")

    world.table.before_write = answer
    assert end_idle(world, unlimited())["idle_failed"] == 1
    assert status(world) == "open"
    assert end_idle(world, unlimited()) == NOTHING


def test_a_sweep_looks_at_so_many_and_says_that_more_are_due(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MAX_SESSIONS", 2)
    for name in ("s2", "s3", "s4"):
        world.open(session=name)
    tell(world)
    first, second = after(world, 31), end_idle(world, unlimited())
    assert (first["closed"], first["idle_left"], second["closed"], second["idle_left"]) == (2, 1, 2, 0)
    assert world.table.calls["query"] < 60, "an index of the due, no scan"


def test_of_an_erased_user_nothing_is_ended(world: LibraryWorld) -> None:
    begin_erasure(world.table, world.user().keys)
    assert after(world, 120) == NOTHING and watched(world) == 0
    assert not [message for queue, message in world.queue.sent if queue is QueueName.LIBRARIAN]


def test_only_what_was_opened_is_noted(world: LibraryWorld) -> None:
    [item] = all_rows(world.table, world.user().keys.partition, prefix="SES#")
    events = list(all_rows(world.table, world.session.keys.log, prefix="EVT#"))
    world.table.write([Delete(world.session.keys.open_session)])
    note_open(world, [Change("", item, item), Change("", item, None), *(Change("", None, one) for one in events)])
    assert watched(world) == 0
    assert due_of(SessionHead("s", "extracted", "2026-03-10T09:30:00.000Z"), world.clock.now()) == "over"
