"""A reflection of several sessions has no range: where a person deleted one of its sources, or the reflection itself,
what is left of that says which messages its words are of."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from neve.domain.memories.made_of import MAX_SOURCES
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Memory, Status
from neve.domain.records.retractions import RetractReason
from neve.observing import CondensedRow
from neve.store import rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.reflect.condensed_memory import condensed_memories
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World, observed_line


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    for session in ("s1", "s2", "s3"):
        world.open(session=session)
    return world


def observed(world: World, session: str, says: str) -> str:
    """The id of what was made of the next message."""
    [seq] = world.say(says, session=session).seqs
    world.observer.answers.append(observed_line(f"🔴 {says}", seq, seq))
    [written] = observe_session(world.user().of_session(session), 1, ObservationReport()).written
    return written


def condensed(world: World, text: str, *sources: str) -> str:
    """What a night put in their place."""
    batch = [world.memory(i) for i in sources]
    made = condensed_memories(world.user(), [(CondensedRow(text), text)], "scripted", batch)
    [written] = replace_rows(world.user(), 1, Replacement(tuple(made), tuple(batch), "condensed"))
    return written


def night(world: World) -> tuple[str, str]:
    """A deleted source, and the row that a night made of it and of another session's."""
    source, other = observed(world, "s1", "a MARKER"), observed(world, "s2", "two cats")
    made = condensed(world, "🔴 a MARKER and two cats", source, other)
    assert world.memory(made).provenance.session_id is None
    delete_memory(world.user(), source, None)
    return source, made


def take_back(world: World, session: str, first: int, reason: RetractReason = "deleted") -> Job:
    scope = world.user().of_session(session)
    answer = retract_events(scope, Retract(first, first, reason))
    row = world.tenant.keys.job(answer.job_id)
    run_retraction(scope, message_of_row(world.table.get(row) or {}).body)
    return rows.read_job(world.table.get(row) or {})


def shown(world: World) -> list[str]:
    return [memory.text for memory in world.memories() if memory.status is Status.ACTIVE]


def test_a_deletion_of_the_message_takes_its_words_out_of_the_reflection(world: World) -> None:
    night(world)
    result = take_back(world, "s1", 1).result
    assert (result["superseded"], result["restored"], result["erased"]["verified"]) == (1, 1, True)
    assert shown(world) == ["🔴 two cats"]
    assert not [memory for memory in world.memories() if "MARKER" in memory.text]


def test_an_edit_of_the_message_takes_the_reflection_apart(world: World) -> None:
    night(world)
    take_back(world, "s1", 1, "edited")
    assert shown(world) == ["🔴 two cats"]


def test_other_messages_leave_it_as_it_is(world: World) -> None:
    night(world)
    world.say("something else")
    world.say("something else", session="s3")
    take_back(world, "s1", 2)
    take_back(world, "s3", 1)
    assert shown(world) == ["🔴 a MARKER and two cats"]


def test_what_an_import_brought_back_under_the_id_is_not_what_it_was_made_of(world: World) -> None:
    source, _ = night(world)
    world.table.write([rows.put_memory(world.user().keys, imported(world, source))])
    take_back(world, "s1", 1)
    assert "🔴 a MARKER and two cats" not in shown(world)


def imported(world: World, source: str) -> Memory:
    one = next(memory for memory in world.memories() if "two cats" in memory.text)
    origin = replace(one.provenance, by="import", session_id="elsewhere")
    return replace(one, id=source, text="another text", provenance=origin, status=Status.ACTIVE, version=0)


# --- a reflection that is deleted itself ----------------------------------------------------------


def packed(world: World) -> str:
    """Every pack object of the user."""
    names = world.objects.list(world.user().keys.packs_prefix)
    return "".join((world.objects.get(name) or b"").decode() for name in names)


def frozen_and_deleted(world: World, memory_id: str) -> None:
    """As a person does who does not ask for the packs as well."""
    build_pack(world.user().of_session("s3"), "initial")
    assert "MARKER" in packed(world)
    delete_memory(world.user(), memory_id, None)


def left(world: World, memory_id: str) -> object:
    return (world.table.get(world.user().keys.deleted_memory(memory_id)) or {}).get("made_of")


def test_a_pack_that_holds_a_deleted_reflection_of_several_sessions_goes_with_each_message(world: World) -> None:
    made = condensed(world, "🔴 a MARKER and two cats", *(observed(world, s, s) for s in ("s1", "s2")))
    frozen_and_deleted(world, made)
    assert left(world, made) == [["s1", 1, 1], ["s2", 1, 1]]
    world.say("something else")
    assert take_back(world, "s1", 2).result["erased"]["packs"] == 0
    assert take_back(world, "s2", 1).result["erased"]["packs"] == 1
    assert "MARKER" not in packed(world)


def test_what_was_made_of_the_deleted_reflection_goes_too(world: World) -> None:
    first = condensed(world, "🔴 a MARKER", observed(world, "s1", "a MARKER"), observed(world, "s2", "two cats"))
    condensed(world, "🔴 a MARKER again", first, observed(world, "s3", "tea"))
    delete_memory(world.user(), first, None)
    take_back(world, "s1", 1)
    assert not [memory for memory in world.memories() if "MARKER" in memory.text]


def test_of_a_source_that_is_gone_it_says_what_is_left_of_that(world: World) -> None:
    _, made = night(world)
    delete_memory(world.user(), made, None)
    assert left(world, made) == [["s1", 1, 1], ["s2", 1, 1]]


def test_of_too_many_sessions_it_is_not_known(world: World) -> None:
    sources = []
    for n in range(MAX_SOURCES + 1):
        world.open(session=f"x{n}")
        sources.append(observed(world, f"x{n}", f"tea no. {n}"))
    made = condensed(world, "🔴 much tea", *sources)
    delete_memory(world.user(), made, None)
    assert left(world, made) is None
