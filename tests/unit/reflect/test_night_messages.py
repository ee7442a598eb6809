"""A message of the night that comes again: its worker finds what it has done, and how long it has waited."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from neve.domain.reflect.night_limits import NO_PROGRESS_FOR, POSTPONED_S, SPARE_S
from neve.domain.times import iso
from neve.observing import Condensed
from neve.usecases.ask.tenants.tenant_usage import tenant_usage
from neve.usecases.core.memories.replace_rows import ReplacementBusy, replace_rows
from neve.usecases.work.reflect import reflect_user
from neve.usecases.work.reflect.request_reflection import request_reflection
from neve.workers.nights import BUSY_SINCE
from tests.unit.reflect.night_world import Context, NightWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path)
    yield world
    world.table.close()


def asked(world: NightWorld) -> str:
    return request_reflection(world.scope, "ann", None).id


def test_a_batch_that_came_to_nothing_is_counted_once_where_the_answer_is_lost(world: NightWorld) -> None:
    world.fill(4)
    world.observer.condensations = [Condensed((), "scripted", calls=1, usage={"input": 7})]
    job_id = asked(world)

    def lose_it() -> None:
        world.table.lose_response = True

    def meanwhile() -> None:
        world.table.before_write = lose_it

    world.observer.meanwhile = meanwhile
    world.work()
    result = world.job(job_id).result
    assert (result["batches"], result["kept"]) == (1, 4)
    assert tenant_usage(world.scope).usage.model_input_tokens == 7


def test_a_worker_whose_answer_was_lost_finds_that_it_has_the_user(world: NightWorld) -> None:
    world.fill(4)
    asked(world)
    [message] = world.messages()
    world.table.lose_response = True
    assert world.deliver(message)
    assert (len(world.reflections()), world.clock.slept) == (1, [])


def test_how_long_a_user_was_busy_begins_anew_behind_a_worker_that_got_somewhere(world: NightWorld) -> None:
    """A night of hours would fail at the first replacement that it meets, by what it waited for at its begin."""
    world.fill(14)
    asked(world)
    [message] = world.messages()
    message.body[BUSY_SINCE] = iso(world.clock.now() - NO_PROGRESS_FOR)
    assert world.deliver(message, Context(900.0, SPARE_S - 1))
    [again] = world.messages()
    assert (len(world.reflections()), BUSY_SINCE in again.body) == (1, False)


def test_nor_does_it_fail_at_a_replacement_that_it_meets_itself(
    world: NightWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.fill(14)
    asked(world)
    [message] = world.messages()
    message.body[BUSY_SINCE] = iso(world.clock.now() - 2 * NO_PROGRESS_FOR)
    begun: list[int] = []

    def busy_behind_the_first(*given: Any) -> list[str]:
        begun.append(1)
        if len(begun) > 1:
            raise ReplacementBusy("ann", "job_x")
        return replace_rows(*given)

    monkeypatch.setattr(reflect_user, "replace_rows", busy_behind_the_first)
    assert world.deliver(message)
    assert [one.body[BUSY_SINCE] for one in world.messages()] == [
        iso(world.clock.now() - timedelta(seconds=POSTPONED_S))
    ]
