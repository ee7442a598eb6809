"""Work that outlives its worker ends in the same way, whatever becomes of its workers (docs/rules/jobs.md#work)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from local.controls.fixture_embedder import MANY, FixtureEmbedder
from neve.domain.documents.change import DocumentChange
from neve.domain.jobs.time_limits import LEASE_S
from neve.domain.recall.query import shape
from neve.domain.records.documents import Document
from neve.domain.records.epochs import Summary
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.observing import Condensed, CondensedRow, CondenseInput, Question
from neve.ports.errors import NotYetAnswered
from neve.ports.queue import Message, QueueName
from neve.ports.search import SearchFilter
from neve.ports.table import Key, key_of
from neve.store import rows
from neve.store.keys import MEMORY
from neve.store.partitions import all_rows
from neve.usecases.ask.memories.list_memories import MemoryFilter, list_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.tenants.tenant_usage import tenant_usage
from neve.usecases.core.jobs.queued_jobs import ERASURE, EXPORT, FORGET, HANDED_IN, NIGHT, REINDEX, RETENTION
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.forget import listed
from neve.usecases.tell.forget.confirm import confirm_forgetting
from neve.usecases.tell.forget.list_to_forget import ToForget, list_to_forget
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.requests.request_export import request_export
from neve.usecases.tell.tenants.write_policy import write_policy
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.background.steps import steps
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.compact import retain_logs
from neve.usecases.work.erase.erase_user import SETTLE_S
from neve.usecases.work.erase.user_stores import JOBS, ROWS, SHARED
from neve.usecases.work.export import export_user
from neve.usecases.work.forget import forget_listed
from neve.usecases.work.reflect.reflect_user import NightReport
from neve.usecases.work.reflect.request_reflection import request_reflection
from neve.usecases.work.reflect.run import new_night
from neve.workers.job_worker import work
from tests.unit.erase.kept import left, live
from tests.unit.fates import FATES, Fate, Ports, meet
from tests.unit.recall_world import RecallWorld
from tests.unit.retention import cover, with_images
from tests.unit.world import ScriptedObserver

QUEUES = (QueueName.JOBS, QueueName.REFLECT)


# --- kinds of work ------------------------------------------------------------------------------


def ask_for_export(world: RecallWorld) -> None:
    """Of everything that an export has, more than one line."""
    for n in range(4):
        world.remember(f"Memory {n}.")
        write_document(world.user(), f"/notes/{n}", DocumentChange(text=f"Note {n}."))
        artifact = Document(f"/artifacts/{n}", f"Output {n}.", 4, 1, "2026-03-10T09:30:00.000Z")
        world.rows.write([rows.put_artifact(world.user().keys, artifact)])
    for session in ("s1", "s2"):
        world.open(session=session)
        world.say(*(f"Message {n}." for n in range(4)), session=session)
    summary = Summary("s1", 1, 1, 4, "brief", "extract", 1, "2026-03-10T09:30:00.000Z")
    world.rows.write([rows.put_summary(world.session.keys, summary)])
    request_export(world.user())


def exported(world: RecallWorld) -> object:
    """The lines, and that they are in the parts which the job names."""
    [item] = [item for item in all_rows(world.rows, world.tenant.keys.jobs) if item["kind"] == EXPORT]
    job = read_admin_job(world.scope, item["id"])
    bodies = [world.objects.get(name) or b"" for name in world.objects.list(world.user().keys.exports_prefix)]
    assert job.status == "done", job
    assert [(part["bytes"], part["lines"]) for part in job.result["parts"]] == [
        (len(body), body.count(b"\n")) for body in bodies
    ]
    lines = [json.loads(line) for line in b"".join(bodies).splitlines()]
    assert job.result["lines"] == Counter(line["type"] for line in lines)
    told = ("type", "text", "path", "session_id", "seq", "content")
    return [[line.get(name) for name in told] for line in lines]


def ask_for_forgetting(world: RecallWorld) -> None:
    """Of six memories, of which one is edited and one deleted behind the list, and of a conversation."""
    memories = [world.remember(f"Memory {n}.", session_id="s1") for n in range(6)]
    world.say("I moved to Porto.", "Noted.")
    read_pack(world.session)
    where = MemoryFilter(of_sessions=("s1",))
    shown = list_to_forget(world.user(), ToForget(where, conversations=True))
    update_memory(world.user(), memories[1], MemoryChange({"text": "Memory, edited."}), None)
    delete_memory(world.user(), memories[2], None)
    world.remember("Memory 7.", session_id="s1")
    confirm_forgetting(world.user(), shown.confirm or "")


def forgotten(world: RecallWorld) -> object:
    """What is left, and the receipt without its ids."""
    [item] = [item for item in all_rows(world.rows, world.tenant.keys.jobs) if item["kind"] == FORGET]
    job = read_admin_job(world.scope, item["id"])
    assert job.status == "done", job
    left = [memory.text for memory in list_memories(world.user(), MemoryFilter(), 50, None)[0]]
    assert left == ["Memory, edited.", "Memory 7."]
    counted = {name: len(value) if isinstance(value, list) else value for name, value in job.result.items()}
    return counted, rows.read_session(world.rows.get(world.session.keys.session_head) or {}).erased


def let_events_expire(world: RecallWorld) -> None:
    """Most of a log with images and an artifact, beside two that are not old enough."""
    world.with_policy(retention_days=30)
    world.say("I like the river.", "Noted.", *(f"I moved to Porto, {n}." for n in range(8)))
    with_images(world.session, 5, each=2)
    keys, result = world.session.keys, world.rows.get(world.session.keys.event(6)) or {}
    artifact = Document("/artifacts/s1/6", "of Porto", 4, 1, iso(world.clock.now()), session_id="s1", seq=6)
    world.rows.write([rows.put_artifact(keys, artifact), rows.put_pruned(result, "Noted.", artifact.path)])
    world.clock.move(days=20)
    world.say("I like the wine.", "Good.", "And the sea.", "Fine.")
    world.pump()
    cover(world.session, 3, 12)
    world.clock.move(days=20)


def retained(world: RecallWorld) -> object:
    """The rows, objects and passages that are left, and that none is found by what was removed."""
    keys, porto = world.user().keys, shape("Porto").text_query
    assert world.index.search_text(keys.owner, porto, SearchFilter(), 9).candidates == []
    archived = rows.read_job(world.rows.get(world.session.keys.archived) or {})
    return rows_of(world), world.objects.list(""), world.index.count(keys.owner), archived.state["cursor"]


def ask_for_erasure(world: RecallWorld) -> None:
    live(world, "ann")
    request_erasure(world.user(), close=False)


def erased(world: RecallWorld) -> object:
    """What is left, and which stores the receipt says to be empty. Not how many rows beside them: the sweep may have
    taken away before that a session is open."""
    [item] = [item for item in all_rows(world.rows, world.tenant.keys.jobs) if item["kind"] == ERASURE]
    job = read_admin_job(world.scope, item["id"])
    assert job.status == "done" and left(world, "ann") == [], job
    counted = {name: one["deleted"] for name, one in job.result["receipt"].items() if name in (*ROWS, *SHARED, JOBS)}
    return counted | {"rows": counted["rows"] > 0}, rows_of(world), world.objects.list("")


class Condenser(ScriptedObserver):
    """Makes one row of each batch, but nothing of one of them. What is handed in is answered at the second look."""

    def __init__(self) -> None:
        super().__init__()
        self.handed_in: dict[str, int] = {}

    def hand_in(self, given: Sequence[Question]) -> str | None:
        name = f"batch_{len(self.handed_in)}_{len(given)}"
        self.handed_in[name] = 0
        return name

    def withdraw(self, handed_in: str) -> None:
        self.handed_in[handed_in] = -1

    def condense(self, given: CondenseInput) -> Condensed:
        if given.handed_in is not None and self.handed_in[given.handed_in] != -1:
            self.handed_in[given.handed_in] += 1
            if self.handed_in[given.handed_in] == 1:
                raise NotYetAnswered(given.handed_in)
        rows_ = () if "Memory 2" in given.groups[0].text else (CondensedRow(f"🔴 {len(given.groups)} rows"),)
        return Condensed(rows_, "scripted", usage={"input": 1})


def ask_for_night(world: RecallWorld) -> None:
    """Of two users, with more than one batch, of which one comes to nothing."""
    world.with_policy(session_reflection_trigger=8)
    remember_long_ago(world)
    request_reflection(world.scope, None, None)


def remember_long_ago(world: RecallWorld) -> None:
    """Five memories of each of two users."""
    old = iso(world.clock.now() - timedelta(days=9))
    for user in ("ann", "bob"):
        told = [
            ImportedRow(text=f"🟡 Memory {n}.", id=f"mem_{user}{n}", kind=Kind.OBSERVATION, created_at=old)
            for n in range(5)
        ]
        import_memories(world.user(user), told)
    world.pump()


def ask_for_handed_in(world: RecallWorld) -> None:
    """A night of each of two users, of whom the first has handed in already."""
    world.with_policy(session_reflection_trigger=8, reflection_min_rows=1, nightly_model="batch")
    remember_long_ago(world)
    now = world.clock.now()
    for user in ("ann", "bob"):
        keys = world.user(user).keys
        night = new_night(keys, f"job_{world.ids.ulid(now)}", now, iso(now), regardless=False)
        world.rows.write([rows.put_queued_job(keys, night, rows.read_head(world.rows.get(keys.head)).incarnation)])
    first = waiting(world)[0]
    work(world, first.body, lambda: 900.0)


def taken_back(world: RecallWorld) -> object:
    """What is active, and what the nights count: whichever way they were answered. Nothing waits to be deleted."""
    found = [rows.read_job(item) for item in all_rows(world.rows, world.tenant.keys.jobs)]
    assert not [job for job in found if job.kind == HANDED_IN], found
    nights = {job.user_id: dict(job.result) for job in found if job.kind == NIGHT and job.status == "done"}
    assert all(result.pop("nightly_model") == "batch" for result in nights.values()), nights
    return active_of(world), sorted(nights.items(), key=str)


def active_of(world: RecallWorld) -> list[tuple[str, tuple[str, ...]]]:
    """The texts that are active, and what they were made of."""
    kept = [memory for user in ("ann", "bob") for memory in memories_of(world, user)]
    return sorted((m.text, m.supersedes) for m in kept if m.status is Status.ACTIVE)


def condensed(world: RecallWorld) -> object:
    """What is active, what the run counts, and what it cost."""
    [item] = [
        item for item in all_rows(world.rows, world.tenant.keys.jobs) if item["kind"] == NIGHT and "user_id" not in item
    ]
    job = rows.read_job(item)
    assert job.status == "done", job
    due = [world.rows.get(world.user(user).keys.reflect_due) for user in ("ann", "bob")]
    return active_of(world), job.result, tenant_usage(world.scope).usage, [row and row["since"] for row in due]


def ask_for_other_languages(world: RecallWorld) -> None:
    """Of two users with memories and a log each."""
    world.inner_multi = FixtureEmbedder(MANY)
    world.with_policy()
    for user in ("ann", "bob"):
        for n in range(3):
            world.remember(f"The sister drives car {n}.", user=user)
        world.open(user=user)
        world.say("My brother rides a bicycle.", "Noted.", user=user)
    world.pump()
    write_policy(world.scope, Policy(languages="multi"))
    world.tenant = tenant_scope(world, "acme").tenant


def reindexed(world: RecallWorld) -> object:
    """What is found by meaning alone, by the new model, and which models the rows name."""
    [item] = [item for item in all_rows(world.rows, world.tenant.keys.jobs) if item["kind"] == REINDEX]
    job = rows.read_job(item)
    world.forget()
    world.tenant = tenant_scope(world, "acme").tenant
    assert job.status == "done" and world.tenant.reindexed, job
    answers = [world.ask("sibling automobile bike", user=user, k=9) for user in ("ann", "bob")]
    assert all(answer.degraded == [] and len(answer.hits) == 4 for answer in answers), answers
    models = {memory.embedding_model for user in ("ann", "bob") for memory in memories_of(world, user)}
    assert models == {MANY.tag}
    return [sorted(hit.text for hit in answer.hits) for answer in answers]


def memories_of(world: RecallWorld, user: str) -> list[Memory]:
    return [rows.read_memory(item) for item in all_rows(world.rows, world.user(user).keys.partition, prefix=MEMORY)]


@dataclass(frozen=True)
class Case:
    ask: Callable[[RecallWorld], None]
    result: Callable[[RecallWorld], object]


KINDS = {
    ERASURE: Case(ask_for_erasure, erased),
    EXPORT: Case(ask_for_export, exported),
    FORGET: Case(ask_for_forgetting, forgotten),
    HANDED_IN: Case(ask_for_handed_in, taken_back),
    NIGHT: Case(ask_for_night, condensed),
    REINDEX: Case(ask_for_other_languages, reindexed),
    RETENTION: Case(let_events_expire, retained),
}


def test_every_kind_is_disturbed(tmp_path: Path) -> None:
    with world_of(tmp_path) as world:
        assert KINDS.keys() == steps(world.user(), NightReport()).keys()


# --- what becomes of workers --------------------------------------------------------------------


def deliver(world: RecallWorld, message: Message, fate: Fate) -> None:
    """To one worker."""

    def another() -> None:
        work(world, message.body, lambda: 900.0)

    meet(world, fate, lambda ports, left: work(ports, message.body, left), another, dead_after_s=LEASE_S)
    if fate.what == "is repeated":
        for _ in range(10):
            another()


def to_the_end(world: RecallWorld) -> None:
    """With what the sweep finds, until it finds nothing more."""
    for _ in range(9):
        for message in waiting(world):
            deliver(world, message, Fate("ends", 0))
        world.clock.move(seconds=SETTLE_S)
        sweep_due(world)
        if not any(queue in QUEUES for queue, _ in world.queue.sent):
            return
    raise AssertionError("it has no end")


def waiting(world: RecallWorld) -> list[Message]:
    """What the queues hold."""
    world.dispatch()
    return [message for queue in QUEUES for message in world.taken(queue)]


def rows_of(world: RecallWorld) -> set[Key]:
    """All that there are of the user."""
    keys = world.user().keys
    found = {key_of(item) for name in (keys.partition, keys.vectors) for item in all_rows(world.rows, name)}
    return found.union(*(map(key_of, all_rows(world.rows, keys.of_session(one).log)) for one in ("s1", "s2")))


@contextmanager
def world_of(folder: Path) -> Iterator[RecallWorld]:
    world = RecallWorld.make(folder)
    world.with_policy()
    world.open()
    with (
        mock.patch.multiple(export_user, PART_BYTES=500),
        mock.patch.multiple(forget_listed, BATCH=2),
        mock.patch.multiple(listed, PART_ENTRIES=3),
        mock.patch.object(RecallWorld, "observer", Condenser()),
        mock.patch.multiple(retain_logs, EVENT_BATCH_SIZE=4, IMAGE_BATCH_SIZE=2),
    ):
        try:
            yield world
        finally:
            world.close()


@contextmanager
def asked_for(kind: str) -> Iterator[RecallWorld]:
    """A world with such work, of which the sweep has told."""
    with TemporaryDirectory() as folder, world_of(Path(folder)) as world:
        KINDS[kind].ask(world)
        sweep_due(world)
        yield world


def result_of(kind: str, fates: list[Fate]) -> object:
    """Of such work whose first workers have these fates."""
    with asked_for(kind) as world:
        for fate in fates:
            for message in waiting(world)[:1]:
                deliver(world, message, fate)
            world.clock.move(seconds=LEASE_S)
            sweep_due(world)
        to_the_end(world)
        return KINDS[kind].result(world)


@pytest.fixture(scope="module", params=sorted(KINDS))
def undisturbed(request: pytest.FixtureRequest) -> tuple[str, object]:
    """A kind of work, and its result."""
    return request.param, result_of(request.param, [])


QUICK = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@QUICK
@given(fates=st.lists(FATES, min_size=1, max_size=4))
def test_work_ends_as_it_does_undisturbed(undisturbed: tuple[str, object], fates: list[Fate]) -> None:
    kind, result = undisturbed
    assert result_of(kind, fates) == result


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(QUICK, max_examples=8)
@given(n=st.integers(1, 30))
def test_work_of_a_user_who_is_erased_meanwhile_leaves_nothing(kind: str, n: int) -> None:
    """The first removal is over when the worker goes on, the second one comes when no worker is left."""
    with asked_for(kind) as world:
        effects = 0

        def behind(_: Sequence[Any]) -> None:
            nonlocal effects
            effects += 1
            if effects == n:
                request_erasure(world.user(), close=False)
                for erasure in waiting(world):
                    work(world, erasure.body, lambda: 900.0)

        for message in waiting(world)[:1]:
            work(Ports(world, behind), message.body, lambda: 900.0)
        if effects < n:
            return
        world.clock.move(seconds=SETTLE_S)
        sweep_due(world)
        to_the_end(world)
        assert rows_of(world) == {world.user().keys.head}
        assert (world.objects.list(""), world.index.count(world.user().keys.owner)) == ([], 0)
