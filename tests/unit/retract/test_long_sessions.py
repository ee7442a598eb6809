"""What is taken back of a long session, of a user with many memories, costs what it holds: a worker has 60 s for it."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from local.engine import file_objects
from neve.domain.memories.text import fingerprint
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind, Memory, Priority, Provenance, Scope, Status, Tier
from neve.domain.records.sessions import EventType
from neve.domain.retract.derived import consequences
from neve.observing import Observed
from neve.store import rows
from neve.store.partitions import pages
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.pack import purge_versions
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.requests.request_export import request_export
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.export.export_user import export_part
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.retract import erase_retracted
from neve.usecases.work.retract.find_derived import find_derived
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.pictures import TINY_PNG
from tests.unit.world import World, observed_line

PNG = TINY_PNG
looks: Counter[str] = Counter()


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    return world


class Sources(tuple[str, ...]):
    """Counts how often somebody looks what a memory has replaced."""

    __slots__ = ()

    def __contains__(self, one: object) -> bool:
        looks["supersedes"] += 1
        return super().__contains__(one)

    def __iter__(self) -> Iterator[str]:
        looks["supersedes"] += 1
        return super().__iter__()


def memory(name: str, kind: Kind, seq: int, *sources: str) -> Memory:
    return Memory(
        id=name,
        kind=kind,
        tier=Tier.EPISODIC,
        scope=Scope.SESSION,
        text=name,
        priority=Priority.MEDIUM,
        importance=3,
        fingerprint=fingerprint(name),
        provenance=Provenance("user_stated", "s1", seq, seq),
        supersedes=Sources(sources),
        status=Status.SUPERSEDED if kind is Kind.OBSERVATION else Status.ACTIVE,
        died_gen=1 if kind is Kind.OBSERVATION else None,
        created_at="",
        observed_at="",
        last_used_at="",
        tokens=1,
        rev=1,
        born_gen=1,
    )


def test_each_memory_is_looked_at_a_few_times() -> None:
    count = 200
    known: list[Memory] = []
    for n in range(1, count + 1):
        known += [memory(f"o{n}", Kind.OBSERVATION, n), memory(f"r{n}", Kind.REFLECTION, n, f"o{n}")]
    looks.clear()
    outcome = consequences(known, "s1", ((1, count),), 1)
    assert len(outcome.leave) == count
    assert looks["supersedes"] <= 10 * len(known)


@pytest.mark.parametrize("count", [3, 30])
def test_a_fact_that_was_said_once_costs_no_reading_of_the_log(world: World, count: int) -> None:
    for n in range(1, count + 1):
        fact = ProposedFact(f"User likes tea number {n}.", "PREFERENCE", 3, "user_stated", "new", None, n, n)
        world.say(f"I like tea number {n}.")
        world.observer.answers.append(Observed(False, (), "scripted", facts=(fact,)))
        observe_session(world.user().of_session("s1"), 1, closing=True)
    scope = world.user().of_session("s1")
    retract_events(scope, Retract(1, count, "deleted"))
    [item] = world.table.query(scope.keys.log, prefix="RET#", limit=2).items
    world.table.calls.clear()
    found = find_derived(scope, 1, rows.read_retraction(item))
    assert len(found.outcome.leave) == count
    assert world.table.calls["query"] <= 2


# --- deletions ------------------------------------------------------------------------------------


def deletion(world: World) -> dict[str, Any]:
    """The message of its job."""
    answer = retract_events(world.user().of_session("s1"), Retract(1, None, "deleted"))
    return dict(message_of_row(world.table.get(world.tenant.keys.job(answer.job_id)) or {}).body)


def left_off(world: World, message: dict[str, Any]) -> list[str]:
    """Where each worker stopped, until the job is done. A worker has too little time left for another round as soon as
    it has begun."""
    places: list[str] = []
    while True:
        seconds_left = partial(next, iter([60.0]), 5.0)
        report = run_retraction(world.user().of_session("s1"), message, seconds_left)
        assert report is not None
        if report.left_off_at is None:
            return places
        places.append(report.left_off_at)
        assert len(places) < 10, "the job does not get on"


def erased(world: World, message: dict[str, Any]) -> dict[str, Any]:
    job = rows.read_job(world.table.get(world.tenant.keys.job(message["job_id"])) or {})
    assert job.status == "done"
    return dict(job.result["erased"])


def test_what_a_worker_has_no_time_for_is_the_next_ones(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue hides the message of one that is cut off for six minutes, with all that the session waits for, and the
    fifth time it is a dead letter."""
    monkeypatch.setattr(erase_retracted, "ROUND", 2)
    world.say("one", "two", "three", "four", "five")
    message = deletion(world)
    places = left_off(world, message)
    assert len(places) == len(set(places)) == 3, "a message that stands where it stood is given up"
    assert (erased(world, message)["events"], erased(world, message)["verified"]) == (5, True)


def test_images_are_handed_on_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase_retracted, "IMAGE_BATCH_SIZE", 1)
    content = [
        {"type": "image", "media_type": "image/png", "data": base64.b64encode(PNG + bytes([n])).decode()}
        for n in range(3)
    ]
    append_events(world.user().of_session("s1"), [NewEvent(EventType.USER_MESSAGE, content)])
    message = deletion(world)
    assert len(left_off(world, message)) == 3
    receipt = erased(world, message)
    assert (receipt["events"], receipt["images"]) == (1, 3)
    assert world.objects.list(world.user().keys.objects["images"]) == []


def test_memories_are_handed_on_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who goes on finds what those before have erased, and needs no more time for it."""
    monkeypatch.setattr(erase_retracted, "DELETED", 2)
    monkeypatch.setattr(erase_retracted, "ROUND", 2)
    for n in range(5):
        seqs = world.say(f"tea number {n}").seqs
        world.observer.answers.append(observed_line(f"🔴 User likes tea number {n}", seqs[0], seqs[-1]))
        observe_session(world.user().of_session("s1"), 1, closing=True)
    message = deletion(world)
    places = left_off(world, message)
    assert len(places) == len(set(places)) == 6, "a message that stands where it stood is given up"
    receipt = erased(world, message)
    assert (receipt["events"], receipt["memories"], receipt["verified"]) == (5, 5, True)


@pytest.mark.parametrize("dies", [False, True])
def test_packs_are_handed_on_too(world: World, monkeypatch: pytest.MonkeyPatch, dies: bool) -> None:
    """Each version of a session holds what the session said, and so may those of all others; also behind a worker that
    is cut off."""
    monkeypatch.setattr(purge_versions, "pages", partial(pages, page=2), raising=False)
    monkeypatch.setattr(file_objects, "MAX_KEYS", 2)
    seqs = world.say("tea").seqs
    world.observer.answers.append(observed_line("🔴 User likes tea", seqs[0], seqs[-1]))
    observe_session(world.user().of_session("s1"), 1, closing=True)
    for n in range(7):
        create_memory(world.user(), NewMemory(f"User likes tea number {n}", Kind.MANUAL))
        build_pack(world.user().of_session("s1"), "horizon")
    message, delete = deletion(world), world.objects.delete

    def killed(key: str) -> None:
        if key.endswith("/00000004.json"):
            del world.objects.delete
            raise InterruptedError
        delete(key)

    if dies:
        world.objects.delete = killed  # type: ignore[method-assign]
        with pytest.raises(InterruptedError):
            left_off(world, message)
    places = left_off(world, message)
    assert len(places) == len(set(places)) >= (3 if dies else 5), "a message that stands where it stood is given up"
    receipt = erased(world, message)
    assert (receipt["packs"], receipt["verified"], receipt["rebuilt_packs"]) == (7, True, ["s1"])
    assert len(world.objects.list(world.user().keys.packs_prefix)) == 1, "what was built behind it"


def exported(world: World) -> str:
    """The job."""
    job = request_export(world.user())
    carry_on(world.user(), job.kind, job.id, export_part)
    return job.id


def test_exports_are_handed_on_too(world: World) -> None:
    world.say("tea")
    for _ in range(3):
        exported(world)
    places = left_off(world, deletion(world))
    assert len(places) == len(set(places)) >= 3
    assert world.objects.list(world.user().keys.exports_prefix) == []


def test_an_export_that_begins_between_two_workers_stays(world: World) -> None:
    """It reads nothing of what is deleted, which is gone by then."""
    world.say("tea")
    exported(world)
    message, keys = deletion(world), world.tenant.keys
    removed: dict[str, int] = {}
    while not removed.get("exports"):
        run_retraction(world.user().of_session("s1"), message, partial(next, iter([60.0]), 5.0))
        removed = rows.read_job(world.table.get(keys.job(message["job_id"])) or {}).state["counts"]
    new = exported(world)
    left_off(world, message)
    assert erased(world, message)["verified"]
    assert rows.read_job(world.table.get(keys.job(new)) or {}).status == "done"
    assert world.objects.list(world.user().keys.export_objects(new))


def many_memories(world: World, count: int) -> None:
    """Of one turn."""
    seqs = world.say("tea").seqs
    world.observer.answers.append(observed_line("🔴 User likes tea", seqs[0], seqs[-1]))
    [one] = observe_session(world.user().of_session("s1"), 1, closing=True).written
    made = world.memory(one)
    for n in range(1, count):
        another = replace(made, id=f"mem_{world.ids.ulid(world.clock.now())}", text=f"🔴 Tea no. {n}", passages=())
        world.table.write([rows.put_memory(world.user().keys, replace(another, version=0))])


def many_events(world: World, count: int) -> None:
    world.say(*(f"Tea no. {n}" for n in range(count)))


def many_images(world: World, count: int) -> None:
    """An event for each."""
    for n in range(count):
        data = base64.b64encode(PNG + str(n).encode()).decode()
        block = {"type": "image", "media_type": "image/png", "data": data}
        append_events(world.user().of_session("s1"), [NewEvent(EventType.USER_MESSAGE, [block])])


def rows_read(world: World, monkeypatch: pytest.MonkeyPatch, counted: str, count: int) -> int:
    """By a deletion that erases so many."""
    message, read, query = deletion(world), [0], world.table.query

    def counting(*given: Any, **more: Any) -> Any:
        page = query(*given, **more)
        read[0] += len(page.items)
        return page

    monkeypatch.setattr(world.table, "query", counting)
    run_retraction(world.user().of_session("s1"), message)
    assert erased(world, message)[counted] == count
    return read[0]


@pytest.mark.parametrize(
    ("make", "counted"), [(many_memories, "memories"), (many_events, "events"), (many_images, "images")]
)
def test_what_a_user_has_is_not_read_again_for_each_part_of_what_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[World, int], None], counted: str
) -> None:
    """Of 27,000 memories in parts of 500, each row was read some 30 times; of 1,000 images in parts of 50, each event
    40 times."""
    monkeypatch.setattr(erase_retracted, "ROUND", 2)
    monkeypatch.setattr(erase_retracted, "IMAGE_BATCH_SIZE", 2)
    read = []
    for count in (20, 80):
        world = World.make(tmp_path / str(count))
        world.open()
        make(world, count)
        read.append(rows_read(world, monkeypatch, counted, count))
    assert read[1] < 5 * read[0], read
