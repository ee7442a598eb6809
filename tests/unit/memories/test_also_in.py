"""Where else may stand what a deleted memory said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from neve.domain.memories.copies import Copy
from neve.domain.records.memories import Kind, Memory, Provenance, Status
from neve.ports.table import Expect, Item, Put
from neve.store import rows
from neve.store.filings import put_filing, read_filing
from neve.usecases.tell.memories.copies import also_in as limits
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import Deleted, delete_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, reword_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from tests.unit.memories.test_delete_everywhere import condensed
from tests.unit.world import World


@pytest.fixture
def world(world: World) -> World:
    world.say(*(f"message {n}" for n in range(1, 7)))
    return world


def made(world: World, text: str, first: int, last: int, kind: Kind = Kind.NOTE, **fields: object) -> Memory:
    """A live row of s1 that was made of its events."""
    row = create_memory(world.user("ann"), NewMemory(text, Kind.NOTE, session_id="s1"))
    origin = Provenance("user_stated", "s1", first, last)
    changed = replace(row, kind=kind, provenance=origin, **fields)  # type: ignore[arg-type]
    world.table.write([rows.put_memory(world.user("ann").keys, changed)])
    return replace(changed, version=row.version + 1)


def deleted(world: World, memory: Memory, **how: bool) -> Deleted:
    return delete_memory(world.user("ann"), memory.id, None, **how)


def copies(gone: Deleted) -> list[Copy]:
    assert gone.also_in is not None
    return gone.also_in.copies


def memories(gone: Deleted) -> list[tuple[str, str | None, Status | None]]:
    return [(one.because, one.id, one.status) for one in copies(gone) if one.place == "memory"]


def test_a_memory_that_says_something_else_now_names_where_it_may_still_stand(world: World) -> None:
    """As it was: what says the new words is not named. Nothing is looked for where its words stay."""
    row = made(world, "lives in Paris", 1, 2, Kind.FACT)
    near = made(world, "lives in Paris", 1, 2, Kind.OBSERVATION)
    made(world, "lives in Rome", 5, 6)
    user = world.user("ann")
    assert reword_memory(user, row.id, MemoryChange({"label": "home"}), None).also_in is None
    changed = reword_memory(user, row.id, MemoryChange({"text": "lives in Rome"}), None)
    assert (changed.memory.text, changed.memory.label) == ("lives in Rome", "home")
    assert changed.also_in is not None and changed.also_in.complete
    assert changed.also_in.copies == [
        Copy("events", "same_events", session_id="s1", seq_from=1, seq_to=2),
        Copy("memory", "same_words", id=near.id, status=Status.ACTIVE),
    ]


def test_events_that_are_taken_back_are_not_named(world: World) -> None:
    gone = made(world, "lives in Paris", 1, 4, Kind.FACT)
    retract_events(world.user("ann").of_session("s1"), Retract(2, 3, "deleted"))
    events = [(one.seq_from, one.seq_to) for one in copies(deleted(world, gone)) if one.place == "events"]
    assert events == [(1, 1), (4, 4)]


def test_what_condensed_the_observation_of_the_same_pass_is_named(world: World) -> None:
    world.clock.move(minutes=10)
    gone = made(world, "lives in Paris", 1, 2, Kind.FACT)
    observation = made(world, "🟡 User lives in Paris.", 1, 2, Kind.OBSERVATION)
    world.clock.move(minutes=10)
    [reflection] = condensed(world, "condensed", of=(observation,))
    [twice] = condensed(world, "condensed twice", of=(reflection,))
    assert memories(deleted(world, gone)) == [
        ("same_events", observation.id, Status.SUPERSEDED),
        ("same_events", reflection.id, Status.SUPERSEDED),
        ("same_events", twice.id, Status.ACTIVE),
    ]


def test_sources_of_a_reflection_stay_readable_and_are_named(world: World) -> None:
    source = made(world, "🟡 User lives in Paris.", 1, 2, Kind.OBSERVATION)
    [reflection] = condensed(world, "condensed", of=(source,))
    assert ("same_events", source.id, Status.SUPERSEDED) in memories(deleted(world, reflection))


def test_what_the_answer_names_already_is_not_named_again(world: World) -> None:
    source = made(world, "🟡 User lives in Paris.", 1, 2, Kind.OBSERVATION)
    [reflection] = condensed(world, "condensed", of=(source,))
    answer = deleted(world, source)
    assert (answer.derived, memories(answer)) == ([reflection.id], [])


def test_many_copies_are_named_in_part(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_NAMED", 3)
    gone, *_ = (made(world, f"fact {n}", 1, 1, Kind.FACT) for n in range(5))
    answer = deleted(world, gone)
    assert answer.also_in is not None
    assert (len(answer.also_in.copies), answer.also_in.complete) == (3, False)


@pytest.mark.parametrize("count", [3, 150])
def test_the_reads_do_not_grow_with_what_there_is(world: World, count: int) -> None:
    """Beside the deletion's own three reads and its write, and the query of packs."""
    keys = world.user("ann").of_session("s1").keys
    gone = made(world, "lives in Paris", 1, 2, Kind.FACT)
    observation = made(world, "🟡 User lives in Paris.", 1, 2, Kind.OBSERVATION)
    for n in range(count):
        made(world, f"fact {n}", 1, 2, Kind.FACT)
        key = keys.document(f"/notes/{n:03d}")
        head: Item = {"pk": key.pk, "sk": key.sk, "type": "document", "path": f"/notes/{n:03d}", "id": f"doc_{n}"}
        head |= {"tokens": 1, "rev": 1, "created_at": gone.created_at}
        world.table.write([Put(head, Expect.ANY)])
    filing = replace(read_filing("s1", None), filed_seq=6, read_to=6)
    world.table.write([put_filing(keys, filing)])
    condensed(world, "condensed", of=(observation,))
    world.table.calls.clear()
    answer = deleted(world, gone)
    own = {"get_many": 1, "get": 2, "query": 1, "write": 1}
    calls = {name: world.table.calls[name] - own[name] for name in own}
    assert calls["get_many"] <= 2 and calls["query"] <= 8 and sum(calls.values()) <= 10
    assert (calls["get"], calls["write"]) == (0, 0)
    assert answer.also_in is not None and answer.also_in.complete is (count == 3)
