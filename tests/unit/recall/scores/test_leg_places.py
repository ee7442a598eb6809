"""Whose places in a leg count: utterances by themselves, anything else in the whole list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.fusion import places_of, within_depth

LEG = ["mem_a", "evt:s1:1", "mem_b", "evt:s1:2", "mem_c", "evt:s2:1"]


def test_an_utterance_is_counted_among_the_utterances() -> None:
    assert places_of(LEG) == {"mem_a": 1, "evt:s1:1": 1, "mem_b": 3, "evt:s1:2": 2, "mem_c": 5, "evt:s2:1": 3}


def test_an_id_named_twice_counts_where_it_stands_first() -> None:
    assert places_of(["mem_a", "mem_b", "mem_a", "evt:s1:1", "evt:s1:1", "evt:s1:2"]) == {
        "mem_a": 1,
        "mem_b": 2,
        "evt:s1:1": 1,
        "evt:s1:2": 2,
    }


def test_the_depth_counts_utterances_by_themselves() -> None:
    assert within_depth(LEG, 2) == ["mem_a", "evt:s1:1", "evt:s1:2"]
    assert within_depth(LEG, 3) == ["mem_a", "evt:s1:1", "mem_b", "evt:s1:2", "evt:s2:1"]
    assert within_depth([], 3) == []


leg = st.lists(st.tuples(st.booleans(), st.integers(1, 30)), unique=True).map(
    lambda drawn: [f"evt:s1:{n}" if event else f"mem_{n}" for event, n in drawn]
)


@given(leg, st.integers(1, 40))
def test_the_utterances_of_a_leg_do_not_depend_on_what_stands_beside_them(ids: list[str], depth: int) -> None:
    utterances = [identifier for identifier in ids if identifier.startswith("evt:")]
    within = within_depth(ids, depth)
    assert [identifier for identifier in within if identifier.startswith("evt:")] == utterances[:depth]
    assert {i: rank for i, rank in places_of(ids).items() if i in utterances} == places_of(utterances)
    others = [identifier for identifier in ids[:depth] if identifier not in utterances]
    assert [identifier for identifier in within if identifier not in utterances] == others
