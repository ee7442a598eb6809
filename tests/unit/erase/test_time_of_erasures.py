"""A worker of an erasure looks at its time between pieces of bounded size, whatever a user has and a tenant holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from local.engine import file_objects
from neve.domain.jobs.time_limits import SPARE_S
from neve.domain.records.jobs import Job
from neve.domain.records.sessions import SessionHead
from neve.domain.times import iso
from neve.ports.table import Expect, Put
from neve.store import rows
from neve.store.keys import Keys, UserKeys
from neve.usecases.core.jobs.carry_on import carry_on
from neve.usecases.core.jobs.queued_jobs import ERASURE
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.work.background.read_admin_job import read_admin_job
from neve.usecases.work.erase.erase_user import SETTLE_S
from neve.usecases.work.erase.run_erasure import erase_next
from tests.unit.erase.kept import left, live
from tests.unit.recall_world import RecallWorld

ANN = UserKeys("acme", "ann")
CALLS, ROWS = 130, 1_400
"""The most of a piece: a transaction of 99 rows whose sessions were looked through one by one, and a page of jobs."""
NAMES = 110
"""Of one page, more than one transaction takes: a piece may begin with what the page before has left."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    create_tenant(made, "acme", "first")
    yield made
    made.close()


class Counted:
    """A port, with how many calls were made, and rows and names of objects were read, since anybody looked at the
    time."""

    def __init__(self, port: Any, counts: dict[str, int]) -> None:
        self._port, self._counts = port, counts

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self._counts["calls"] += 1
            found = method(*args, **kwargs)
            self._counts["rows"] += len(getattr(found, "items", ())) if name == "query" else 0
            self._counts["names"] += len(found) if name in ("list", "page") else 0
            return found

        return call


def run(world: RecallWorld, asked: Job, seconds_left: Callable[[], float]) -> None:
    carry_on(world.user(), ERASURE, asked.id, erase_next, seconds_left)


def many(world: RecallWorld, make: Callable[[int], Put], count: int) -> None:
    puts = [make(n) for n in range(count)]
    for start in range(0, count, 100):
        world.rows.write(puts[start : start + 100])


def a_session(number: int) -> Put:
    """In which nothing was said."""
    return rows.put_session(ANN, SessionHead(f"s{number:04d}", status="open", started_at="2026-03-10T09:00:00.000Z"))


def a_job_of(user: str, at: str) -> Callable[[int], Put]:
    return lambda n: rows.put_job(ANN, Job(f"job_{user:0>22}{n:04d}", "compact", "done", at, user_id=user))


def an_answer(number: int) -> Put:
    key = Keys("acme").idempotency("POST /v1/users/ann/memories", f"k{number}")
    return Put({"pk": key.pk, "sk": key.sk, "type": "idempotency"}, Expect.ANY)


def test_no_worker_goes_on_for_long_without_a_look_at_its_time(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_objects, "MAX_KEYS", NAMES)
    live(world, "ann")
    at = iso(world.clock.now())
    many(world, a_session, 600)
    many(world, a_job_of("bob", at), 2_500)
    many(world, a_job_of("ann", at), 1_500)
    many(world, an_answer, 250)
    for number in range(250):
        world.objects.put(ANN.image_object(f"i{number}"), b"png", content_type="image/png")
    asked = request_erasure(world.user(), close=False)
    counts, most = {"calls": 0, "rows": 0, "names": 0}, {"calls": 0, "rows": 0, "names": 0}

    def look() -> float:
        for name, count in counts.items():
            most[name], counts[name] = max(most[name], count), 0
        return 900.0

    for port in ("table", "objects", "search"):
        setattr(world, port, Counted(getattr(world, port), counts))
    run(world, asked, look)
    world.clock.move(seconds=SETTLE_S)
    run(world, asked, look)
    look()
    receipt = read_admin_job(world.scope, asked.id).result["receipt"]
    assert (receipt["images"]["deleted"], receipt["answers"]["deleted"], receipt["jobs"]["deleted"]) == (251, 250, 1501)
    assert left(world, "ann") == []
    assert most["calls"] <= CALLS and most["rows"] <= ROWS and most["names"] <= 2 * NAMES, most


def test_the_next_worker_begins_with_the_sessions_that_are_left(world: RecallWorld) -> None:
    """Each session costs a look into its log: who began with the first again and again would never be done."""
    many(world, a_session, 600)
    asked = request_erasure(world.user(), close=False)
    counts, logs = {"calls": 0, "rows": 0, "names": 0}, list[str]()
    query = world.table.query

    def noted(partition: str, **given: Any) -> Any:
        if partition.startswith(f"{ANN.partition}#S#"):
            logs.append(partition)
        return query(partition, **given)

    world.table = cast("Any", Counted(world.table, counts))
    world.table.query = noted  # type: ignore[method-assign]
    workers = 0
    while not read_admin_job(world.scope, asked.id).state.get("cursor", {}).get("settled"):
        times = iter([900.0, 900.0, 900.0])
        run(world, asked, lambda times=times: next(times, SPARE_S - 1))  # type: ignore[misc]
        workers += 1
    assert (workers, len(logs), len(set(logs))) == (3, 600, 600)


class Passages:
    """A search index that holds some of a user, and removes as many as it is asked to."""

    def __init__(self, count: int) -> None:
        self.left = count

    def erase(self, _: object, *, at_most: int) -> int:
        erased = min(self.left, at_most)
        self.left -= erased
        return erased

    def count(self, _: object) -> int:
        return self.left


def test_many_passages_are_removed_by_one_worker_behind_the_other(world: RecallWorld) -> None:
    world.search = cast("Any", Passages(12_000))
    asked = request_erasure(world.user(), close=False)
    for left_then in (7_000, 2_000, 0):
        run(world, asked, lambda: SPARE_S - 1)
        assert world.search.count(ANN.owner) == left_then
    run(world, asked, lambda: 900.0)
    job = read_admin_job(world.scope, asked.id)
    assert (job.state["cursor"]["settled"], job.result["deleted"]["passages"]) == (True, 12_000)
