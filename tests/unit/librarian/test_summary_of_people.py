"""What a person has said of a session's summary, beside its text, when more of the session is filed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.memories import Memory, Priority
from neve.usecases.ask.memories.list_memories import MemoryFilter, list_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.librarian.library_world import ACCOUNT, LibraryWorld, answer

CHANGES: list[dict[str, Any]] = [
    {"outcome": "PARTIAL"},
    {"emotional_tone": "relieved"},
    {"key_topics": ("oslo", "trains")},
    {"priority": Priority.MEDIUM},
]


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("librarian"))
    world.open()
    world.say("We go to Oslo.", "Noted.")
    world.observer.filings = [answer()]
    world.end()
    world.file()
    yield world
    world.table.close()


def summary(world: LibraryWorld) -> Memory:
    [found] = list_memories(world.user(), MemoryFilter(kind="session_summary"), 10, None)[0]
    return found


def said_more(world: LibraryWorld, outcome: Any = None) -> Memory:
    """The summary, when the rest is filed: a model judges anew."""
    world.say("And to Bergen.", "Yes.")
    account = replace(ACCOUNT, title="Oslo and Bergen", emotional_tone="curious", key_topics=("bergen",))
    world.observer.filings = [answer(account=account)]
    world.end(outcome=outcome)
    world.file()
    return summary(world)


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_person_changed_beside_the_text_stays(world: LibraryWorld, change: dict[str, Any]) -> None:
    update_memory(world.user(), summary(world).id, MemoryChange(change), None)
    found = said_more(world)
    assert {name: getattr(found, name) for name in change} == change
    assert "Oslo and Bergen" in found.text
    assert found.key_topics == change.get("key_topics", ("bergen",)), "what nobody changed is the new account's"
    again = said_more(world)
    assert {name: getattr(again, name) for name in change} == change


def test_the_outcome_that_the_caller_names_since_holds(world: LibraryWorld) -> None:
    update_memory(world.user(), summary(world).id, MemoryChange({"outcome": "PARTIAL"}), None)
    assert said_more(world, "INTERRUPTED").outcome == "INTERRUPTED"
