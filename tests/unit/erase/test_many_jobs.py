"""A tenant with more jobs than one worker of an erasure has time to look through."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.jobs.time_limits import SPARE_S
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.ports.queue import QueueName
from neve.ports.table import Check, Delete, Expect, Item, ItemPage, Table
from neve.scope import UserData
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.core.jobs.queued_jobs import ERASURE, NIGHT, job_message
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.erase import user_jobs
from neve.usecases.work.erase.erase_user import SETTLE_S
from neve.usecases.work.erase.user_jobs import remove_jobs
from neve.workers.job_worker import work
from tests.contract.engines.registry import TABLES
from tests.simulation.engines.memory_table import MemoryTable
from tests.unit.recall_world import RecallWorld
from tests.unit.world import HandClock

ANN = UserKeys("acme", "ann")
CREATED = "2026-03-10T09:00:00.000Z"
PAGE = 10


@dataclass
class Read:
    """The table, with how many pages of the tenant's jobs were read; ``before_page`` runs before each of them."""

    table: Table
    pages: int = 0
    before_page: Callable[[int], object] = field(default=lambda _: None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def query(self, partition: str, **asked: Any) -> ItemPage:
        if partition == ANN.jobs:
            self.pages += 1
            self.before_page(self.pages)
        return self.table.query(partition, **asked)


@pytest.fixture(params=["sqlite", "moto"])
def world(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecallWorld]:
    monkeypatch.setattr(user_jobs, "PAGE", PAGE)
    engine, made = TABLES[request.param], RecallWorld.make(tmp_path)
    with ExitStack() as stack:
        table = stack.enter_context(engine.connect(engine.create(tmp_path / "other")))
        made.table = cast("Any", Read(table))
        create_tenant(made, "acme", "first")
        yield made
    made.close()


@pytest.fixture(autouse=True)
def other_folder(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()


def job(number: int, user: str | None, **fields: Any) -> Job:
    """Its place among the tenant's is that of its number."""
    return Job(f"job_{number:026d}", "compact", "done", CREATED, user_id=user, finished_at=CREATED, **fields)


def store(table: Table, jobs: Sequence[Job]) -> None:
    for start in range(0, len(jobs), 50):
        table.write([rows.put_job(ANN, one) for one in jobs[start : start + 50]])


def stored(table: Any) -> list[Item]:
    """All jobs but erasures; that nobody counts."""
    found = table.table.query(ANN.jobs, limit=1000).items
    return [item for item in found if item["kind"] != ERASURE]


def run(world: RecallWorld, looks: int) -> int:
    """The jobs queue until it is empty, by workers whose time is over when they look at it for the last time; how many
    of them there were."""
    workers = 0
    while messages := world.taken(QueueName.JOBS):
        for message in messages:
            left = iter([900.0] * (looks - 1))
            work(world, message.body, lambda left=left: next(left, SPARE_S - 1))  # type: ignore[misc]
            workers += 1
    return workers


def ask(world: RecallWorld) -> Job:
    """What a tenant asks for, and the outbox sends."""
    asked = request_erasure(world.user(), close=False)
    world.queue.sent.append((QueueName.JOBS, job_message(ANN, ERASURE, asked.id)))
    return asked


def settle(world: RecallWorld) -> None:
    world.clock.move(seconds=SETTLE_S)
    sweep_due(world)


def test_an_erasure_ends_however_many_jobs_the_tenant_has(world: RecallWorld) -> None:
    """Each worker goes on where the one before stopped: a look through all of them, and one behind the wait."""
    own, others = [job(n, "ann") for n in (0, 37, 38, 99)], [job(n, "bob") for n in range(1, 98) if n not in (37, 38)]
    store(world.table, own + others)
    before = [item for item in stored(world.table) if item["user_id"] == "bob"]
    asked = ask(world)
    read = cast("Read", world.table)
    assert run(world, looks=4) == 3, "four pages each, of ten"
    assert (stored(world.table), read.pages) == (before, 11)
    assert read_admin_job(world.scope, asked.id).status == "running"
    settle(world)
    assert run(world, looks=4) == 3
    done = read_admin_job(world.scope, asked.id)
    assert (done.status, read.pages) == ("done", 22)
    assert done.result["receipt"]["jobs"]["deleted"] == len(own)
    assert done.result["receipt"]["jobs"]["verified_empty_at"] == iso(world.clock.now())
    assert stored(world.table) == before
    assert "jobs" not in done.state
    assert rows.read_head(world.table.get(ANN.head)).state == "active"


def test_a_job_that_comes_behind_the_place_is_found_by_the_next_look(world: RecallWorld) -> None:
    """A worker that began before the erasure makes the row of its message, whose id follows from what it is about."""
    store(world.table, [job(n, "bob") for n in range(1, 47)])
    asked = ask(world)
    read = cast("Read", world.table)
    read.before_page = lambda page: store(world.table, [job(0, "ann")]) if page == 4 else None
    run(world, looks=4)
    assert [item["user_id"] for item in stored(world.table)][:2] == ["ann", "bob"], "it was passed by"
    settle(world)
    run(world, looks=4)
    done = read_admin_job(world.scope, asked.id)
    assert (done.status, done.result["receipt"]["jobs"]["deleted"]) == ("done", 1)
    assert {item["user_id"] for item in stored(world.table)} == {"bob"}
    assert read.pages == 3 * 6, "the look that has found something is no proof: there is one more"


def test_a_look_that_found_something_before_its_worker_handed_on_is_no_proof_either(world: RecallWorld) -> None:
    store(world.table, [job(n, "bob") for n in range(1, 47)])
    asked = ask(world)
    run(world, looks=100)
    store(world.table, [job(0, "ann")])
    settle(world)
    read = cast("Read", world.table)
    read.pages = 0
    run(world, looks=4)
    assert read_admin_job(world.scope, asked.id).status == "done"
    assert read.pages == 2 * 6


KINDS = st.sampled_from(["compact", ERASURE, "part", "open part"])


@given(
    jobs=st.lists(st.tuples(st.sampled_from(["ann", "annie", "bob", None]), KINDS), max_size=25),
    page=st.integers(1, 7),
    at_most=st.integers(2, 4),
)
def test_page_by_page_all_of_the_users_jobs_go_and_no_others(
    jobs: list[tuple[str | None, str]], page: int, at_most: int
) -> None:
    """An open part of a tenant's run is counted there."""
    table = MemoryTable()
    made = [_of_kind(n, user, kind) for n, (user, kind) in enumerate(jobs)]
    store(table, made)
    before = {item["sk"]: item for item in table.query(ANN.jobs, limit=100).items}
    data = UserData(cast("Any", _Ports(table)), ANN)
    behind, removed = "", 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(user_jobs, "PAGE", page)
        while True:
            ops, behind = remove_jobs(data, behind, at_most)
            if not behind:
                break
            assert len(ops) <= at_most
            table.write([*ops, Check(ANN.head, Expect.ABSENT)])
            removed += sum(isinstance(op, Delete) for op in ops)
    left = {item["sk"]: item for item in table.query(ANN.jobs, limit=100).items}
    own = {ANN.job(one.id).sk: one for one in made if one.user_id == "ann" and one.kind != ERASURE}
    assert left == {sk: item for sk, item in before.items() if sk not in own}
    parts = table.query(ANN.job_parts, limit=100).items
    assert sum(part["users"] for part in parts) == sum(not one.ended for one in own.values())
    assert removed == len(own)


def _of_kind(number: int, user: str | None, kind: str) -> Job:
    made = job(number, user, state={"run": "job_1"})
    if kind == ERASURE:
        return replace(made, kind=kind)
    if kind == "compact":
        return made
    return replace(made, kind=NIGHT, status="done" if kind == "part" else "running")


@dataclass(frozen=True)
class _Ports:
    table: Table
    clock: HandClock = field(default_factory=HandClock)
