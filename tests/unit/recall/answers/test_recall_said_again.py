"""Of what was said several times in the same words one is a hit, and it tells of the others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neve.domain.times import iso
from neve.usecases.ask.recall.said_again import MAX_TIMES
from tests.unit.recall_world import RecallWorld

LOGGED = "Took my methotrexate."


def at(day: int, hour: int = 8) -> datetime:
    return datetime(2026, 3, day, hour, 0, tzinfo=UTC)


def log(world: RecallWorld, *days: int) -> None:
    for day in days:
        with world.at(at(day)):
            world.open(f"day-{day}")
            world.say(LOGGED, session=f"day-{day}")
    world.pump()


@pytest.mark.parametrize("k", [1, 10])
def test_a_hit_tells_when_else_it_was_said(world: RecallWorld, k: int) -> None:
    log(world, 3, 5, 9)
    answer = world.ask("when did I last take my methotrexate?", threshold=0, k=k)
    [hit] = answer.hits
    times = {iso(at(day)) for day in (3, 5, 9)}
    assert {hit.observed_at, *hit.said_again} == times
    assert list(hit.said_again) == sorted(times - {hit.observed_at}, reverse=True)
    others = ", ".join(time[:10] for time in hit.said_again)
    assert f"{LOGGED}\n  the same on {others}\n" in answer.injection_text


def test_a_long_row_of_days_is_told_in_short(world: RecallWorld) -> None:
    log(world, *range(1, 29))
    answer = world.ask("methotrexate", threshold=0)
    [hit] = answer.hits
    assert len(hit.said_again) == MAX_TIMES
    [line] = [line for line in answer.injection_text.splitlines() if "the same on" in line]
    assert line.endswith(" and 13 days before") and line.count("2026-03-") == 7


def test_twice_on_one_day_is_not_told_to_a_model(world: RecallWorld) -> None:
    world.open()
    world.say(LOGGED, "Well done.", LOGGED)
    world.pump()
    answer = world.ask("methotrexate", threshold=0)
    [hit] = answer.hits
    assert len(hit.said_again) == 1
    assert "the same on" not in answer.injection_text


def test_what_was_said_once_says_nothing(world: RecallWorld) -> None:
    log(world, 3)
    answer = world.ask("methotrexate", threshold=0)
    assert [hit.said_again for hit in answer.hits] == [()]
    assert "the same on" not in answer.injection_text
