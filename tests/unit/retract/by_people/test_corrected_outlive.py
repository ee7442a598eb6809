"""What a person has said of a memory outlives the answer that is regenerated (docs/rules/retract.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Priority, Status
from neve.domain.records.retractions import RetractReason
from neve.domain.records.sessions import EventType
from neve.observing import Observed, ObservedLine
from neve.ports.table import Delete
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import active_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World

BERLIN, BERN = "🔴 User lives in Berlin.", "Lives in Bern since 2024."
MARKS: list[dict[str, Any]] = [
    {"status": Status.RESOLVED},
    {"tags": ("health",)},
    {"label": "moving"},
    {"group": "home"},
    {"importance": 5},
    {"confidence": 0.5},
    {"priority": Priority.LOW},
]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def scope_of(world: World, session: str = "s1") -> SessionScope:
    return world.user().of_session(session)


def lines(*said: tuple[str, int, int], facts: tuple[ProposedFact, ...] = ()) -> Observed:
    """An answer: each line with its first and last seq."""
    return Observed(True, tuple(ObservedLine(*one) for one in said), "scripted", facts=facts)


def fact(text: str, first: int, last: int) -> ProposedFact:
    return ProposedFact(text, "PLACE", 3, "user_stated", "new", None, first, last)


def observe(world: World, *answers: Observed) -> Memory:
    """One pass over what is new; the row that it wrote."""
    world.observer.answers += answers
    [written] = observe_session(scope_of(world), 1, ObservationReport()).written
    return world.memory(written)


def told(world: World, *more: tuple[str, int, int], facts: tuple[ProposedFact, ...] = ()) -> Memory:
    """The observation of a turn: seq 1 is the user's, 2 the assistant's."""
    world.say("I live in Berlin.", "Ah, the city of bears.")
    return observe(world, lines((BERLIN, 1, 1), *more, facts=facts))


def patch(world: World, memory: Memory, **fields: Any) -> Memory:
    return update_memory(world.user(), memory.id, MemoryChange(fields), None)


def take_back(world: World, first: int, last: int | None, reason: RetractReason = "edited") -> Job:
    answer = retract_events(scope_of(world), Retract(first, last, reason))
    place = world.tenant.keys.job(answer.job_id)
    run_retraction(scope_of(world), message_of_row(world.table.get(place) or {}).body)
    return rows.read_job(world.table.get(place) or {})


def seen(world: World, kind: Kind = Kind.OBSERVATION) -> list[Memory]:
    """What the session's live list shows: active and resolved ones."""
    keys = scope_of(world).keys
    live = rows.read_marker(world.table.get(keys.marker) or {}).live
    shown = [world.memory(row.id) for row in live if row.kind is kind]
    return [memory for memory in shown if memory.status in (Status.ACTIVE, Status.RESOLVED)]


# --- their words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["edited", "branched"])
def test_a_correction_outlives_the_answer_that_is_regenerated(world: World, reason: RetractReason) -> None:
    corrected = patch(world, told(world), text=BERN)
    asked = len(world.observer.passes)
    job = take_back(world, 2, 2, reason)
    assert (job.status, job.result["superseded"], job.result.get("written", [])) == ("done", 0, [])
    assert [(m.id, m.text, m.rev) for m in seen(world)] == [(corrected.id, BERN, corrected.rev)]
    assert len(world.observer.passes) == asked, "nothing is read again beside it"
    build_pack(scope_of(world), "reflection")
    text = str(read_pack(scope_of(world)).text)
    assert "Bern" in text and "Berlin" not in text


def test_it_outlives_every_answer_that_is_regenerated_again(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    for seq in (2, 3, 4):
        take_back(world, seq, seq)
        append_events(scope_of(world), [NewEvent(EventType.ASSISTANT_RESPONSE, f"Another one, {seq}.")])
    assert [m.id for m in seen(world)] == [corrected.id]


def test_it_goes_with_the_message_that_it_was_made_from(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    take_back(world, 2, 2)
    take_back(world, 1, 1)
    assert seen(world) == []
    assert world.memory(corrected.id).superseded_reason == "taken back (edited)"


def test_of_several_messages_none_may_be_taken_back(world: World) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    corrected = patch(world, observe(world, lines((BERLIN, 1, 4))), text=BERN)
    take_back(world, 3, 4)
    [again] = seen(world)
    assert again.supersedes == (corrected.id,)
    assert (again.provenance.seq_from, again.provenance.seq_to) == (1, 2)


def test_what_an_assistant_said_alone_goes_with_it(world: World) -> None:
    told(world)
    append_events(scope_of(world), [NewEvent(EventType.ASSISTANT_RESPONSE, "Berlin has many lakes, too.")])
    corrected = patch(world, observe(world, lines(("🟢 Assistant praised the lakes of Berlin.", 3, 3))), text=BERN)
    take_back(world, 3, 3)
    assert len(seen(world)) == 1 and world.memory(corrected.id).status is Status.SUPERSEDED


def test_it_goes_where_nobody_knows_any_more_who_uttered_what_is_taken_back(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    world.table.write([Delete(scope_of(world).keys.event(2))])
    take_back(world, 2, 2)
    assert corrected.id not in {m.id for m in seen(world)}


@pytest.mark.parametrize("before", [None, "edited"])
def test_a_deletion_of_the_answer_erases_it(world: World, before: RetractReason | None) -> None:
    corrected = patch(world, told(world), text="Lives in Bern, the city of bears.")
    if before:
        take_back(world, 2, 2, before)
        assert [m.id for m in seen(world)] == [corrected.id]
    job = take_back(world, 2, 2, "deleted")
    assert job.result["erased"]["verified"] is True
    assert corrected.id not in {memory.id for memory in world.memories()}
    [again] = seen(world)
    assert (again.provenance.seq_from, again.provenance.seq_to) == (1, 1)


def test_another_deletion_leaves_it(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    world.say("I have two cats.", "Oh.")
    observe(world)
    take_back(world, 2, 2)
    take_back(world, 3, 3, "deleted")
    assert seen(world)[0].id == corrected.id


def test_later_passes_are_shown_it(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    take_back(world, 2, 2)
    world.say("I have two cats.", "Oh.")
    observe(world)
    assert [one.id for one in world.observer.passes[-1].prior] == [corrected.id]


def test_a_pass_that_was_shown_it_is_asked_again_without_it_when_its_message_is_taken_back(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    take_back(world, 2, 2)
    world.say("I have two cats.", "Oh.")

    def meanwhile() -> None:
        retract_events(scope_of(world), Retract(1, 1, "edited"))

    world.observer.meanwhile = meanwhile
    observe(world)
    shown = [[one.id for one in given.prior] for given in world.observer.passes[-2:]]
    assert shown == [[corrected.id], []]


def test_later_passes_are_shown_what_was_read_again_around_a_hole(world: World) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    observe(world, lines((BERLIN, 1, 4)))
    take_back(world, 2, 2)
    [again] = seen(world)
    assert again.provenance.left_out == ((2, 2),)
    world.say("And a dog.", "Oh.")
    observe(world)
    assert [one.id for one in world.observer.passes[-1].prior] == [again.id]


def test_a_reflection_that_a_person_corrected_stays_whole(world: World) -> None:
    first = told(world)
    world.say("I have two cats.", "Oh.")
    second = observe(world)
    new = replace(
        first,
        id=f"mem_{world.ids.ulid(world.clock.now())}",
        kind=Kind.REFLECTION,
        passages=(),
        supersedes=(first.id, second.id),
        provenance=replace(first.provenance, seq_to=4),
        version=0,
    )
    replace_rows(world.user(), 1, Replacement((new,), (first, second), "folded", "s1"))
    patch(world, new, text=BERN)
    take_back(world, 4, 4)
    assert (seen(world), [m.text for m in seen(world, Kind.REFLECTION)]) == ([], [BERN])
    take_back(world, 3, 3)
    assert [m.supersedes for m in seen(world)] == [(first.id,)]
    assert seen(world, Kind.REFLECTION) == []


def test_so_does_one_of_several_sessions(world: World) -> None:
    first = told(world)
    world.open(session="s2")
    world.say("I have two cats.", "Oh.", session="s2")
    [other] = observe_session(scope_of(world, "s2"), 1, ObservationReport()).written
    new = replace(
        first,
        id=f"mem_{world.ids.ulid(world.clock.now())}",
        kind=Kind.REFLECTION,
        passages=(MemoryPassage(BERLIN),),
        supersedes=(first.id, other),
        provenance=replace(first.provenance, session_id=None, seq_from=None, seq_to=None),
        version=0,
    )
    replace_rows(world.user(), 1, Replacement((new,), (first, world.memory(other)), "folded", "s1"))
    patch(world, new, text=BERN)
    assert take_back(world, 2, 2).result["superseded"] == 0
    assert take_back(world, 1, 1).result["superseded"] == 1


# --- their marks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_outlives_the_answer(world: World, mark: dict[str, Any]) -> None:
    """All that the observation says is the user's."""
    marked = patch(world, told(world), **mark)
    take_back(world, 2, 2)
    assert [(m.id, m.text, m.rev) for m in seen(world)] == [(marked.id, BERLIN, marked.rev)]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_passes_to_what_is_read_again_without_the_words_of_the_answer(
    world: World, mark: dict[str, Any]
) -> None:
    marked = patch(world, told(world, ("🟢 Assistant spoke of bears.", 2, 2)), **mark)
    world.observer.answers.append(lines((BERLIN, 1, 1)))
    take_back(world, 2, 2)
    [again] = seen(world)
    assert (again.text, again.supersedes) == (BERLIN, (marked.id,))
    assert {name: getattr(again, name) for name in mark} == mark


def test_what_nobody_marked_is_read_again_as_before(world: World) -> None:
    before = told(world)
    take_back(world, 2, 2)
    [again] = seen(world)
    assert again.supersedes == (before.id,)
    assert (again.status, again.tags, again.label) == (Status.ACTIVE, before.tags, None)


def test_a_deletion_leaves_none_of_the_marks(world: World) -> None:
    patch(world, told(world), label="bears", tags=("bears",))
    take_back(world, 2, 2, "deleted")
    [again] = seen(world)
    assert (again.label, "bears" in again.tags) == (None, False)


def test_what_was_put_away_may_come_back_where_it_was_made_of_the_message(world: World) -> None:
    archived = patch(world, told(world), status=Status.ARCHIVED)
    take_back(world, 2, 2)
    assert patch(world, archived, status=Status.ACTIVE).status is Status.ACTIVE
    patch(world, archived, status=Status.ARCHIVED)
    take_back(world, 1, 1)
    with pytest.raises(NeveError, match="taken back"):
        patch(world, archived, status=Status.ACTIVE)


# --- facts ----------------------------------------------------------------------------------------


def facts(world: World) -> list[str]:
    head = rows.read_head(world.table.get(world.user().keys.head))
    ids = [memory.id for memory in world.memories() if memory.kind is Kind.FACT]
    return sorted(memory.text for memory in active_memories(world.table, world.user().keys, ids, head.gen))


def corrected_fact(world: World, how: str) -> list[str]:
    """Facts as they are then."""
    [berlin] = [m for m in world.memories() if m.kind is Kind.FACT and "Berlin" in m.text]
    if how == "evolved":
        evolve_memory(world.user(), berlin.id, Evolution(text="User lives in Bern.", reason="moved"))
    elif how == "reworded":
        patch(world, berlin, text="User lives in Bern.")
    else:
        patch(world, berlin, status=Status(how))
    return facts(world)


@pytest.mark.parametrize("how", ["reworded", "evolved", "resolved", "archived"])
def test_what_a_person_corrected_of_a_fact_is_not_read_again_beside_it(world: World, how: str) -> None:
    stated = (fact("User lives in Berlin.", 1, 1), fact("User has two cats.", 3, 3))
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    observe(world, lines((BERLIN, 1, 4), facts=stated))
    before = corrected_fact(world, how)
    more = fact("User likes trains.", 3, 3)
    world.observer.answers.append(lines((BERLIN, 1, 3), facts=(*stated, more)))
    take_back(world, 4, 4)
    assert len(seen(world)) == 1 and seen(world)[0].supersedes, "it was read again"
    assert facts(world) == sorted([*before, more.text])
    assert not [m for m in world.memories() if m.kind is Kind.FACT and m.status is Status.INBOX]


def test_a_fact_of_the_turn_stays_beside_the_correction_where_the_message_says_it(world: World) -> None:
    """It would be read by nobody again."""
    patch(world, told(world, facts=(fact("User lives in Berlin.", 1, 2), fact("Berlin has bears.", 1, 2))), text=BERN)
    take_back(world, 2, 2)
    assert facts(world) == ["User lives in Berlin."]
    take_back(world, 1, 1)
    assert facts(world) == []


def test_a_mark_of_a_fact_outlives_the_answer(world: World) -> None:
    told(world, facts=(fact("User lives in Berlin.", 1, 2),))
    [berlin] = [m for m in world.memories() if m.kind is Kind.FACT]
    patch(world, berlin, label="home", status=Status.RESOLVED)
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact("User lives in Berlin.", 1, 1),)))
    take_back(world, 2, 2)
    assert [(m.id, m.label, m.status) for m in world.memories() if m.kind is Kind.FACT] == [
        (berlin.id, "home", Status.RESOLVED)
    ]
