"""What a person evolved a memory into follows the messages that the memory was made from, as what they edited in place
does (docs/rules/retract.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.domain.errors import NeveError
from neve.domain.memories.made_of import ranges_of
from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.retractions import RetractReason
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from tests.unit.librarian.library_world import LibraryWorld
from tests.unit.retract.by_people.test_corrected_outlive import (
    BERLIN,
    BERN,
    fact,
    facts,
    lines,
    observe,
    patch,
    scope_of,
    seen,
    take_back,
    told,
)
from tests.unit.retract.by_people.test_corrected_summaries import filed, summaries
from tests.unit.retract.by_people.test_corrected_summaries import take_back as take_back_and_file
from tests.unit.retract.by_people.test_corrected_summaries import world as library
from tests.unit.world import World

__all__ = ["library"]
QUARTZ = "My quartz is worth 500."


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def evolve(world: World, memory: Memory, text: str = BERN) -> Memory:
    world.clock.move(minutes=1)
    return evolve_memory(world.user(), memory.id, Evolution(text, "they moved"))


def all_facts(world: World) -> list[Memory]:
    return [memory for memory in world.memories() if memory.kind is Kind.FACT]


def packed(world: World) -> str:
    return str(read_pack(scope_of(world)).text)


# --- what passes wrote ----------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["edited", "branched"])
def test_it_outlives_the_answer_that_is_regenerated(world: World, reason: RetractReason) -> None:
    new = evolve(world, told(world))
    asked = len(world.observer.passes)
    assert take_back(world, 2, 2, reason).result["superseded"] == 0
    assert [(m.id, m.text, m.rev) for m in seen(world)] == [(new.id, BERN, new.rev)]
    assert len(world.observer.passes) == asked, "nothing is read again beside it"


@pytest.mark.parametrize("reason", ["edited", "branched"])
def test_it_goes_with_the_users_own_message(world: World, reason: RetractReason) -> None:
    new = evolve(world, told(world))
    take_back(world, 1, 1, reason)
    assert new.id not in {memory.id for memory in seen(world)}
    assert world.memory(new.id).superseded_reason == f"taken back ({reason})"


@pytest.mark.parametrize("times", [1, 2])
def test_a_deletion_of_the_message_leaves_no_byte_of_it(world: World, times: int) -> None:
    """A text that takes the place of another may keep most of it."""
    world.say(QUARTZ, "Noted.", "I like tea.", "Oh.")
    new = observe(world, lines(("🔴 The quartz of the user is worth 500.", 1, 1), ("🟡 User likes tea.", 3, 3)))
    for price in range(600, 600 + times):
        new = evolve(world, new, f"The quartz of the user is worth {price}.\nUser likes tea.")
    build_pack(scope_of(world), "reflection")
    assert "quartz" in packed(world)
    world.observer.answers.append(lines(("🟡 User likes tea.", 3, 3)))
    job = take_back(world, 1, 1, "deleted")
    assert job.result["erased"]["verified"] is True
    assert job.result["erased"]["memories"] == 1 + times
    assert [memory.text for memory in world.memories()] == ["🟡 User likes tea."], "and what is left is read again"
    assert ranges_of(world.memories()[0], "s1") == ((2, 4),)
    assert "quartz" not in packed(world)


def test_what_was_taken_back_before_is_erased_as_well(world: World) -> None:
    evolve(world, told(world))
    take_back(world, 1, 2)
    take_back(world, 1, 1, "deleted")
    assert world.memories() == []


def test_another_deletion_leaves_it(world: World) -> None:
    new = evolve(world, told(world))
    world.say("I have two cats.", "Oh.")
    observe(world)
    take_back(world, 3, 3, "deleted")
    assert seen(world)[0].id == new.id


def test_what_was_evolved_of_no_message_is_nobodys_but_theirs(world: World) -> None:
    note = create_memory(world.user(), NewMemory("Quartz: 500.", kind=Kind.NOTE, session_id="s1"))
    world.say(QUARTZ, "Noted.")
    new = evolve(world, note, "Quartz: 600.")
    take_back(world, 1, None, "deleted")
    assert world.memory(new.id).status is Status.ACTIVE


def test_what_was_put_away_does_not_come_back(world: World) -> None:
    new = patch(world, evolve(world, told(world)), status=Status.ARCHIVED)
    take_back(world, 1, 1)
    with pytest.raises(NeveError, match="taken back"):
        patch(world, new, status=Status.ACTIVE)


def test_packs_lose_what_was_deleted_before_the_message_was(world: World) -> None:
    new = evolve(world, told(world))
    build_pack(scope_of(world), "reflection")
    delete_memory(world.user(), new.id, None)
    assert BERN in packed(world)
    job = take_back(world, 1, None, "deleted")
    assert job.result["erased"]["packs"] > 0
    assert BERN not in packed(world)


# --- facts ----------------------------------------------------------------------------------------


def stated(world: World) -> Memory:
    """A fact that a person evolved: seq 1 is the user's, 2 the assistant's."""
    told(world, facts=(fact("User lives in Berlin.", 1, 2),))
    return evolve(world, all_facts(world)[0], "User lives in Bern.")


def test_a_fact_outlives_the_answer(world: World) -> None:
    new = stated(world)
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact("User lives in Berlin.", 1, 1),)))
    take_back(world, 2, 2)
    assert facts(world) == [new.text]


def test_a_fact_goes_with_the_users_own_message(world: World) -> None:
    stated(world)
    take_back(world, 1, 1)
    assert facts(world) == []


@pytest.mark.parametrize("seq", [1, 2])
def test_a_deletion_erases_a_fact(world: World, seq: int) -> None:
    stated(world)
    world.observer.answers.append(lines((BERLIN, 3 - seq, 3 - seq)))
    take_back(world, seq, seq, "deleted")
    assert all_facts(world) == []
    assert world.table.get(world.user().keys.fingerprint(fingerprint("User lives in Bern."))) is None


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_a_fact_that_was_said_since_stands_by_that(world: World, reason: RetractReason) -> None:
    new = stated(world)
    world.clock.move(minutes=1)
    world.say("Since May I live in Bern.", "Ah.")
    observe(world, lines(("🔴 User lives in Bern.", 3, 3), facts=(fact(new.text, 3, 3),)))
    take_back(world, 1, 2, reason)
    [back] = [one for one in all_facts(world) if one.status is Status.ACTIVE]
    assert (back.text, back.provenance.by, back.provenance.seq_from) == (new.text, "user_stated", 3)
    assert (back.written_over, back.person_at) == ((), None)
    take_back(world, 3, None, reason)
    assert facts(world) == []


def test_a_fact_in_words_that_only_the_deleted_message_said_goes(world: World) -> None:
    """An observer may repeat what it was shown."""
    world.say("My quartz is in Berlin.", "Ah.")
    observe(world, lines((BERLIN, 1, 2), facts=(fact("User has a quartz in Berlin.", 1, 1),)))
    new = evolve(world, all_facts(world)[0], "User has a quartz in Bern.")
    world.clock.move(minutes=1)
    world.say("It is in Bern, you know.", "Yes.")
    observe(world, lines(("🟡 It is in Bern.", 3, 3), facts=(fact(new.text, 3, 3),)))
    take_back(world, 1, 2, "deleted")
    assert all_facts(world) == []


# --- summaries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_a_summary_is_written_again_once_what_took_its_place_has_gone(
    library: LibraryWorld, reason: RetractReason
) -> None:
    library.say("My quartz is worth 500.", "Noted.")
    filed(library)
    [before] = summaries(library)
    theirs = evolve(library, before, "Oslo, and a quartz.")
    theirs = evolve(library, theirs, "A quartz, and Oslo.")
    take_back_and_file(library, 3, reason)
    [after] = summaries(library)
    assert after.id not in (before.id, theirs.id)
    assert ranges_of(after, "s1") == ((1, 2),)
    if reason == "deleted":
        assert not [memory for memory in library.memories() if "quartz" in memory.text]
