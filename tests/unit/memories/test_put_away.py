"""A memory that a person had put away before what it was made of was taken back."""

from __future__ import annotations

import pytest

from neve.domain.errors import NeveError
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Memory, Provenance, Status
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from tests.unit.world import World

WALNUTS = "I am allergic to walnuts."


@pytest.fixture
def world(world: World) -> World:
    world.open(session="s2")
    world.say(WALNUTS, "Noted.", "I like tea.", "Noted.")
    world.say(WALNUTS, "Noted.", session="s2")
    return world


def fact(world: World, seq: int, session: str = "s1", text: str = WALNUTS) -> Memory:
    candidate = FactCandidate(text, "PREFERENCE", Provenance("user_stated", session, seq, seq, trust="user"))
    stored = store_fact(world.user(), candidate, via="observer").memory
    assert stored is not None
    return stored


def changed(world: World, memory: Memory, status: Status) -> Memory:
    return update_memory(world.user(), memory.id, MemoryChange({"status": status}), None)


def test_it_is_not_brought_back(world: World) -> None:
    memory = fact(world, 1)
    changed(world, memory, Status.ARCHIVED)
    retract_events(world.user().of_session("s1"), Retract(1, 2, "edited"))
    for status in (Status.ACTIVE, Status.RESOLVED):
        with pytest.raises(NeveError, match="taken back") as refused:
            changed(world, memory, status)
        assert refused.value.code == "conflict"
    assert get_memory(world.user(), memory.id).status is Status.ARCHIVED
    label = update_memory(world.user(), memory.id, MemoryChange({"label": "x"}), None)
    assert label.label == "x", "other fields may change"


def test_what_was_said_elsewhere_or_is_left_may_come_back(world: World) -> None:
    elsewhere, tea = fact(world, 1), fact(world, 3, text="I like tea.")
    assert fact(world, 1, session="s2").id == elsewhere.id
    for memory in (elsewhere, tea):
        changed(world, memory, Status.ARCHIVED)
    retract_events(world.user().of_session("s1"), Retract(1, 2, "edited"))
    for memory in (elsewhere, tea):
        assert changed(world, memory, Status.ACTIVE).status is Status.ACTIVE
