"""Operators: a user who leaves nothing behind, whoever is still at work for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from neve.adapters.opensearch.mapping import index_body
from neve.domain.errors import NeveError
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel
from neve.ports.table import WriteOp
from neve.scope import UserData
from neve.store import rows
from neve.store.keys import Keys, UserKeys
from neve.store.tenants.directory import users_of
from neve.usecases.work.erase.erase_user import (
    SETTLE_S,
    Removed,
    UserNotFound,
    begin_erasure,
    erase_user,
    finish_erasure,
)
from tests.unit.erase.kept import MARKER, left, live
from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    yield made
    made.close()


def erase(world: RecallWorld, user: str = "ann", *, close: bool = False) -> Removed:
    begin_erasure(world.table, UserKeys(world.tenant.id, user))
    removed = erase_user(world.user(user).data)
    finish_erasure(world.user(user).data, close=close)
    return removed


def test_an_erased_user_leaves_nothing_and_nobody_else_notices(world: RecallWorld) -> None:
    live(world, "ann", "annie", "bob")
    left_turns = {user: left(world, user) for user in ("annie", "bob")}
    assert len(left(world, "ann")) > 10
    removed = erase(world)
    assert (removed.users, removed.objects, removed.passages) == (1, 3, 3)
    assert left(world, "ann") == []
    assert {user: left(world, user) for user in ("annie", "bob")} == left_turns
    assert world.found("Lisbon") == []
    assert world.found("Lisbon", user="bob") != []


def test_the_id_is_a_new_user_of_a_higher_incarnation(world: RecallWorld) -> None:
    live(world, "ann")
    erase(world)
    head = rows.read_head(world.rows.get(world.tenant.keys.of_user("ann").head))
    assert (head.incarnation, head.state) == (2, "active")
    world.open()
    world.say("I live in Porto now.", "Noted.")
    world.pump()
    assert world.found("Porto")[0] == "evt:s1:1"
    assert list(users_of(world.table, Keys(world.tenant.id))) == ["ann"]


def test_a_closed_user_is_refused_for_good(world: RecallWorld) -> None:
    live(world, "ann")
    erase(world, close=True)
    with pytest.raises(NeveError) as refused:
        world.remember("Back again")
    assert refused.value.code == "user_closed"
    with pytest.raises(UserNotFound):
        begin_erasure(world.table, UserKeys(world.tenant.id, "ann"))


def test_writes_are_refused_and_reads_empty_from_the_first_step(world: RecallWorld) -> None:
    live(world, "ann")
    begin_erasure(world.table, UserKeys(world.tenant.id, "ann"))
    with pytest.raises(NeveError) as refused:
        world.say("One more thing.")
    assert refused.value.code == "erasing"
    assert world.found("Lisbon") == []


def test_the_row_of_a_recall_that_ran_into_the_erasure_goes_with_the_second_round(world: RecallWorld) -> None:
    """A ledger row is a plain write: nobody was promised it, and nothing but the second round stops it."""
    live(world, "ann")
    keys = UserKeys(world.tenant.id, "ann")

    def erased() -> None:
        begin_erasure(world.table, keys)
        erase_user(UserData(world, keys))

    world.rows.before_write = erased
    assert world.ask("Lisbon").recall_id is not None
    assert len(left(world, "ann")) == 1
    assert erase_user(UserData(world, keys)).rows == 1
    assert left(world, "ann") == []


def test_messages_of_the_old_incarnation_write_nothing(world: RecallWorld) -> None:
    live(world, "ann")
    world.remember(f"Keeps bees, {MARKER}")
    world.say(f"My bees are well, {MARKER}.", "Good.")
    late = world.dispatch()
    assert late
    begin_erasure(world.table, UserKeys(world.tenant.id, "ann"))
    world.embed(late)
    erase_user(world.user("ann").data)
    world.embed(late)
    finish_erasure(world.user("ann").data, close=False)
    world.embed(late)
    assert left(world, "ann") == []


def test_a_second_look_finds_what_came_late(world: RecallWorld) -> None:
    live(world, "ann")
    begin_erasure(world.table, UserKeys(world.tenant.id, "ann"))
    erase_user(world.user("ann").data)
    world.objects.put(world.tenant.keys.of_user("ann").image_object("late"), b"png", content_type="image/png")
    assert erase_user(world.user("ann").data) == Removed(users=1, objects=1)
    assert left(world, "ann") == []


def test_an_erasure_that_broke_off_goes_on(world: RecallWorld) -> None:
    live(world, "ann")
    begun = begin_erasure(world.table, UserKeys(world.tenant.id, "ann"))
    table = world.table
    world.table = cast("Any", Failing(world.rows, after=1))
    with pytest.raises(StoreUnavailable):
        erase_user(world.user("ann").data)
    world.table = table
    assert begin_erasure(world.table, UserKeys(world.tenant.id, "ann")) == begun
    erase_user(world.user("ann").data)
    finish_erasure(world.user("ann").data, close=False)
    assert left(world, "ann") == []


def test_only_a_user_who_is_there_can_be_erased_and_only_a_begun_erasure_finished(world: RecallWorld) -> None:
    live(world, "ann")
    with pytest.raises(UserNotFound):
        begin_erasure(world.table, UserKeys(world.tenant.id, "nobody"))
    with pytest.raises(UserNotFound):
        finish_erasure(world.user("ann").data, close=True)
    assert rows.read_head(world.rows.get(world.tenant.keys.of_user("ann").head)).state == "active"


class Failing:
    """The table, which stops working after some writes."""

    def __init__(self, table: Any, after: int) -> None:
        self._table, self._left = table, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def write(self, ops: Sequence[WriteOp]) -> None:
        self._left -= 1
        if self._left < 0:
            raise StoreUnavailable("table", "stopped")
        self._table.write(ops)


def test_a_search_domain_forgets_what_was_removed_before_the_id_is_free() -> None:
    """It refuses what is older than a removal that it remembers, and the next life of an id says the same things at
    rev 1. What is over is looked for when a quarter of the time has passed since the last look."""
    remembered = index_body(IndexModel("any", 4), refreshed_every="1s")["settings"]["index"]["gc_deletes"]
    number, unit = int(remembered[:-1]), remembered[-1]
    assert 1.25 * number * {"s": 1, "m": 60, "h": 3600}[unit] < SETTLE_S
