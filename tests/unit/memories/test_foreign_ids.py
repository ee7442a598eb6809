"""Memories that came with ids of their own."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neve.domain.records.memories import Kind
from neve.usecases.ask.memories.list_memories import MemoryFilter, get_memory, list_memories
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from tests.unit.world import World

OWN = "mem_01KJ0000000000000000000000"


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def line(memory_id: str, day: int = 1, text: str | None = None) -> ImportedRow:
    return ImportedRow(
        text or f"says {memory_id}", Kind.NOTE, id=memory_id, created_at=f"2026-01-{day:02}T00:00:00.000Z"
    )


def listed(world: World, page: int = 50) -> list[str]:
    found: list[str] = []
    cursor: str | None = None
    while True:
        memories, cursor = list_memories(world.user("ann"), MemoryFilter(), page, cursor)
        found += [memory.id for memory in memories]
        if cursor is None:
            return found


def test_ids_that_differ_by_a_prefix_are_different(world: World) -> None:
    ids = ["x", "mem_x", "mem_", "-", "_", OWN, OWN.removeprefix("mem_"), "a" * 64]
    assert import_memories(world.user("ann"), [line(i) for i in ids]).imported == ids
    assert [get_memory(world.user("ann"), i).text for i in ids] == [f"says {i}" for i in ids]
    assert import_memories(world.user("ann"), [line(i) for i in ids]).unchanged == ids


def test_the_list_is_in_the_order_of_time(world: World) -> None:
    world.clock.move(days=-90)
    first = create_memory(world.user("ann"), NewMemory("first")).id
    world.clock.move(days=90)
    last = create_memory(world.user("ann"), NewMemory("last")).id
    import_memories(world.user("ann"), [line("z", 2), line("b", 3), line("a", 3)])
    for page in (1, 2, 50):
        assert listed(world, page) == [first, "z", "a", "b", last]


def test_a_deleted_one_leaves_the_list_and_may_come_again(world: World) -> None:
    import_memories(world.user("ann"), [line("x"), line("mem_x")])
    delete_memory(world.user("ann"), "x", None)
    assert listed(world) == ["mem_x"]
    left = world.table.query(world.tenant.keys.of_user("ann").partition, prefix="MEMT#", limit=10).items
    assert [item["id"] for item in left] == ["mem_x"]
    import_memories(world.user("ann"), [line("x")])
    assert (get_memory(world.user("ann"), "x").rev, listed(world)) == (3, ["mem_x", "x"])


def test_who_has_none_reads_no_more_than_before(world: World) -> None:
    create_memory(world.user("ann"), NewMemory("first"))
    world.table.calls.clear()
    listed(world)
    assert dict(world.table.calls) == {"get": 2, "query": 1}


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_pages_neither_repeat_nor_lose_a_row(world: World, data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,8}", fullmatch=True), unique=True, min_size=1, max_size=8))
    days = {i: data.draw(st.integers(1, 3)) for i in ids}
    import_memories(world.user("ann"), [line(i, days[i]) for i in ids])
    found = listed(world, data.draw(st.integers(1, 4)))
    assert len(found) == len(set(found))
    assert set(ids) <= set(found)
