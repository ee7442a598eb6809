"""Idempotency-Key: the record, and work that runs at most once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neve.domain.errors import NeveError
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Delete, Expect
from neve.scope import TenantScope
from neve.store import idempotency
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.usecases.core.jobs import run_once as jobs
from tests.unit.api_world import Api, Reply, installed
from tests.unit.http.test_http_router import THING, failures, made, router
from tests.unit.world import World

KEY = IdempotencyKey("PUT /v1/users/ann/things/t1", "k", "a" * 64)


def run_once(scope: TenantScope, key: IdempotencyKey, work: Callable[[], StoredReply]) -> StoredReply:
    """Of work that keeps nothing in a transaction of its own (tests/unit/http/test_kept_with_the_work.py)."""
    return jobs.run_once(scope, key, lambda _: work())


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made.clear()
    failures.clear()
    yield from installed(World.make(tmp_path))


def put(api: Api, name: str, thing: str = "t1", key: str = "k") -> Reply:
    headers = {"Idempotency-Key": key}
    return api.call("PUT", THING, {"name": name}, headers=headers, user_id="ann", thing_id=thing)


def test_order_and_spacing_of_the_body_do_not_matter(world: World) -> None:
    api = Api(router)
    for raw in ('{"name":"n","size":1}', '{ "size": 1, "name": "n" }'):
        reply = api.call("PUT", THING, raw=raw, headers={"Idempotency-Key": "k"}, user_id="ann", thing_id="t1")
        assert reply.status == 200
    assert made == ["n"]


def test_record_ends_after_a_day(world: World) -> None:
    put(Api(router), "n")
    world.clock.move(hours=23, minutes=59)
    assert put(Api(router), "m").status == 422
    world.clock.move(minutes=1)
    assert put(Api(router), "m").status == 200
    assert made == ["n", "m"]


def test_a_refusal_is_not_kept(world: World) -> None:
    failures.append(NeveError("conflict", "Busy."))
    assert put(Api(router), "n").status == 409
    assert put(Api(router), "n").status == 200
    assert made == ["n"]


def test_running_call_refuses_a_second_one(world: World) -> None:
    def again() -> StoredReply:
        with pytest.raises(NeveError) as refusal:
            run_once(world.scope, KEY, lambda: StoredReply(200))
        assert refusal.value.code == "idempotency_in_progress"
        assert refusal.value.retry_after_s is not None
        assert 0 < refusal.value.retry_after_s <= 60
        return StoredReply(201, {"by": "first"})

    assert run_once(world.scope, KEY, again).body == {"by": "first"}


def test_two_claims_at_the_same_moment(world: World) -> None:
    def other() -> None:
        run_once(world.scope, KEY, lambda: StoredReply(201, {"by": "other"}))

    world.table.before_write = other
    with pytest.raises(NeveError) as refusal:
        run_once(world.scope, KEY, lambda: StoredReply(201, {"by": "us"}))
    assert refusal.value.code == "idempotency_in_progress"
    assert run_once(world.scope, KEY, lambda: StoredReply(500)).body == {"by": "other"}


class Crash(BaseException):
    """Not an Exception: nothing gets to clean up."""


def crash() -> StoredReply:
    raise Crash


def test_a_call_whose_claim_was_taken_away_keeps_no_answer_in_that_of_its_repeat(world: World) -> None:
    """As behind a deletion of what the first one has read."""

    def first() -> StoredReply:
        world.table.write([Delete(idempotency.row_key(world.scope.keys, KEY))])
        world.clock.move(seconds=1)
        with pytest.raises(Crash):
            run_once(world.scope, KEY, crash)
        return StoredReply(200, {"by": "first"})

    assert run_once(world.scope, KEY, first).body == {"by": "first"}
    world.clock.move(seconds=60)
    assert run_once(world.scope, KEY, lambda: StoredReply(200, {"by": "third"})).body == {"by": "third"}


def test_claim_of_a_crashed_call_ends_after_a_minute(world: World) -> None:
    with pytest.raises(Crash):
        run_once(world.scope, KEY, crash)
    world.clock.move(seconds=59)
    with pytest.raises(NeveError):
        run_once(world.scope, KEY, lambda: StoredReply(200))
    world.clock.move(seconds=1)
    assert run_once(world.scope, KEY, lambda: StoredReply(200, {"by": "second"})).body == {"by": "second"}
    assert run_once(world.scope, KEY, lambda: StoredReply(500)).body == {"by": "second"}


def test_work_that_is_done_is_answered_although_its_record_cannot_be_written(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> StoredReply:
        def down(_: object) -> None:
            raise StoreUnavailable("table", "down")

        monkeypatch.setattr(world.table, "write", down)
        return StoredReply(201, {"by": "us"})

    assert run_once(world.scope, KEY, work).body == {"by": "us"}


def test_store_that_is_down_refuses_before_the_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get", down)
    with pytest.raises(StoreUnavailable):
        run_once(world.scope, KEY, lambda: pytest.fail("must not run"))


def test_record_as_part_of_a_transaction(world: World) -> None:
    keys, now = world.tenant.keys, world.clock.now()
    assert idempotency.replay(None, KEY, now) is None
    world.table.write([idempotency.done(keys, KEY, StoredReply(201, {"seqs": [1]}), now, Expect.ABSENT)])
    item = world.table.get(idempotency.row_key(keys, KEY))
    assert idempotency.replay(item, KEY, now) == StoredReply(201, {"seqs": [1]})
    with pytest.raises(NeveError) as refusal:
        idempotency.replay(item, IdempotencyKey(KEY.route, KEY.key, "b" * 64), now)
    assert refusal.value.code == "idempotency_mismatch"
    with pytest.raises(Conflict):
        world.table.write([idempotency.done(keys, KEY, StoredReply(201), now, Expect.ABSENT)])
