"""What a person has set on memories holds for what takes their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.domain.records.memories import Memory
from neve.observing import Condensed, CondensedRow, Reflected, ReflectedRow
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.work.reflect.reflect_session import reflect_session
from neve.usecases.work.reflect.request_reflection import request_reflection
from tests.unit.reflect.night_world import NightWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path)
    world.open()
    yield world
    world.table.close()


def mark(world: NightWorld, *ids: str) -> None:
    for memory_id in ids:
        fields = {"importance": 5, "group": "boat", "label": "The boat", "tags": ["observational-memory", "boat"]}
        fields |= {"confidence": 0.5}
        update_memory(world.user(), memory_id, MemoryChange(fields), None)


def set_on(memory: Memory) -> tuple[int, str | None, str | None, bool, float]:
    return memory.importance, memory.group, memory.label, "boat" in memory.tags, memory.confidence


def test_a_sessions_reflection_takes_over_what_its_sources_agree_on(world: NightWorld) -> None:
    ids = world.observe(7)
    mark(world, ids[0], ids[1])
    world.observer.reflections = [
        Reflected((ReflectedRow("🔴 the boat", tuple(ids[:2])), ReflectedRow("🔴 all", tuple(ids))), "scripted")
    ]
    boat, everything = (world.memory(i) for i in reflect_session(world.user().of_session("s1"), 1))
    assert set_on(boat) == (5, "boat", "The boat", True, 0.5)
    assert set_on(everything) == (5, None, None, False, 1.0)
    assert boat.tags == ("observational-memory", "reflection", "boat")


def test_a_nights_rows_take_over_what_their_sources_agree_on(world: NightWorld) -> None:
    ids = world.fill(4)
    mark(world, *ids[:2])
    world.observer.condensations = [
        Condensed((CondensedRow("🔴 the boat", tuple(ids[:2])), CondensedRow("🔴 all", tuple(ids))), "scripted")
    ]
    request_reflection(world.scope, "ann", None)
    world.work()
    by_text = {memory.text: memory for memory in world.reflections()}
    assert set_on(by_text["🔴 the boat"]) == (5, "boat", "The boat", True, 0.5)
    assert set_on(by_text["🔴 all"]) == (5, None, None, False, 1.0)
