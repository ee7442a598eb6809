"""Lists of a job: short ones in its row, long ones in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from hashlib import sha512
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neve.adapters import table_rules
from neve.adapters.table_rules import item_size
from neve.domain.records.jobs import Job
from neve.domain.times import iso
from neve.store import rows
from neve.store.keys import JOB_LIST
from neve.store.partitions import all_rows
from neve.usecases.core.jobs import long_lists
from neve.usecases.core.jobs.long_lists import count, entries, in_parts, whole
from tests.unit.world import START, World

JOB = Job("job_01KKBH9WE04P0HFBAVANTH15C0", "retract", "running", iso(START), "ann", "s1")
LISTS = ("touched", "gone", "sessions")
SESSIONS = st.text("abcdefgh.:@-", min_size=100, max_size=128)
GONE = st.tuples(st.text("abcdefgh", min_size=1, max_size=8), st.integers(1, 10**9)).map(list)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World.make(tmp_path)
    made.open()
    yield made
    made.table.close()


def kept(world: World, job: Job, before: Job = JOB) -> Job:
    """As it is read back from its row, which is small."""
    put = rows.put_job(world.user().keys, in_parts(world.user(), job, LISTS, before))
    assert item_size(put.item) < 5_000
    return rows.read_job(put.item)


def parts_of(world: World) -> list[dict[str, Any]]:
    return list(all_rows(world.table, world.user().keys.partition, prefix=JOB_LIST))


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(st.text("abcdefgh", min_size=1), unique=True, max_size=60),
    st.lists(GONE, unique_by=lambda one: str(one[0]), max_size=60),
    st.lists(SESSIONS, unique=True, max_size=30),
    st.integers(2, 400),
)
def test_whatever_a_job_lists_it_lists_in_the_same_order_afterwards(
    world: World, touched: list[str], gone: list[Any], sessions: list[str], inline: int
) -> None:
    job = replace(JOB, state={"done": ["replaced"], "touched": touched, "gone": gone, "sessions": sessions})
    with pytest.MonkeyPatch.context() as small:
        small.setattr(long_lists, "INLINE_BYTES", inline)
        small.setattr(long_lists, "PART_ENTRIES", 7)
        small.setattr(long_lists, "PART_BYTES", 600)
        row = kept(world, job)
    table, keys = world.table, world.user().keys
    assert whole(table, keys, row).state == job.state
    for name in LISTS:
        assert (count(row, name), list(entries(table, keys, row, name))) == (len(job.state[name]), job.state[name])
    assert all(item_size(item) < 1_500 for item in parts_of(world))


def names(count: int, size: int) -> list[str]:
    """Such as are not compressed."""
    return [(sha512(str(n).encode()).hexdigest() * 2)[:size] for n in range(count)]


@pytest.mark.parametrize(("length", "size"), [(30_000, 30), (10_000, 128)], ids=["memories", "sessions"])
def test_no_part_is_larger_than_half_a_row(world: World, length: int, size: int) -> None:
    listed = names(length, size)
    row = kept(world, replace(JOB, state={"touched": listed}))
    assert list(entries(world.table, world.user().keys, row, "touched")) == listed
    assert max(map(item_size, parts_of(world))) < table_rules.MAX_ITEM_BYTES / 2
    assert len(parts_of(world)) < 10


def test_what_is_added_is_what_is_written(world: World) -> None:
    """A part is never changed: a list that grows has one more, and its last one anew."""
    per_part = long_lists.PART_ENTRIES
    row = kept(world, replace(JOB, state={"touched": names(3 * per_part, 30)}))
    world.table.calls.clear()
    same = kept(world, whole(world.table, world.user().keys, row), row)
    assert (same, world.table.calls["write"]) == (row, 0)
    grown = kept(world, replace(JOB, state={"touched": names(3 * per_part + 1, 30)}), row)
    assert (count(grown, "touched"), world.table.calls["write"]) == (3 * per_part + 1, 1)
    assert grown.state["parts"]["touched"][:3] == row.state["parts"]["touched"]


def test_a_part_goes_when_its_job_does(world: World) -> None:
    kept(world, replace(JOB, state={"touched": names(1_000, 30)}))
    [part] = parts_of(world)
    assert part["expires_at"] == rows.put_job(world.user().keys, JOB).item["expires_at"]
    assert world.table.delete_expired(START + timedelta(days=rows.JOB_DAYS)) == 1
    assert parts_of(world) == []
