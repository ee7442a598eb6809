"""A session's observations and reflections in its pack: all of them, until a late reflection would let the pack outgrow
the prompt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.pack.fit import fit_chronicle
from neve.domain.records.memories import Priority
from neve.domain.tenants.policy import Policy
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.work.observe.observe_session import observe_session
from tests.unit.domain_rows import memory
from tests.unit.world import World, observed_line

LIMIT = 830
"""Half of what the other layers leave of a window of 2,000."""


@pytest.fixture
def world(new_world: World) -> World:
    new_world.with_policy(window=2_000)
    new_world.open()
    return new_world


def fill(world: World, marks: str, tokens: int = 200) -> list[str]:
    """The ids of an observation of ``tokens`` for each mark; nothing reflects."""
    for number, mark in enumerate(marks):
        world.say("a", "b")
        first = 2 * number + 1
        text = f"{mark} statement{number} " + "x" * (tokens * 32 // 10 - 14)
        world.observer.answers = [observed_line(text, first, first + 1)]
        observe_session(world.user("ann").of_session("s1"), 1)
    return [row.id for row in world.memories()]


def local(world: World) -> tuple[list[str], list[str]]:
    """Ids that the pack shows, and those that had no room."""
    manifest = build_pack(world.user("ann").of_session("s1"), "horizon").manifest
    return [entry.id for entry in manifest.layers["local"]], [entry.id for entry in manifest.left_out]


def test_below_the_limit_all_of_it_is_shown(world: World) -> None:
    assert local(world) == ([], [])
    rows = fill(world, "🟢🟡🔴🟡")
    assert local(world) == (rows, [])


def test_beyond_it_the_least_and_the_oldest_are_left_out_and_told(world: World) -> None:
    rows = fill(world, "🟡🔴🟢🟡🟡🟢")
    assert sum(row.tokens for row in world.memories()) > LIMIT
    assert local(world) == ([rows[at] for at in (0, 1, 3, 4)], [rows[at] for at in (2, 5)])


def test_a_pack_never_outgrows_the_prompt(world: World) -> None:
    """Thirty rows of 200 tokens are three windows; the prompt is one all the same, and says what it is without."""
    fill(world, "🟡" * 30)
    scope = world.user("ann").of_session("s1")
    build_pack(scope, "horizon")
    made = compile_context(scope, CompileCommand(message="And now?"))
    assert made.plan.used <= made.budget.input
    assert len(read_pack(scope).left_out) == 26
    assert made.metrics()["PackRowsLeftOut"] == 26


@given(st.lists(st.tuples(st.sampled_from(list(Priority)), st.integers(1, 400)), max_size=12), st.integers(0, 1_500))
def test_what_is_kept_fits_and_outweighs_what_is_not(rows: list[tuple[Priority, int]], budget: int) -> None:
    chronicle = [
        replace(memory(f"row {at}"), id=f"mem_{at}", priority=priority, tokens=tokens)
        for at, (priority, tokens) in enumerate(rows)
    ]
    fitting = fit_chronicle(chronicle, budget)
    assert fitting == [row for row in chronicle if row in fitting]
    weights = {Priority.HIGH: 0, Priority.MEDIUM: 1, Priority.LOW: 2}
    taken = 0
    for _, row in sorted(enumerate(chronicle), key=lambda found: (weights[found[1].priority], -found[0])):
        fits = taken + row.tokens <= budget
        assert (row in fitting) == fits
        taken += row.tokens if fits else 0


@pytest.mark.parametrize(
    ("policy", "limit"),
    [
        (Policy(), 83_000),
        (Policy(window=16_000), 6_640),
        (Policy(session_reflection_trigger=120_000), 120_000),
        (Policy(budget_profile="compact_8k"), 3_157),
    ],
)
def test_the_limit_follows_the_window_and_is_no_less_than_the_trigger(policy: Policy, limit: int) -> None:
    assert (policy.chronicle_limit, policy.problems()) == (limit, [])
