"""What was made of a message, and was deleted by a person before the message was: packs keep no word of it either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.memories.made_of import MAX_SOURCES, meets_any, sources_of
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Provenance
from neve.domain.records.packs import PackEntry
from neve.ports.table import Expect, Put
from neve.scope import SessionScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.purge_packs import DerivedRows
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World, observed_line


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    world.open(session="s2")
    return world


def scope_of(world: World, session: str = "s1") -> SessionScope:
    return world.user().of_session(session)


def observed(world: World, says: str) -> str:
    """A message, and the id of what was made of it."""
    [seq] = world.say(says).seqs
    world.observer.answers.append(observed_line(f"🔴 User has {says}", seq, seq))
    [written] = observe_session(scope_of(world), 1, ObservationReport()).written
    return written


def taken_back(world: World, first: int) -> dict[str, Any]:
    """The message of the job."""
    answer = retract_events(scope_of(world), Retract(first, first, "deleted"))
    return message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body


def work(world: World, message: dict[str, Any]) -> Job:
    run_retraction(scope_of(world), message)
    return rows.read_job(world.table.get(world.tenant.keys.job(message["job_id"])) or {})


def delete(world: World, memory_id: str) -> None:
    """As a person does who does not ask for the packs as well."""
    assert not delete_memory(world.user(), memory_id, None).purged_packs


def stored(world: World) -> str:
    """Every pack object of the user."""
    names = world.objects.list(world.user().keys.packs_prefix)
    return "".join((world.objects.get(name) or b"").decode() for name in names)


def served(world: World, session: str) -> int:
    manifest = read_pack(scope_of(world, session)).manifest
    return manifest.pack_version if manifest else 0


def purges(world: World) -> int:
    return rows.read_head(world.table.get(world.user().keys.head)).purges


def deleted_then_taken_back(world: World, memory_id: str) -> dict[str, Any]:
    build_pack(scope_of(world, "s2"), "initial")
    delete(world, memory_id)
    return taken_back(world, 1)


def taken_back_then_deleted(world: World, memory_id: str) -> dict[str, Any]:
    """Before the job has begun, whose message may have been lost for ten minutes."""
    message = taken_back(world, 1)
    build_pack(scope_of(world, "s2"), "initial")
    delete(world, memory_id)
    return message


@pytest.mark.parametrize("order", [deleted_then_taken_back, taken_back_then_deleted])
def test_a_pack_that_holds_a_deleted_row_goes_with_the_message(
    world: World, order: Callable[[World, str], dict[str, Any]]
) -> None:
    message = order(world, observed(world, "a MARKER"))
    assert "MARKER" in stored(world)
    receipt = work(world, message).result["erased"]
    assert (receipt["packs"], receipt["rebuilt_packs"], receipt["verified"]) == (1, ["s2"], True)
    assert "MARKER" not in stored(world)
    assert served(world, "s2") == 2


def test_a_build_that_has_read_it_before_cannot_point(world: World) -> None:
    memory_id = observed(world, "a MARKER")

    def meanwhile() -> None:
        delete(world, memory_id)
        work(world, taken_back(world, 1))

    world.table.before_write = meanwhile
    build_pack(scope_of(world, "s2"), "initial")
    assert "MARKER" not in stored(world)
    assert purges(world) > 0


def test_a_worker_that_dies_before_the_packs_is_followed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    message = deleted_then_taken_back(world, observed(world, "a MARKER"))
    with monkeypatch.context() as dying:

        def dies(_: str) -> None:
            raise InterruptedError

        dying.setattr(world.objects, "delete", dies)
        with pytest.raises(InterruptedError):
            run_retraction(scope_of(world), message)
    receipt = work(world, message).result["erased"]
    assert (receipt["rebuilt_packs"], receipt["verified"]) == (["s2"], True)
    assert "MARKER" not in stored(world)


def test_what_was_made_of_other_messages_stays(world: World) -> None:
    """No pack is purged for it, though all are looked through for the words themselves."""
    other = observed(world, "two cats")
    build_pack(scope_of(world, "s2"), "initial")
    delete(world, other)
    world.say("nothing was made of it so far")
    receipt = work(world, taken_back(world, 2)).result["erased"]
    assert (receipt["packs"], receipt["verified"]) == (0, True)
    assert served(world, "s2") == 1
    assert "two cats" in stored(world)


def test_of_what_it_was_made_may_be_unknown(world: World) -> None:
    """Of a row that was deleted before that was kept."""
    memory_id = observed(world, "a MARKER")
    build_pack(scope_of(world, "s2"), "initial")
    delete(world, memory_id)
    left = world.table.get(world.user().keys.deleted_memory(memory_id)) or {}
    world.table.write([Put({name: value for name, value in left.items() if name != "made_of"})])
    work(world, taken_back(world, 1))
    assert "MARKER" not in stored(world)


def test_what_calls_about_it_were_answered_goes_too(world: World) -> None:
    memory_id, keys = observed(world, "a MARKER"), world.user().keys
    key = IdempotencyKey(keys.answers_below("PATCH", f"memories/{memory_id}"), "k1", "sha")
    reply = StoredReply(200, {"text": "User has a MARKER"})
    world.table.write([idempotency.done(keys, key, reply, world.clock.now(), Expect.ABSENT)])
    delete(world, memory_id)
    assert world.table.query(keys.answers, limit=9).items
    work(world, taken_back(world, 1))
    assert not world.table.query(keys.answers, limit=9).items


def test_what_was_imported_under_its_id_later_is_not_it() -> None:
    made = DerivedRows(frozenset(), frozenset(), {"mem_1": 3}, ("s1", 1, 2))
    entry = PackEntry("mem_1", 3, "", 1, "fact")
    assert made.is_in(entry)
    assert not made.is_in(replace(entry, rev=5))
    assert not made.is_in(replace(entry, id="mem_2"))


# --- what a row that is gone was made of ----------------------------------------------------------


def origin(session: str, first: int, last: int, **more: Any) -> Provenance:
    return Provenance("assistant", session, first, last, **more)


def test_of_each_session_from_the_first_to_the_last() -> None:
    sources = sources_of([origin("s1", 5, 6), origin("s2", 1, 1), origin("s1", 2, 3), Provenance("user_stated")])
    assert sources == (("s1", 2, 6), ("s2", 1, 1))
    assert meets_any(sources, "s1", (6, 9)) and meets_any(sources, "s2", (1, 1))
    assert not meets_any(sources, "s1", (7, 9)) and not meets_any(sources, "s3", (1, 9))


def test_a_call_and_an_import_are_made_of_no_message() -> None:
    imported = replace(origin("s1", 1, 9), by="import")
    assert sources_of([Provenance("user_stated", "s1"), imported]) == ()
    assert not meets_any((), "s1", (1, 9))


def test_of_too_many_sessions_it_is_not_known() -> None:
    many = [origin(f"s{n}", 1, 1) for n in range(MAX_SOURCES + 1)]
    assert sources_of(many[1:]) is not None
    assert sources_of(many) is None
    assert meets_any(None, "s1", (1, 1))
