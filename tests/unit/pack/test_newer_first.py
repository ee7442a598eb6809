"""In the global layer a correction stands before what it corrects."""

from __future__ import annotations

import pytest

from neve.domain.records.memories import Kind, Priority
from neve.usecases.ask.pack.read_pack import preview_pack
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from tests.unit.world import World

OLD = "The glaze workshop starts at ten on Saturday."
NEW = "Correction: the glaze workshop starts at two on Saturday."


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def row(text: str, day: int, priority: Priority = Priority.HIGH) -> ImportedRow:
    at = f"2026-03-0{day}T00:00:00.000Z"
    return ImportedRow(text, Kind.NOTE, priority=priority, created_at=at, observed_at=at, last_used_at=at)


def lines(world: World, *rows: ImportedRow) -> list[str]:
    import_memories(world.user(), list(rows))
    text = preview_pack(world.user()).text
    assert text is not None
    return text.splitlines()[4:-2]


def test_though_it_ranks_lower(world: World) -> None:
    given = row(OLD, 1), row(NEW, 2, Priority.LOW), row("Likes trains.", 1, Priority.MEDIUM)
    assert lines(world, *given) == [NEW, OLD, "Likes trains."]


def test_without_a_correction_the_rank_is_the_order(world: World) -> None:
    given = (
        row(OLD, 1),
        row("The glaze workshop was lovely.", 2, Priority.LOW),
        row("Likes trains.", 1, Priority.MEDIUM),
    )
    assert lines(world, *given) == [OLD, "Likes trains.", "The glaze workshop was lovely."]
