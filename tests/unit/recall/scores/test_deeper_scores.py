"""The order of the first candidates once a cross-encoder has read them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neve.usecases.ask.recall.stages.deeper import deeper_order, weight_among

SCORES = st.floats(-50, 50)


@given(st.lists(st.tuples(SCORES, SCORES), max_size=40))
def test_every_candidate_has_one_place(scores: list[tuple[float, float]]) -> None:
    linear = sorted((one for one, _ in scores), reverse=True)
    assert sorted(deeper_order(linear, [deep for _, deep in scores])) == list(range(len(scores)))


@given(st.lists(SCORES, max_size=40), SCORES)
def test_where_all_are_read_alike_the_linear_order_stands(linear: list[float], same: float) -> None:
    linear = sorted(linear, reverse=True)
    assert deeper_order(linear, [same] * len(linear)) == list(range(len(linear)))


@given(st.permutations(list(range(12))))
def test_what_both_say_is_so(deep: list[int]) -> None:
    """A candidate that stands before another and was read as better stays before it."""
    linear = [float(20 - n) for n in range(len(deep))]
    places = deeper_order(linear, [float(one) for one in deep])
    at = {candidate: place for place, candidate in enumerate(places)}
    for a in range(len(deep)):
        assert all(at[a] < at[b] for b in range(a + 1, len(deep)) if deep[a] > deep[b])


def test_among_pages_it_weighs_nothing_and_among_short_messages_as_much() -> None:
    assert weight_among([3, 12, 40]) == 1.0
    assert weight_among([10, 12, 9_000, 9_000]) < 0.001 and weight_among([]) == 0.0
    assert 0.0 < weight_among([10, 12, 9, 9_000]) < 1.0


def test_of_equal_candidates_the_better_read_is_first() -> None:
    assert deeper_order([1.0, 1.0, 1.0], [-3.0, 5.0, 1.0]) == [1, 2, 0]
