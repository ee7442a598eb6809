"""A model says which sources a row was made from. What it repeats without saying so is one of them all the same: its
trust holds for the row, and its words go with what it was made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.domain.records.memories import Memory, Status
from neve.domain.records.sessions import EventType
from neve.observing import Condensed, CondensedRow, Observed, ObservedLine, Reflected, ReflectedRow
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.reflect.reflect_session import reflect_session
from neve.usecases.work.reflect.request_reflection import request_reflection
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.reflect.night_world import NightWorld

BOAT = "User bought a red boat in Oslo"
SECRET = "User is seeing a doctor in Bergen about their back"
PAGE = "The harbour of Oslo closes at nine in the evening"
PADDING = "y" * 600


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path, session_reflection_trigger=300, session_reflection_target=290)
    world.open()
    yield world
    world.table.close()


def observe(world: NightWorld, *said: tuple[EventType, str]) -> list[str]:
    """One observation of each, in its own words."""
    scope = world.user().of_session("s1")
    ids: list[str] = []
    for kind, text in said:
        data = {"tool_use_id": "t1", "name": "browse"} if kind is EventType.TOOL_RESULT else {}
        seq = append_events(scope, [NewEvent(kind, text, event_data=data)]).seqs[-1]
        world.observer.answers = [Observed(True, (ObservedLine(f"🟡 {text} {PADDING}", seq, seq),), "scripted")]
        ids += observe_session(scope, 1).written
    return ids


def reflected(world: NightWorld, *rows: ReflectedRow) -> list[Memory]:
    world.observer.reflections = [Reflected(rows, "scripted")]
    return [world.memory(i) for i in reflect_session(world.user().of_session("s1"), 1)]


def test_a_reflection_that_repeats_a_source_is_made_from_it(world: NightWorld) -> None:
    boat, secret = observe(world, (EventType.USER_MESSAGE, BOAT), (EventType.USER_MESSAGE, SECRET))
    one, other = reflected(
        world, ReflectedRow(f"🔴 {BOAT}. {SECRET}.", (boat,)), ReflectedRow("🔴 The boat, once more", (boat,))
    )
    assert (one.supersedes, one.provenance.seq_from, one.provenance.seq_to) == ((boat, secret), 1, 2)
    assert (other.supersedes, other.provenance.seq_from, other.provenance.seq_to) == ((boat,), 1, 1)


def test_what_is_deleted_leaves_a_reflection_that_did_not_name_it(world: NightWorld) -> None:
    boat, _ = observe(world, (EventType.USER_MESSAGE, BOAT), (EventType.USER_MESSAGE, SECRET))
    reflected(world, ReflectedRow(f"🔴 {BOAT}. {SECRET}.", (boat,)))
    scope = world.user().of_session("s1")
    job_id = retract_events(scope, Retract(2, 2, "deleted")).job_id
    body = message_of_row(world.table.get(scope.keys.job(job_id)) or {}).body
    for _ in range(3):
        run_retraction(scope, body)
    assert [m.text for m in world.memories() if m.status is Status.ACTIVE] == [f"🟡 {BOAT} {PADDING}"]
    assert not any("doctor" in memory.text for memory in world.memories())


def test_a_reflection_that_repeats_a_tool_is_no_persons_word(world: NightWorld) -> None:
    boat, _ = observe(world, (EventType.USER_MESSAGE, BOAT), (EventType.TOOL_RESULT, PAGE))
    page, own = reflected(world, ReflectedRow(f"🔴 {BOAT}. {PAGE}.", (boat,)), ReflectedRow(f"🔴 {BOAT}.", (boat,)))
    assert (page.provenance.trust, own.provenance.trust) == ("tool", "user")


def test_a_nights_row_that_repeats_a_source_is_made_from_it(world: NightWorld) -> None:
    world.open(session="s2")
    sources = [
        world.remember("boat", 9, session_id="s1", tokens=20),
        world.remember("doctor in Bergen about their back", 8, session_id="s2", tokens=20),
    ]
    row = CondensedRow("🔴 The boat, and a doctor in Bergen about their back", (sources[0],))
    world.observer.condensations = [Condensed((row,), "scripted")]
    request_reflection(world.scope, "ann", None)
    world.work()
    [made] = world.reflections()
    assert made.supersedes == tuple(sources)


def test_a_reflection_that_says_a_tools_word_otherwise_is_no_persons_word(world: NightWorld) -> None:
    pilot = "The harbour pilot is called Marlene Obersdorf"
    boat, _ = observe(world, (EventType.USER_MESSAGE, BOAT), (EventType.TOOL_RESULT, pilot))
    page, own = reflected(
        world,
        ReflectedRow("🔴 Marlene brought the boat in for the user", (boat,)),
        ReflectedRow("🔴 User's red boat is from Oslo", (boat,)),
    )
    assert (page.provenance.trust, own.provenance.trust) == ("tool", "user")


def test_a_word_that_no_tool_has_said_alone_is_nobodys_less(world: NightWorld) -> None:
    boat, page, sister = observe(
        world,
        (EventType.USER_MESSAGE, BOAT),
        (EventType.TOOL_RESULT, "Marlene Obersdorf"),
        (EventType.USER_MESSAGE, "My sister is Marlene"),
    )
    [own] = reflected(world, ReflectedRow("🔴 User sails with Marlene", (boat,)))
    assert (own.supersedes, own.provenance.trust) == ((boat,), "user")
    assert {page, sister}.isdisjoint(own.supersedes)
