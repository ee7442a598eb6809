"""A fact that comes back with a retraction takes its place again: what is said is kept once (docs/rules/retract.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Provenance, Status
from neve.domain.retract.derived import MAX_FACTS
from neve.store import rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.store_fact import store_facts
from neve.usecases.tell.memories.stored_fact import StoredFact
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World

LYON, NICE = "Anna lives in Lyon.", "Anna lives in Nice."
WRITES = 8
"""More than a retraction's job makes before it is done here."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World.make(tmp_path)
    world.open()
    yield world
    world.table.close()


def keep(world: World, *texts: str) -> list[StoredFact]:
    """Said in no session of ours."""
    facts = [FactCandidate(text, "PLACE", Provenance("user_stated")) for text in texts]
    return store_facts(world.user(), facts, via="observer")


def correct(world: World, *pairs: tuple[str, str]) -> int:
    """Each first text by the second one, all in one message; its seq."""
    [seq] = world.say("I have moved").seqs
    by_text = {memory.text: memory.id for memory in active(world)}
    origin = Provenance("user_stated", "s1", seq, seq)
    facts = [
        FactCandidate(new, "PLACE", origin, relation="updates", target_id=by_text[old], scope=None)
        for old, new in pairs
    ]
    for start in range(0, len(facts), 20):
        stored = store_facts(world.user(), facts[start : start + 20], via="observer")
        assert {one.decision for one in stored} == {"superseded"}
    return seq


def active(world: World) -> list[Memory]:
    return [m for m in world.memories() if m.kind is Kind.FACT and m.status is Status.ACTIVE and m.died_gen is None]


def texts(world: World) -> list[str]:
    return sorted(memory.text for memory in active(world))


def retracted(world: World, seq: int, meanwhile: Callable[[], object] = lambda: None) -> Job:
    """Its job, done. ``meanwhile`` happens between the retraction and its worker."""
    scope = world.user().of_session("s1")
    answer = retract_events(scope, Retract(seq, seq, "edited"))
    item = world.table.get(world.tenant.keys.job(answer.job_id))
    assert item is not None
    meanwhile()
    run_retraction(scope, message_of_row(item).body)
    done = world.table.get(world.tenant.keys.job(answer.job_id))
    assert done is not None
    return rows.read_job(done)


def test_what_is_said_again_is_counted_on_the_copy(world: World) -> None:
    [old] = keep(world, LYON)
    retracted(world, correct(world, (LYON, NICE)))
    [copy] = active(world)
    assert old.memory is not None and copy.supersedes == (old.memory.id,)
    [again] = keep(world, "anna  lives in LYON.")
    assert again.memory is not None
    assert (again.decision, again.memory.id, again.memory.occurrences) == ("reinforced", copy.id, 2)
    assert texts(world) == [LYON]


def test_what_was_said_again_before_does_not_come_back_beside_it(world: World) -> None:
    keep(world, LYON)
    seq = correct(world, (LYON, NICE))
    job = retracted(world, seq, lambda: keep(world, LYON))
    assert (job.result["superseded"], job.result["restored"]) == (1, 0)
    assert texts(world) == [LYON]


@pytest.mark.parametrize("write", range(WRITES))
def test_whenever_it_is_said_again_there_is_one(world: World, write: int) -> None:
    """Before any write of the job: of the coming rows, the stamps, the flip, the sweep."""
    keep(world, LYON)
    seq = correct(world, (LYON, NICE))

    def count_down(left: int) -> None:
        if left:
            world.table.before_write = lambda: count_down(left - 1)
        else:
            keep(world, LYON)

    retracted(world, seq, lambda: setattr(world.table, "before_write", lambda: count_down(write)))
    assert texts(world) == [LYON]
    assert keep(world, LYON)[0].decision == "reinforced"
    assert texts(world) == [LYON]


def test_an_older_fact_that_was_edited_since_says_it_already(world: World) -> None:
    made = create_memory(world.user(), NewMemory("Anna lives here.", Kind.FACT, category="PLACE"))
    keep(world, LYON)
    world.open(session="s1")
    seq = correct(world, (LYON, NICE))
    update_memory(world.user(), made.id, MemoryChange({"text": LYON}), None)
    assert retracted(world, seq).result["restored"] == 0
    assert [memory.id for memory in active(world)] == [made.id]


def test_more_come_back_than_one_transaction_holds(world: World) -> None:
    count = 2 * MAX_FACTS + 5
    before = [f"Anna has been to town {n:03}." for n in range(count)]
    for start in range(0, count, 20):
        keep(world, *before[start : start + 20])
    seq = correct(world, *[(text, text.replace("been", "never been")) for text in before])
    job = retracted(world, seq)
    assert (job.status, job.result["superseded"], job.result["restored"]) == ("done", count, count)
    assert texts(world) == before
    for start in range(0, count, 20):
        assert {one.decision for one in keep(world, *before[start : start + 20])} == {"reinforced"}
    assert texts(world) == before


def test_a_worker_without_time_for_another_replacement_hands_on(world: World) -> None:
    count = 2 * MAX_FACTS + 5
    before = [f"Anna has been to town {n:03}." for n in range(count)]
    for start in range(0, count, 20):
        keep(world, *before[start : start + 20])
    seq = correct(world, *[(text, text.replace("been", "never been")) for text in before])
    answer = retract_events(world.user().of_session("s1"), Retract(seq, seq, "edited"))
    item = world.table.get(world.tenant.keys.job(answer.job_id)) or {}
    places: list[str | None] = []
    for _ in range(3):
        report = run_retraction(world.user().of_session("s1"), message_of_row(item).body, lambda: 5.0)
        places.append(report.left_off_at if report else "erased")
    assert (places[2], None in places[:2], len(set(places))) == (None, False, 3)
    job = rows.read_job(world.table.get(world.tenant.keys.job(answer.job_id)) or {})
    assert (job.status, job.result["superseded"], job.result["restored"]) == ("done", count, count)
    assert texts(world) == before
