"""What a person last wrote stays, unless it is deleted (docs/rules/retract.md#corrected)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Priority, Status
from neve.domain.records.retractions import RetractReason
from neve.observing import Observed, ObservedLine
from neve.ports.errors import ModelRefused
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import active_memories
from neve.store.partitions import all_rows
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.fact_place import place_key
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from neve.usecases.work.retract.settled_facts import without_settled
from tests.unit.librarian.library_world import LibraryWorld, answer
from tests.unit.world import World

BERLIN, BERN, LIVES, CATS = (
    "🔴 User lives in Berlin.",
    "User lives in Bern.",
    "User lives in Berlin.",
    "User has two cats.",
)
MARKS: list[dict[str, Any]] = [
    {"status": Status.RESOLVED},
    {"tags": ("health",)},
    {"label": "moving"},
    {"group": "home"},
    {"importance": 5},
    {"confidence": 0.5},
    {"priority": Priority.LOW},
    {"never_recall": True},
]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def scope_of(world: World) -> SessionScope:
    return world.user().of_session("s1")


def lines(*said: tuple[str, int, int], facts: tuple[ProposedFact, ...] = ()) -> Observed:
    return Observed(True, tuple(ObservedLine(*one) for one in said), "scripted", facts=facts)


def fact(text: str, first: int, last: int) -> ProposedFact:
    return ProposedFact(text, "PLACE", 3, "user_stated", "new", None, first, last)


def observe(world: World, answer: Observed) -> Memory:
    world.observer.answers.append(answer)
    [written] = observe_session(scope_of(world), 1, ObservationReport()).written
    return world.memory(written)


def told(world: World, *facts: ProposedFact) -> Memory:
    """The observation of a turn: seq 1 is the user's, 2 the assistant's."""
    world.say("I live in Berlin.", "Ah, the city of bears.")
    return observe(world, lines((BERLIN, 1, 1), facts=facts))


def patch(world: World, memory: Memory, **fields: Any) -> Memory:
    return update_memory(world.user(), memory.id, MemoryChange(fields), None)


def evolve(world: World, memory: Memory, text: str = BERN) -> Memory:
    world.clock.move(minutes=1)
    return evolve_memory(world.user(), memory.id, Evolution(text, "they moved"))


def take_back(world: World, first: int, last: int | None, reason: RetractReason = "edited") -> Job:
    answer = retract_events(scope_of(world), Retract(first, last, reason))
    place = world.tenant.keys.job(answer.job_id)
    run_retraction(scope_of(world), message_of_row(world.table.get(place) or {}).body)
    return rows.read_job(world.table.get(place) or {})


def shown(world: World, kind: Kind = Kind.OBSERVATION) -> list[Memory]:
    head = rows.read_head(world.table.get(world.user().keys.head))
    found = [m for m in world.memories() if m.kind is kind and m.status in (Status.ACTIVE, Status.RESOLVED)]
    return [m for m in found if m.died_gen is None or m.died_gen > head.gen]


def facts(world: World) -> list[str]:
    head = rows.read_head(world.table.get(world.user().keys.head))
    ids = [memory.id for memory in world.memories() if memory.kind is Kind.FACT]
    return sorted(memory.text for memory in active_memories(world.table, world.user().keys, ids, head.gen, ""))


def the_fact(world: World, text: str = LIVES) -> Memory:
    [found] = [memory for memory in world.memories() if memory.kind is Kind.FACT and memory.text == text]
    return found


# --- the rule -------------------------------------------------------------------------------------


def a_fact(world: World) -> Memory:
    told(world, fact(LIVES, 1, 2))
    return the_fact(world)


def a_reflection(world: World, *, of_a_session: bool = True) -> Memory:
    """Without a session, it has no range of its own."""
    source = told(world)
    origin = (
        source.provenance if of_a_session else replace(source.provenance, session_id=None, seq_from=None, seq_to=None)
    )
    identifier = f"mem_{world.ids.ulid(world.clock.now())}"
    new = replace(
        source, id=identifier, kind=Kind.REFLECTION, supersedes=(source.id,), provenance=origin, passages=(), version=0
    )
    replace_rows(world.user(), 1, Replacement((new,), (source,), "folded", "s1"))
    return world.memory(new.id)


MADE: dict[str, Callable[[World], Memory]] = {
    "observation": told,
    "fact": a_fact,
    "reflection": a_reflection,
    "reflection of a night": lambda world: a_reflection(world, of_a_session=False),
}
WRITTEN: dict[str, Callable[[World, Memory], Memory]] = {
    "nobody": lambda _, memory: memory,
    "edit": lambda world, memory: patch(world, memory, text=BERN),
    "evolved": evolve,
    "evolved twice": lambda world, memory: evolve(world, evolve(world, memory, "User lives in Basel.")),
    "edit, put away": lambda world, memory: patch(world, patch(world, memory, text=BERN), status=Status.ARCHIVED),
}


@pytest.mark.parametrize(("kind", "by", "reason"), list(product(MADE, WRITTEN, ["edited", "branched", "deleted"])))
@pytest.mark.parametrize("seqs", [(2, 2), (1, 1), (1, 2)], ids=["answer", "message", "turn"])
def test_what_a_person_last_wrote_stays_unless_the_reason_is_deleted(
    world: World, kind: str, by: str, reason: RetractReason, seqs: tuple[int, int]
) -> None:
    memory = WRITTEN[by](world, MADE[kind](world))
    was = memory.status
    job = take_back(world, *seqs, reason)
    rows_left = {one.id: one for one in world.memories()}
    if reason == "deleted":
        assert memory.id not in rows_left
        assert job.result["erased"]["verified"] is True
        assert BERN not in {one.text for one in rows_left.values()}
        assert world.table.get(place_key(world.user().keys, BERN)) is None
    elif by == "nobody":
        assert rows_left[memory.id].superseded_reason == f"taken back ({reason})"
    else:
        left = rows_left[memory.id]
        assert (left.text, left.status, left.rev) == (BERN, was, memory.rev)
        assert BERLIN not in [one.text for one in shown(world)] or kind == "fact", "nothing is read again beside it"


@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_it_stays_when_other_messages_are_taken_back(world: World, reason: RetractReason) -> None:
    mine = patch(world, told(world), text=BERN)
    note = create_memory(world.user(), NewMemory("Quartz: 500.", kind=Kind.NOTE, session_id="s1"))
    note = evolve(world, note, "Quartz: 600.")
    world.say("I have two cats.", "Oh.")
    observe(world, lines((CATS, 3, 3)))
    take_back(world, 3, None, reason)
    take_back(world, 1, 2, "edited")
    assert [world.memory(one.id).status for one in (mine, note)] == [Status.ACTIVE, Status.ACTIVE]


def test_it_is_erased_also_where_its_message_was_edited_before(world: World) -> None:
    evolve(world, told(world))
    take_back(world, 1, 2)
    take_back(world, 1, 1, "deleted")
    assert world.memories() == []


def test_later_passes_are_shown_it(world: World) -> None:
    corrected = patch(world, told(world), text=BERN)
    take_back(world, 1, 2)
    world.say("I have two cats.", "Oh.")
    observe(world, lines((CATS, 3, 3)))
    assert [one.id for one in world.observer.passes[-1].prior] == [corrected.id]


def test_what_was_put_away_comes_back_unless_it_was_made_of_what_is_taken_back(world: World) -> None:
    archived = patch(world, told(world), status=Status.ARCHIVED)
    take_back(world, 2, 2)
    with pytest.raises(NeveError, match="taken back"):
        patch(world, archived, status=Status.ACTIVE)


def test_packs_lose_what_a_person_deleted_before_the_message_was(world: World) -> None:
    new = evolve(world, told(world))
    build_pack(scope_of(world), "reflection")
    delete_memory(world.user(), new.id, None)
    assert BERN in str(read_pack(scope_of(world)).text)
    assert take_back(world, 1, None, "deleted").result["erased"]["packs"] > 0
    assert BERN not in str(read_pack(scope_of(world)).text)


def test_a_fact_in_words_that_only_the_deleted_message_said_goes(world: World) -> None:
    """An observer may repeat what it was shown."""
    world.say("My quartz is in Berlin.", "Ah.")
    observe(world, lines((BERLIN, 1, 2), facts=(fact("User has a quartz in Berlin.", 1, 1),)))
    new = evolve(world, the_fact(world, "User has a quartz in Berlin."), "User has a quartz in Bern.")
    world.clock.move(minutes=1)
    world.say("It is in Bern, you know.", "Yes.")
    observe(world, lines(("🟡 It is in Bern.", 3, 3), facts=(fact(new.text, 3, 3),)))
    take_back(world, 1, 2, "deleted")
    assert facts(world) == []


def test_a_fact_that_was_said_since_stands_by_that(world: World) -> None:
    new = evolve(world, a_fact(world))
    world.clock.move(minutes=1)
    world.say("Since May I live in Bern.", "Ah.")
    observe(world, lines((BERN, 3, 3), facts=(fact(BERN, 3, 3),)))
    take_back(world, 1, 2, "deleted")
    back = the_fact(world, BERN)
    assert (back.provenance.by, back.provenance.seq_from, back.id != new.id) == ("user_stated", 3, True)
    assert (back.written_over, back.person_at) == ((), None)


SUMMARY: dict[str, Callable[[LibraryWorld, Memory], Memory]] = {
    "nobody": lambda _, memory: memory,
    "reworded": lambda world, memory: update_memory(world.user(), memory.id, MemoryChange({"text": BERN}), None),
    "evolved": lambda world, memory: evolve_memory(world.user(), memory.id, Evolution(BERN, "wrong")),
    "put away": lambda world, memory: update_memory(
        world.user(), memory.id, MemoryChange({"status": Status.ARCHIVED}), None
    ),
}


@pytest.mark.parametrize("reason", ["edited", "deleted"])
@pytest.mark.parametrize("by", SUMMARY)
def test_a_session_has_one_summary_that_of_a_person_unless_it_is_deleted(
    tmp_path: Path, by: str, reason: RetractReason
) -> None:
    world = LibraryWorld.at(tmp_path)
    world.open()
    world.say("We go to Oslo with Sarah.", "Noted.")

    def filed() -> list[Memory]:
        world.end()
        world.observer.filings = [answer()]
        world.file()
        found = [memory for memory in world.memories() if memory.kind is Kind.SESSION_SUMMARY]
        return [memory for memory in found if memory.status is not Status.SUPERSEDED]

    [before] = filed()
    theirs = SUMMARY[by](world, before)
    answered = retract_events(world.session, Retract(2, 2, reason))
    item = world.table.get(world.tenant.keys.job(answered.job_id)) or {}
    run_retraction(world.session, message_of_row(item).body)
    after = [memory.id for memory in filed()]
    if by != "nobody" and reason == "edited":
        assert after == [theirs.id]
    elif by == "put away":
        assert after == [], "nor is it written again"
    else:
        assert len(after) == 1 and after != [theirs.id]
    assert BERN not in [memory.text for memory in world.memories()] or reason == "edited"
    world.table.close()


# --- what is read again ---------------------------------------------------------------------------


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("reason", ["edited", "deleted"])
def test_a_mark_passes_to_what_is_read_again_unless_the_reason_is_deleted(
    world: World, mark: dict[str, Any], reason: RetractReason
) -> None:
    before = told(world)
    marked = patch(world, before, **mark)
    world.observer.answers.append(lines((BERLIN, 1, 1)))
    take_back(world, 2, 2, reason)
    [again] = shown(world)
    assert again.supersedes == (marked.id,)
    assert {name: getattr(again, name) for name in mark} == (
        mark if reason == "edited" else {name: getattr(before, name) for name in mark}
    )


SETTLED: dict[str, Callable[[World, Memory], object]] = {
    "reworded": lambda world, one: patch(world, one, text=BERN),
    "evolved": evolve,
    "done": lambda world, one: patch(world, one, status=Status.RESOLVED),
    "put away": lambda world, one: patch(world, one, status=Status.ARCHIVED),
    "deleted": lambda world, one: delete_memory(world.user(), one.id, None),
    "evolved, deleted": lambda world, one: delete_memory(world.user(), evolve(world, one).id, None),
}


@pytest.mark.parametrize("how", SETTLED)
@pytest.mark.parametrize("said", [LIVES, "  user LIVES in Berlin. ", "Berlin is where the user lives."])
def test_a_fact_that_a_person_settled_is_not_stated_again_of_its_message(world: World, how: str, said: str) -> None:
    world.say("I live in Berlin.", "Ah.", "I have two cats.", "Oh.")
    observe(world, lines((BERLIN, 1, 4), facts=(fact(LIVES, 1, 1), fact(CATS, 3, 3))))
    SETTLED[how](world, the_fact(world))
    before = facts(world)
    again = (fact(said, 1, 1), fact(CATS, 3, 3), fact("User likes trains.", 3, 3))
    world.observer.answers.append(lines((BERLIN, 1, 3), facts=again))
    take_back(world, 4, 4)
    assert shown(world)[0].supersedes, "it was read again"
    assert facts(world) == sorted([*before, "User likes trains."])
    assert not [m for m in world.memories() if m.kind is Kind.FACT and m.status is Status.INBOX]
    world.say("I live in Berlin.", "Yes.")
    observe(world, lines((BERLIN, 5, 6), facts=(fact(LIVES, 5, 5),)))
    assert LIVES in [*facts(world), *(m.text for m in world.memories() if m.status is Status.INBOX)], "said anew"


def test_what_an_erasure_took_may_be_stated_by_what_is_left(world: World) -> None:
    """Nobody has deleted the fact, but one of the messages that it was drawn from."""
    told(world, fact(LIVES, 1, 2))
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact(LIVES, 1, 1),)))
    take_back(world, 2, 2, "deleted")
    assert facts(world) == [LIVES]


def test_an_observation_that_is_deleted_before_it_is_read_again_is_not_written_again(world: World) -> None:
    before = told(world)
    world.observer.answers += [ModelRefused("wrong key"), lines((BERLIN, 1, 1), facts=(fact(CATS, 1, 1),))]
    assert take_back(world, 2, 2).status == "running"
    delete_memory(world.user(), before.id, None)
    assert take_back(world, 2, 2).status == "done"
    assert (shown(world), facts(world)) == ([], [CATS])


@pytest.mark.parametrize("what", ["fact", "observation"])
def test_nor_what_a_person_deletes_at_the_moment_of_the_commit(
    world: World, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = told(world, fact(LIVES, 1, 1))
    gone = the_fact(world) if what == "fact" else before

    def delete() -> None:
        delete_memory(world.user(), gone.id, None)

    def look_then_delete(*args: Any) -> Any:
        found = without_settled(*args)
        monkeypatch.setattr("neve.usecases.work.retract.observe_remainder.without_settled", without_settled)
        world.table.before_write = delete
        return found

    monkeypatch.setattr("neve.usecases.work.retract.observe_remainder.without_settled", look_then_delete)
    world.observer.answers.append(lines((BERLIN, 1, 1), facts=(fact(LIVES, 1, 1),)))
    assert take_back(world, 2, 2).status == "done"
    assert (len(shown(world)), facts(world)) == ((1, []) if what == "fact" else (0, [LIVES]))


@pytest.mark.parametrize("change", [lambda _world, _one: None, SETTLED["reworded"]])
def test_no_word_of_a_deleted_fact_is_left(world: World, change: Callable[[World, Memory], object]) -> None:
    """Nor a hash of them: where it was said is enough."""
    told(world, fact(LIVES, 1, 1))
    one = the_fact(world)
    change(world, one)
    delete_memory(world.user(), one.id, None)
    [left] = all_rows(world.table, world.user().keys.partition, prefix="MEMD#")
    assert left["unsaid"] == [["s1", 1, 1]]
    assert set(left) == {"pk", "sk", "type", "rev", "write_id", "made_of", "unsaid", "version"}
