"""What a person has deleted does not come back when the messages that it was drawn from are read again
(docs/rules/retract.md#again)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.memories import Kind, Memory, Status
from neve.observing import Observed
from neve.ports.errors import ModelRefused
from neve.store import rows
from neve.store.partitions import all_rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.memories.by_people.settled_facts import without_settled
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.retract.by_people.test_corrected_outlive import (
    BERLIN,
    fact,
    facts,
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

LIVES = "User lives in Berlin."
CATS = "User has two cats."


def observe_again(world: World, session: str, answer: Observed) -> None:
    world.observer.answers.append(answer)
    observe_session(scope_of(world, session), 1, ObservationReport())


def take_back_of(world: World, session: str, seq: int) -> None:
    answer = retract_events(scope_of(world, session), Retract(seq, seq, "edited"))
    body = message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body
    run_retraction(scope_of(world, session), body)


def all_facts(world: World, text: str = LIVES) -> list[Memory]:
    return [memory for memory in world.memories() if memory.kind is Kind.FACT and memory.text == text]


def delete(world: World, memory: Memory) -> None:
    delete_memory(world.user(), memory.id, None)


def deleted_fact(world: World) -> None:
    """Of a turn that says two things, each of its message."""
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    observe(world, lines((BERLIN, 1, 4), facts=(fact(LIVES, 1, 1), fact(CATS, 3, 3))))
    delete(world, all_facts(world)[0])


def read_again(world: World, *stated: str, first: int = 1, last: int = 1, seq: int = 4) -> None:
    """The answer ``seq`` is regenerated, and what is left is said to state these and the cats."""
    found = (*(fact(text, first, last) for text in stated), fact(CATS, 3, 3))
    world.observer.answers.append(lines((BERLIN, 1, 3), facts=found))
    asked = len(world.observer.passes)
    assert take_back(world, seq, seq).status == "done"
    assert len(world.observer.passes) == asked + 1, "it was read again"


@pytest.mark.parametrize("stated", [LIVES, "  user LIVES in Berlin. ", "Berlin is where the user lives."])
def test_a_fact_that_a_person_deleted_is_not_stated_again_of_its_message(world: World, stated: str) -> None:
    """Nor in other words: what it said is not known any more."""
    deleted_fact(world)
    read_again(world, stated)
    assert (facts(world), len(seen(world))) == ([CATS], 1)
    assert {m.text for m in world.memories() if m.kind is Kind.FACT} == {CATS}, "nor does it wait in the inbox"


def test_nor_is_it_of_a_wider_or_a_narrower_range(world: World) -> None:
    world.say("I live in Berlin.", "Ah.", "As I said.", "Oh.")
    observe(world, lines((BERLIN, 1, 4), facts=(fact(LIVES, 1, 3),)))
    delete(world, all_facts(world)[0])
    read_again(world, LIVES, first=3, last=3)
    assert all_facts(world) == []


def test_what_the_user_says_anew_is_kept(world: World) -> None:
    deleted_fact(world)
    read_again(world, LIVES)
    world.say("I live in Berlin.", "Yes.")
    observe(world, lines((BERLIN, 5, 6), facts=(fact(LIVES, 5, 5),)))
    assert facts(world) == [CATS, LIVES]


def test_what_was_said_anew_does_not_stand_by_the_message_before_the_deletion(world: World) -> None:
    """Else it would come back when the new message is taken back."""
    deleted_fact(world)
    world.say("I live in Berlin.", "Yes.")
    observe(world, lines((BERLIN, 5, 6), facts=(fact(LIVES, 5, 5),)))
    read_again(world, LIVES)
    [anew] = all_facts(world)
    assert (facts(world), anew.restatements) == ([CATS, LIVES], ())
    world.observer.answers += [lines((BERLIN, 6, 6))]
    take_back(world, 5, 5)
    assert facts(world) == [CATS]


def test_nor_is_it_stated_of_another_message_that_had_said_it(world: World) -> None:
    world.say("I live in Berlin.", "Ah.")
    observe(world, lines((BERLIN, 1, 2), facts=(fact(LIVES, 1, 1),)))
    world.say("I live in Berlin.", "I know.")
    observe(world, lines((BERLIN, 3, 4), facts=(fact(LIVES, 3, 3),)))
    delete(world, all_facts(world)[0])
    world.observer.answers.append(lines((BERLIN, 3, 3), facts=(fact(LIVES, 3, 3),)))
    take_back(world, 4, 4)
    assert (all_facts(world), len(seen(world))) == ([], 2)


@pytest.mark.parametrize("many", [False, True])
def test_nor_of_a_session_that_repeated_what_another_had_said_before_it(
    world: World, many: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``many``: the session repeated more facts than its marker names."""
    told(world, facts=(fact(LIVES, 1, 1),))
    world.clock.move(days=2)
    world.open(session="s2")
    world.say("I live in Berlin.", "I know.", session="s2")
    observe_again(world, "s2", lines((BERLIN, 1, 2), facts=(fact(LIVES, 1, 1),)))
    if many:
        monkeypatch.setattr("neve.usecases.tell.memories.by_people.deleted_facts.MAX_REPEATED_FACTS", 1)
        marker = rows.read_marker(world.table.get(scope_of(world, "s2").keys.marker) or {})
        world.table.write([rows.put_marker(scope_of(world, "s2").keys, replace(marker, retold=("mem_other",)))])
    delete(world, all_facts(world)[0])
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact(LIVES, 1, 1),)))
    take_back_of(world, "s2", 2)
    assert all_facts(world) == []


def test_what_a_deleted_word_of_a_person_had_replaced_does_not_come_back(world: World) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    observe(world, lines((BERLIN, 1, 4), facts=(fact(LIVES, 1, 1), fact(CATS, 3, 3))))
    new = evolve_memory(world.user(), all_facts(world)[0].id, Evolution(text="User lives in Bern.", reason="moved"))
    delete(world, new)
    read_again(world, LIVES)
    assert facts(world) == [CATS]


def test_other_facts_of_the_message_that_went_with_the_answer_are_stated_again(world: World) -> None:
    bears = "User asked for the bears of Berlin."
    world.say("I live in Berlin, and asked for its animals.", "Bears.")
    observe(world, lines((BERLIN, 1, 2), facts=(fact(LIVES, 1, 1), fact(bears, 1, 2))))
    delete(world, all_facts(world)[0])
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact(LIVES, 1, 1), fact(bears, 1, 1))))
    take_back(world, 2, 2)
    assert facts(world) == [bears]


def test_what_an_erasure_took_may_be_stated_by_what_is_left(world: World) -> None:
    """Nobody has deleted the fact, but one of the messages that it was drawn from."""
    told(world, facts=(fact(LIVES, 1, 2),))
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact(LIVES, 1, 1),)))
    take_back(world, 2, 2, "deleted")
    assert facts(world) == [LIVES]


def test_an_observation_that_is_deleted_before_it_is_read_again_is_not_written_again(world: World) -> None:
    before = told(world)
    world.observer.answers += [ModelRefused("wrong key"), lines((BERLIN, 1, 1), facts=(fact(CATS, 1, 1),))]
    assert take_back(world, 2, 2).status == "running"
    assert world.memory(before.id).status is Status.SUPERSEDED
    delete(world, before)
    assert take_back(world, 2, 2).status == "done"
    assert (seen(world), facts(world)) == ([], [CATS])


def at_the_commit(world: World, monkeypatch: pytest.MonkeyPatch, deleted: Callable[[], Memory]) -> None:
    """Of what is read again a person deletes this."""

    def look_then_delete(*args: Any) -> Any:
        found = without_settled(*args)
        monkeypatch.setattr("neve.usecases.work.retract.observe_remainder.without_settled", without_settled)
        world.table.before_write = lambda: delete(world, deleted())
        return found

    monkeypatch.setattr("neve.usecases.work.retract.observe_remainder.without_settled", look_then_delete)


def test_nor_where_it_is_deleted_at_the_moment_of_the_commit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    observe(world, lines((BERLIN, 1, 4), facts=(fact(LIVES, 1, 1), fact(CATS, 3, 3))))
    at_the_commit(world, monkeypatch, lambda: all_facts(world)[0])
    read_again(world, LIVES)
    assert (facts(world), len(seen(world))) == ([CATS], 1)


def test_nor_an_observation_that_is_deleted_at_that_moment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = told(world)
    at_the_commit(world, monkeypatch, lambda: before)
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact(CATS, 1, 1),)))
    assert take_back(world, 2, 2).status == "done"
    assert (seen(world), facts(world)) == ([], [CATS])


@pytest.mark.parametrize("change", [lambda _world, _one: None, lambda world, one: patch(world, one, text="Zürich.")])
def test_no_word_of_it_is_left(world: World, change: Callable[[World, Memory], object]) -> None:
    """Nor a hash of them: where it was said is enough."""
    told(world, facts=(fact(LIVES, 1, 1),))
    [one] = all_facts(world)
    change(world, one)
    delete(world, one)
    [left] = all_rows(world.table, world.user().keys.partition, prefix="MEMD#")
    assert left["unsaid"] == [["s1", 1, 1]]
    assert set(left) == {"pk", "sk", "type", "rev", "write_id", "made_of", "unsaid", "version"}
