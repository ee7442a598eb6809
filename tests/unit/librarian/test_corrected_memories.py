"""The librarian reads what a person has corrected of what is remembered of the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from neve.domain.librarian.filing import Remembered
from neve.domain.librarian.prompt import filing_content
from neve.domain.records.memories import Memory
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import FilingInput
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.librarian.library_world import LibraryWorld
from tests.unit.world import observed_line

PREFERENCES = "/profile/preferences"
Correct = Callable[[LibraryWorld, Memory], None]
COFFEE = "User prefers coffee in the morning"


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibraryWorld]:
    world = LibraryWorld.at(tmp_path_factory.mktemp("librarian"))
    world.open()
    world.say("I prefer tea in the morning.", "Noted.")
    yield world
    world.table.close()


def observed(world: LibraryWorld) -> Memory:
    """What the passes of the session's end have kept."""
    world.observer.answers = [observed_line("🟡 User prefers tea in the morning", 1, 1, covered_to=2)]
    world.end()
    [memory] = world.memories()
    return memory


def reword(world: LibraryWorld, memory: Memory) -> None:
    update_memory(world.user(), memory.id, MemoryChange({"text": COFFEE}), None)


def evolve(world: LibraryWorld, memory: Memory) -> None:
    evolve_memory(world.user(), memory.id, Evolution(COFFEE, "a slip"))


def evolve_twice(world: LibraryWorld, memory: Memory) -> None:
    evolve(world, evolve_memory(world.user(), memory.id, Evolution("User prefers juice in the morning", "a slip")))


@pytest.mark.parametrize("correct", [reword, evolve, evolve_twice])
def test_it_sees_the_corrected_words_and_what_they_are_about(world: LibraryWorld, correct: Correct) -> None:
    memory = observed(world)
    world.clock.move(seconds=60)
    correct(world, memory)
    world.file()
    [given] = world.observer.filed
    [kept] = given.remembered
    assert (kept.text, kept.first, kept.last) == (COFFEE, 1, 2), "the range of the pass"
    assert kept.corrected_at is not None and kept.corrected_at > given.events[0].created_at


@pytest.mark.parametrize("correct", [reword, evolve, evolve_twice])
def test_the_one_by_rules_files_what_the_person_wrote(
    world: LibraryWorld, monkeypatch: pytest.MonkeyPatch, correct: Correct
) -> None:
    memory = observed(world)
    world.clock.move(seconds=60)
    correct(world, memory)
    monkeypatch.setattr(world.observer, "file_away", ExtractiveObserver().file_away)
    world.file()
    text = str(world.text(PREFERENCES))
    assert COFFEE in text and "tea" not in text


@pytest.mark.parametrize("correct", [reword, evolve])
def test_what_is_corrected_while_it_thinks_is_shown_to_it(world: LibraryWorld, correct: Correct) -> None:
    """Nobody would be told that a document has the old words: the answer to the correction was given before."""
    memory = observed(world)
    world.clock.move(seconds=60)
    world.meanwhile(lambda: correct(world, memory))
    world.file()
    assert [[one.text for one in given.remembered] for given in world.observer.filed] == [[], [COFFEE]]


def test_what_is_kept_while_it_thinks_is_no_reason_to_ask_again(world: LibraryWorld) -> None:
    reword(world, observed(world))
    world.meanwhile(lambda: create_memory(world.user(), NewMemory("Allergic to walnuts.", session_id="s1")))
    world.file()
    assert len(world.observer.filed) == 1


def test_nothing_is_read_again_where_nobody_has_corrected_anything(world: LibraryWorld) -> None:
    observed(world)
    world.file()
    assert world.observer.filed[0].remembered == ()


def test_a_model_is_shown_what_was_put_right_newest_first_and_how_much_it_is_not_shown() -> None:
    rows = [Remembered(f"word{n} " * 300, 1, 1, f"2026-03-{n:02}T00:00:00.000Z") for n in range(1, 10)]
    [block] = filing_content(FilingInput("s1", (), (), remembered=[*rows, Remembered("an observer's", 1, 1)]))
    text = str(block["text"])
    shown = [n for n in range(9, 0, -1) if f"word{n} " in text]
    assert shown == list(range(9, 9 - len(shown), -1)) and 0 < len(shown) < 9
    assert f"({9 - len(shown)} older ones are not shown.)" in text
    assert "an observer's" not in text
    assert "# Put right" not in str(filing_content(FilingInput("s1", (), ()))[0]["text"])


def test_the_newest_correction_is_shown_also_where_it_is_long() -> None:
    """Who corrects a word of a long memory sends all of it."""
    long = "".join(f"🟡 Line {n} of what was remembered\n" for n in range(250)) + "🔴 User's daughter is called Mila"
    rows = [
        Remembered("An older one", 1, 1, "2026-03-01T00:00:00.000Z"),
        Remembered(long, 1, 9, "2026-03-02T00:00:00.000Z"),
    ]
    text = str(filing_content(FilingInput("s1", (), (), remembered=rows))[0]["text"])
    assert "# Put right" in text and "daughter is called Mila" in text
    assert "(1 older ones are not shown.)" in text
    longer = [Remembered("x" * 100_000, 1, 9, "2026-03-02T00:00:00.000Z")]
    assert len(str(filing_content(FilingInput("s1", (), (), remembered=longer))[0]["text"])) < 30_000
