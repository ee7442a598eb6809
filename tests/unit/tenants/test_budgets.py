"""Profiles, and how the tokens of a prompt are shared out (docs/rules/compile.md#budgets)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.tenants.budgets import Budget, Needs, agentic, named_budget, share_out
from neve.domain.tenants.policy import Policy

NOTHING = Needs(system=0, instructions=0, pack=0, memories=0, history=0, history_floor=0, message=0, task=0)


def test_the_default_profile_follows_the_window() -> None:
    """docs/rules/values.md#agentic."""
    budget = agentic(200_000)
    assert (budget.total, budget.output, budget.input) == (250_000, 50_000, 200_000)
    assert (budget.system, budget.pack, budget.message, budget.task) == (8_000, 99_000, 2_000, 1_000)
    assert budget.system + budget.memories + budget.history + budget.task == 200_000
    assert agentic(16_000).input == 16_000


@pytest.mark.parametrize("profile", ["compact_8k", "window_200k"])
def test_a_policys_profile_sizes_the_pack(profile: str) -> None:
    policy = Policy.model_validate({"budget_profile": profile})
    layers = policy.global_layer + policy.local_rows + policy.reflection_trigger
    assert 0.5 * policy.budget.pack_limit < layers <= policy.budget.pack_limit
    assert policy.problems() == []


def test_the_literal_example_of_sharing_out() -> None:
    """docs/rules/values.md#compact_8k."""
    needs = replace(NOTHING, system=1_000, pack=1_000, memories=2_500, history=1_500, message=500, task=400)
    grants = share_out(named_budget("compact_8k", 0), needs)
    assert needs.pack + grants.memories == 3_500
    assert (grants.history, grants.task) == (1_500, 400)
    assert needs.fixed + grants.memories + grants.history + grants.task == 6_900  # of 7_000


def test_what_is_never_cut_has_to_fit() -> None:
    """docs/rules/values.md#compact_8k."""
    with pytest.raises(NeveError) as refused:
        share_out(named_budget("compact_8k", 0), replace(NOTHING, system=6_500, message=800))
    assert refused.value.code == "budget_infeasible"
    assert "6500" in refused.value.detail and "7300" in refused.value.detail and "7000" in refused.value.detail


def test_sections_that_exceed_the_total_are_refused() -> None:
    """docs/rules/values.md#compact_8k."""
    problems = Budget("custom", 8_000, 8_000, 0, 1, 0, 0).problems("budget_profile")
    assert [one.field for one in problems] == ["budget_profile"]
    assert "8001" in problems[0].message
    assert Budget("custom", 8_000, 7_999, 0, 1, 0, 0).problems("budget_profile") == []


def test_a_system_above_its_share_takes_from_the_task_first() -> None:
    budget = named_budget("compact_8k", 0)
    needs = replace(NOTHING, system=1_500, memories=2_000, history=3_000, history_floor=1_000, task=1_000)
    grants = share_out(budget, needs)
    assert (grants.memories, grants.history, grants.task) == (2_000, 3_000, 500)
    more = share_out(budget, replace(needs, system=3_000))
    assert (more.memories, more.history, more.task) == (2_000, 2_000, 0)
    most = share_out(budget, replace(needs, system=5_500))
    assert (most.memories, most.history, most.task) == (500, 1_000, 0)


def test_instructions_give_way_last() -> None:
    budget = named_budget("compact_8k", 0)
    needs = replace(NOTHING, system=6_000, instructions=900, memories=2_000, history=3_000, history_floor=800, task=500)
    grants = share_out(budget, needs)
    assert (grants.instructions, grants.task, grants.memories) == (900, 0, 0)
    assert grants.history == 100
    last = share_out(budget, replace(needs, system=6_500))
    assert (last.instructions, last.history) == (500, 0)


amounts = st.integers(0, 5_000)


@given(
    st.builds(
        Needs,
        system=amounts,
        instructions=amounts,
        pack=amounts,
        memories=amounts,
        history=amounts,
        history_floor=amounts,
        message=amounts,
        task=amounts,
    ),
    st.sampled_from(["compact_8k", "window_200k", "agentic"]),
)
def test_grants_fit_the_input_and_nobody_gets_more_than_needed(needs: Needs, profile: str) -> None:
    needs = replace(needs, history_floor=min(needs.history_floor, needs.history))
    budget = named_budget(profile, 12_000)
    if needs.fixed > budget.input:
        with pytest.raises(NeveError):
            share_out(budget, needs)
        return
    grants = share_out(budget, needs)
    granted = {
        "instructions": (grants.instructions, needs.instructions),
        "memories": (grants.memories, needs.memories),
        "history": (grants.history, needs.history),
        "task": (grants.task, needs.task),
    }
    assert all(0 <= got <= need for got, need in granted.values())
    assert needs.fixed + sum(got for got, _ in granted.values()) <= budget.input
    if grants.instructions < needs.instructions:
        assert (grants.task, grants.history, grants.memories) == (0, 0, 0)
