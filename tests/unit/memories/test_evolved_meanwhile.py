"""What a pass makes of messages stands before what a person said later: in a pack the newer one holds
(docs/rules/observe.md#commit)."""

from __future__ import annotations

from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from tests.unit.retract.test_run_retraction import observe, scope_of, seen
from tests.unit.world import World, observed_line

BEFORE, THEN, NOW = "🟡 The budget is 500.", "🟡 The budget is 900.", "🟡 The budget is 1200."
HOTEL = "🟡 The hotel is the Hilton."


def told(world: World) -> list[str]:
    """In the order of the session's memories, which is that of its pack."""
    build_pack(scope_of(world), "reflection")
    texts = [memory.text for memory in seen(world)]
    pack = str(read_pack(scope_of(world)).text)
    places = [pack.index(text.removeprefix("🟡 ")) for text in texts]
    assert places == sorted(places)
    return texts


def evolve(world: World, memory_id: str, text: str = NOW) -> str:
    return evolve_memory(world.user(), memory_id, Evolution(text, "they said so on the phone")).id


def observe_left(world: World, says: str = THEN, first: int = 3) -> None:
    """One pass over what nobody has observed yet."""
    world.observer.answers.append(observed_line(says, first, first + 1))
    observe_session(scope_of(world), 1, ObservationReport())


def test_a_person_who_evolves_while_the_model_thinks_holds(world: World) -> None:
    stated = observe(world, "one", "two", says=BEFORE)
    world.say("three", "four")
    world.clock.move(minutes=5)

    def meanwhile() -> None:
        world.clock.move(seconds=5)
        evolve(world, stated)

    world.observer.meanwhile = meanwhile
    observe_left(world)
    assert told(world) == [THEN, NOW]


def test_so_does_one_who_evolved_before_the_pass_began(world: World) -> None:
    stated = observe(world, "one", "two", says=BEFORE)
    world.say("three", "four")
    world.clock.move(minutes=5)
    evolve(world, stated)
    world.clock.move(minutes=5)
    observe_left(world)
    assert told(world) == [THEN, NOW]


def test_so_does_one_who_evolved_what_was_evolved(world: World) -> None:
    """And two statements of a person stay in their order, whatever passes come between."""
    stated = observe(world, "one", "two", says=BEFORE)
    other = observe(world, "three", "four", says="🟡 The hotel is the Ritz.")
    world.say("five", "six")
    world.clock.move(minutes=5)
    again = evolve(world, stated, "🟡 The budget is 1000.")
    evolve(world, other, HOTEL)
    world.clock.move(minutes=5)
    evolve(world, again)
    observe_left(world, first=5)
    world.say("seven", "eight")
    observe_left(world, "🟡 They booked it.", first=7)
    assert told(world) == [THEN, HOTEL, NOW, "🟡 They booked it."]


def test_what_was_said_after_that_stands_behind_it(world: World) -> None:
    stated = observe(world, "one", "two", says=BEFORE)
    world.clock.move(minutes=5)
    evolve(world, stated)
    world.clock.move(minutes=5)
    world.say("three", "four")
    observe_left(world)
    assert told(world) == [NOW, THEN]


def test_nothing_is_read_for_it_where_nobody_evolved_anything(world: World) -> None:
    """However late the pass is."""
    reads: list[int] = []
    for first, late in ((1, 0), (3, 0), (5, 9)):
        world.say("one more", "and another")
        world.clock.move(minutes=late)
        before = world.table.calls["get_many"]
        observe_left(world, first=first)
        reads.append(world.table.calls["get_many"] - before)
        world.clock.move(minutes=5)
    assert reads[1] == reads[2], "the first one was shown no memories"
