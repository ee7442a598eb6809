"""Literals: docs/rules/values.md#budgets."""

from __future__ import annotations

import pytest

from neve.domain.tenants.policy import CustomBudget, Policy


@pytest.mark.parametrize(
    ("window", "compaction", "trigger", "target", "global_layer"),
    [
        (200_000, 100_000, 65_000, 32_500, 15_000),
        (1_000_000, 500_000, 325_000, 162_500, 75_000),
        (2_000, 1_000, 650, 325, 150),
    ],
)
def test_budgets_follow_the_window(window: int, compaction: int, trigger: int, target: int, global_layer: int) -> None:
    policy = Policy(window=window)
    assert policy.compaction_at == compaction
    assert (policy.reflection_trigger, policy.reflection_target) == (trigger, target)
    assert policy.global_layer == global_layer


@pytest.mark.parametrize("window", [2_000, 200_000, 1_000_000])
def test_the_observers_caps_do_not_scale(window: int) -> None:
    policy = Policy(window=window)
    assert policy.observer_transcript_cap == 35_000
    assert policy.observer_output_cap == 8_000
    assert policy.prior_memory_cap == 4_000


@pytest.mark.parametrize("name", ["Europe/Nowhere", "localtime", "right/UTC", "posix/Europe/Dublin", "Factory"])
def test_a_time_zone_has_to_be_one(name: str) -> None:
    """Of IANA's, which every machine has: not what stands beside them in the database of one."""
    [problem] = Policy(timezone=name).problems()
    assert problem.field == "timezone"
    assert Policy(timezone="Europe/Dublin").problems() == []


def test_a_problem_stands_under_what_was_set() -> None:
    tiny = CustomBudget(total=1, output=0, system=0, memories=0, history=0)
    assert {problem.field for problem in Policy(budget_profile=tiny).problems()} == {"budget_profile"}
    assert {problem.field for problem in Policy(window=100, global_budget=90).problems()} == {"global_budget"}
