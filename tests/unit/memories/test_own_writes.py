"""A call whose transaction was applied, and answered as if it had lost (ADR 4), finds that it has won."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.records.memories import Memory
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.world import World


def lose_the_answer(world: World, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Of the next write; ``meanwhile``: what others do before its caller reads again."""
    table, read = world.table, world.table.get_many
    table.lose_response = True

    def reading(keys: object, **how: Any) -> object:
        if not table.lose_response:
            table.get_many = read  # type: ignore[method-assign]
            meanwhile()
        return read(keys, **how)

    table.get_many = reading  # type: ignore[method-assign]


def created(world: World, text: str = "likes tea") -> Memory:
    return create_memory(world.user("ann"), NewMemory(text, session_id="s1"))


def changed(world: World, memory: Memory, text: str, rev: int) -> Memory:
    return update_memory(world.user("ann"), memory.id, MemoryChange({"text": text}), [rev])


def newest(world: World) -> Memory:
    return max(world.memories(), key=lambda memory: memory.id)


def test_a_memory_is_created_once(world: World) -> None:
    lose_the_answer(world)
    memory = created(world)
    assert world.memories() == [memory]


def test_a_created_memory_that_was_deleted_meanwhile_does_not_come_back(world: World) -> None:
    lose_the_answer(world, lambda: delete_memory(world.user("ann"), newest(world).id, None))
    memory = created(world)
    assert (memory.text, memory.rev, world.memories()) == ("likes tea", 1, [])


def test_a_change_is_made_once(world: World) -> None:
    memory = created(world)
    lose_the_answer(world)
    now = changed(world, memory, "likes milk", 1)
    assert (now.rev, now.text, get_memory(world.user("ann"), memory.id)) == (2, "likes milk", now)


def test_a_change_that_lost_is_told_so(world: World) -> None:
    """Although the winner wrote the same words."""
    memory = created(world)

    def faster() -> None:
        changed(world, memory, "likes milk", 1)

    world.table.before_write = faster
    with pytest.raises(NeveError, match="precondition_failed"):
        changed(world, memory, "likes milk", 1)


@pytest.mark.parametrize("gone", [False, True])
def test_a_change_that_others_went_beyond_may_have_taken_effect(world: World, gone: bool) -> None:
    memory = created(world)

    def others() -> None:
        changed(world, memory, "likes water", 2)
        if gone:
            delete_memory(world.user("ann"), memory.id, [3])

    lose_the_answer(world, others)
    with pytest.raises(NeveError, match="conflict"):
        changed(world, memory, "likes milk", 1)


def test_a_deletion_that_was_answered_as_lost_is_done(world: World) -> None:
    memory = created(world)
    lose_the_answer(world)
    assert delete_memory(world.user("ann"), memory.id, [1]).id == memory.id
    assert world.memories() == []


def test_a_deletion_that_lost_is_told_so(world: World) -> None:
    memory = created(world)

    def faster() -> None:
        delete_memory(world.user("ann"), memory.id, [1])

    world.table.before_write = faster
    with pytest.raises(NeveError, match="memory_not_found"):
        delete_memory(world.user("ann"), memory.id, [1])
