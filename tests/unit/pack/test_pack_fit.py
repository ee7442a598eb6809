"""Literals: docs/rules/values.md#greedy-fit, and the limit of candidates in docs/rules/pack.md#global."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.pack.fit import candidate_limit, greedy_fit


@pytest.mark.parametrize(
    ("budget", "limit"), [(15_000, 300), (8_000, 160), (75_000, 1500), (2_500, 50), (2_501, 51), (150, 50), (0, 50)]
)
def test_candidate_limit(budget: int, limit: int) -> None:
    assert candidate_limit(budget) == limit


@pytest.mark.parametrize(
    ("tokens", "kept"),
    [([60, 50, 30, 15], [60, 30]), ([60, 50, 30, 10], [60, 30, 10]), ([101, 100, 1], [100]), ([], []), ([200], [])],
)
def test_skip_and_continue(tokens: list[int], kept: list[int]) -> None:
    assert [tokens[index] for index in greedy_fit(tokens, 100)] == kept


@given(st.lists(st.integers(min_value=0, max_value=200)), st.integers(min_value=0, max_value=500))
def test_every_row_left_out_did_not_fit_when_it_came(tokens: list[int], budget: int) -> None:
    fitting = greedy_fit(tokens, budget)
    assert fitting == sorted(set(fitting))
    assert sum(tokens[index] for index in fitting) <= budget
    for index in set(range(len(tokens))) - set(fitting):
        assert sum(tokens[earlier] for earlier in fitting if earlier < index) + tokens[index] > budget


@given(
    st.lists(st.integers(min_value=0, max_value=200)),
    st.integers(min_value=0, max_value=500),
    st.sets(st.integers(min_value=0, max_value=20)),
)
def test_in_the_room_of_some_the_next_ones_fit(tokens: list[int], budget: int, free: set[int]) -> None:
    fitting = greedy_fit(tokens, budget)
    left = [0 if index in free and index in fitting else size for index, size in enumerate(tokens)]
    more = greedy_fit(left, budget, fitting)
    assert set(more) >= set(fitting) and sum(left[index] for index in more) <= budget
    if left == tokens:
        assert more == fitting
