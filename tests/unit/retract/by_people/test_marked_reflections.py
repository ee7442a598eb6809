"""What a person has set on a reflection beside its words holds for what comes in its place
(docs/rules/retract.md#corrected)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.memories import Kind, Memory, Priority, Scope, Status
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from tests.unit.retract.by_people.test_corrected_outlive import (
    BERLIN,
    MARKS,
    lines,
    observe,
    patch,
    scope_of,
    seen,
    take_back,
    told,
)
from tests.unit.retract.by_people.test_corrected_outlive import world as world
from tests.unit.world import World

CATS = "🟡 User has two cats."
AS_MADE: dict[str, Any] = {
    "status": Status.ACTIVE,
    "tags": ("observational-memory",),
    "label": None,
    "group": None,
    "importance": 3,
    "confidence": 1.0,
}


def told_more(world: World) -> list[Memory]:
    """The observations of two turns."""
    first = told(world)
    world.say("I have two cats.", "Oh.")
    return [first, observe(world, lines((CATS, 3, 3)))]


def folded(world: World, sources: list[Memory], **more: Any) -> Memory:
    """As a session's reflection makes one of them."""
    new = replace(
        sources[0],
        id=f"mem_{world.ids.ulid(world.clock.now())}",
        kind=Kind.REFLECTION,
        text=f"🔴 {len(sources)} rows",
        passages=(),
        priority=Priority.HIGH,
        tags=("observational-memory", "reflection"),
        supersedes=tuple(one.id for one in sources),
        provenance=replace(sources[0].provenance, seq_to=4),
        version=0,
        **{"label": None, "group": None, "importance": 3, "confidence": 1.0, **more},
    )
    replace_rows(world.user(), 1, Replacement((new,), tuple(sources), "folded", "s1"))
    return world.memory(new.id)


def on(memory: Memory, *names: str) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in names}


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_passes_to_the_copies_of_its_sources_and_to_what_is_read_again(
    world: World, mark: dict[str, Any]
) -> None:
    patch(world, folded(world, told_more(world)), **mark)
    world.observer.answers.append(lines((CATS, 3, 3)))
    take_back(world, 4, 4)
    copy, again = seen(world)
    assert ([copy.text, again.text], seen(world, Kind.REFLECTION)) == ([BERLIN, CATS], [])
    expected = {name: ("health",) if name == "tags" else value for name, value in mark.items()}
    assert (on(copy, *mark), on(again, *mark)) == (expected, expected)


def test_what_nobody_marked_comes_back_as_it_was(world: World) -> None:
    first, second = told_more(world)
    first = patch(world, first, label="home", importance=5, confidence=0.5, tags=("observational-memory", "home"))
    folded(world, [first, second], importance=5)
    take_back(world, 4, 4)
    copy, again = seen(world)
    assert on(copy, *AS_MADE) == on(first, *AS_MADE)
    assert on(again, *AS_MADE) == AS_MADE
    assert (copy.priority, again.priority) == (Priority.HIGH, Priority.MEDIUM), "of their words"


def test_what_a_reflection_had_of_all_its_sources_is_no_mark_and_what_a_person_takes_away_is(world: World) -> None:
    tags = ("observational-memory", "trip")
    sources = [patch(world, one, label="home", group="g", tags=tags) for one in told_more(world)]
    made = folded(world, sources, label="home", group="g")
    made = patch(world, made, tags=("observational-memory", "reflection", "cats"), label=None)
    take_back(world, 4, 4)
    for one in seen(world):
        assert on(one, "label", "group", "tags") == {
            "label": None,
            "group": "g",
            "tags": ("observational-memory", "cats"),
        }


def test_of_one_that_was_folded_again_each_mark_holds_the_last_above_the_others(world: World) -> None:
    first, second = told_more(world)
    inner = patch(world, folded(world, [first, second]), label="inner", importance=5)
    outer = patch(world, folded(world, [inner], importance=5, label="inner"), label="outer")
    assert outer.supersedes == (inner.id,)
    take_back(world, 4, 4)
    assert [(one.label, one.importance) for one in seen(world)] == [("outer", 5), ("outer", 5)]


def test_of_a_night_the_priority_is_its_own(world: World) -> None:
    """Nobody can tell whether a person has set it."""
    sources = told_more(world)
    made = folded(world, sources, scope=Scope.GLOBAL, session_id=None)
    patch(world, made, priority=Priority.LOW, label="home")
    take_back(world, 4, 4)
    assert [(one.priority, one.label) for one in seen(world)] == [(Priority.HIGH, "home"), (Priority.MEDIUM, "home")]


def test_what_is_read_in_several_passes_has_the_marks_in_all(world: World) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    source = observe(world, lines((BERLIN, 1, 4)))
    patch(world, folded(world, [source]), status=Status.RESOLVED)
    world.observer.answers += [replace(lines((BERLIN, 1, 1)), covered_to=1), lines((CATS, 3, 3))]
    take_back(world, 4, 4)
    assert [(one.text, one.status) for one in seen(world)] == [(BERLIN, Status.RESOLVED), (CATS, Status.RESOLVED)]


def test_a_deletion_leaves_none_of_the_marks(world: World) -> None:
    patch(world, folded(world, told_more(world)), label="bears", tags=("bears",), importance=5)
    take_back(world, 4, 4, "deleted")
    assert len(seen(world)) == 2
    for one in seen(world):
        assert on(one, *AS_MADE) == AS_MADE
    assert "bears" not in "".join(str(memory) for memory in world.memories())
    assert scope_of(world).session == "s1"
