"""What a person has corrected is their own word: neither a session's reflection nor a night rewrites it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.reflect.nightly import eligible, oldest_first
from neve.scope import UserScope
from neve.store.rows import read_head
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.work.librarian.remembered import remembered_of
from neve.usecases.work.reflect.reflect_session import reflect_session
from neve.usecases.work.reflect.request_reflection import plan_reflection, request_reflection
from tests.unit.reflect.night_world import NightWorld

CORRECTED = "🔴 User's daughter is called Mila"
Correct = Callable[[UserScope, str], Memory]


def reword(user: UserScope, memory_id: str) -> Memory:
    return update_memory(user, memory_id, MemoryChange({"text": CORRECTED}), None)


def evolve(user: UserScope, memory_id: str) -> Memory:
    return evolve_memory(user, memory_id, Evolution(CORRECTED, "a slip"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path)
    world.open()
    yield world
    world.table.close()


@pytest.mark.parametrize("correct", [reword, evolve])
@pytest.mark.parametrize("which", [0, -1])
def test_a_sessions_reflection_leaves_what_a_person_has_corrected(
    world: NightWorld, correct: Correct, which: int
) -> None:
    ids = world.observe(8)
    kept = correct(world.user(), ids[which])
    [made] = reflect_session(world.user().of_session("s1"), 1)
    [given] = world.observer.reflected
    assert kept.id not in {group.id for group in given.groups}
    stored = world.memory(kept.id)
    assert (stored.status, stored.text, stored.provenance.by) == (Status.ACTIVE, CORRECTED, "human_edit")
    assert world.memory(made).provenance.by == "user_stated", "and nothing of a model's is a person's word"


@pytest.mark.parametrize("correct", [reword, evolve])
def test_documents_hear_of_a_correction_also_after_a_reflection(world: NightWorld, correct: Correct) -> None:
    kept = correct(world.user(), world.observe(8)[0])
    scope = world.user().of_session("s1")
    reflect_session(scope, 1)
    marker = get_session(scope).marker
    remembered = remembered_of(scope, read_head(world.table.get(scope.keys.head)), marker)
    assert [one.text for one in remembered if one.corrected_at] == [kept.text]


@pytest.mark.parametrize("correct", [reword, evolve])
def test_a_night_leaves_what_a_person_has_corrected(world: NightWorld, correct: Correct) -> None:
    sources = world.fill(4)
    kept = correct(world.user(), sources[-1])
    world.clock.move(days=9)
    assert kept.id not in plan_reflection(world.scope, "ann", None).eligible
    request_reflection(world.scope, "ann", None)
    world.work()
    [made] = world.reflections()
    assert made.provenance.by != "human_edit"
    assert {m.id for m in world.active()} == {made.id, kept.id}
    assert world.memory(kept.id).text == CORRECTED


def test_a_night_over_nothing_but_corrections_has_nothing_to_do(world: NightWorld) -> None:
    for memory_id in world.fill(3):
        update_memory(world.user(), memory_id, MemoryChange({"text": f"{CORRECTED} {memory_id}"}), None)
    request_reflection(world.scope, "ann", None)
    world.work()
    assert (world.reflections(), world.observer.condensed) == ([], [])


def test_a_night_condenses_what_a_caller_wrote_itself(world: NightWorld) -> None:
    for n in range(3):
        create_memory(world.user(), NewMemory(f"🟡 User saw bee {n}.", kind=Kind.OBSERVATION))
    rows = world.memories()
    assert [row.corrected for row in rows] == [False] * 3
    assert eligible(rows, "9999") == oldest_first(rows)
    reword(world.user(), rows[1].id)
    assert [row.id for row in eligible(world.memories(), "9999")] == [rows[0].id, rows[2].id]
