"""What was true before and is again takes the place of what was true meanwhile, and what is denied leaves
(docs/rules/observe.md#extractive): the observer's rules and the storage decision together."""

from __future__ import annotations

from datetime import timedelta

import pytest

from neve.domain.records.memories import Kind, Status
from neve.observers.extractive.observer import ExtractiveObserver
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from tests.unit.world import World


@pytest.fixture
def world(new_world: World) -> World:
    new_world.observer = ExtractiveObserver()  # type: ignore[assignment]
    new_world.open()
    return new_world


def decided(world: World, text: str, session: str = "s1") -> list[str]:
    """What became of the facts of a pass of its own."""
    world.clock.at += timedelta(hours=1)
    world.say(text, "noted", session=session)
    report = ObservationReport()
    observe_session(world.user().of_session(session), 1, report)
    return [str(fact["decision"]) for fact in report.result()["facts"]]


def active(world: World) -> list[str]:
    return [m.text for m in world.memories() if m.kind is Kind.FACT and m.status is Status.ACTIVE]


@pytest.mark.parametrize(
    ("first", "then", "fact"),
    [
        ("I live in Paris.", "I moved to Rome.", "User lives in Paris"),
        ("My favourite team is Ajax.", "My favorite team is Feyenoord.", "User's favourite team is Ajax"),
        ("My name is Kim.", "My name is Alex.", "User's name is Kim"),
    ],
)
def test_back_to_what_it_was(world: World, first: str, then: str, fact: str) -> None:
    assert [decided(world, text) for text in (first, then, first)] == [["stored"], ["superseded"], ["superseded"]]
    assert active(world) == [fact]
    assert decided(world, first) == ["reinforced"]
    assert active(world) == [fact]


@pytest.mark.parametrize(
    ("first", "then", "fact"),
    [
        ("I live in Paris.", "I live in Rome.", "User lives in Rome"),
        ("I live in Paris.", "I moved to Rome.", "User moved to Rome"),
        ("I work at Google.", "I now work for Apple.", "User works for Apple"),
    ],
)
def test_in_another_conversation_that_has_no_pack(world: World, first: str, then: str, fact: str) -> None:
    assert decided(world, first) == ["stored"]
    world.open(session="s2")
    assert decided(world, then, "s2") == ["superseded"]
    assert len(active(world)) == 1 and active(world)[0].replace("now ", "") == fact


def test_what_is_denied_leaves_and_may_come_back(world: World) -> None:
    assert decided(world, "I'm allergic to peanuts.") == ["stored"]
    assert decided(world, "I am not allergic to peanuts, that was a mistake.") == ["superseded"]
    assert active(world) == ["User is not allergic to peanuts"]
    assert decided(world, "I'm allergic to peanuts.") == ["superseded"]
    assert active(world) == ["User is allergic to peanuts"]
