"""Parts that one transaction can hold."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from neve.store import transact
from neve.store.transact import BATCH_BYTES, MAX_ROWS, batches, item_bytes


@given(st.lists(st.integers(0, BATCH_BYTES * 2), max_size=300))
def test_parts_hold_everything_in_order_and_none_is_too_large(sizes: list[int]) -> None:
    parts = list(batches(sizes, lambda size: size))
    assert [size for part in parts for size in part] == sizes
    assert all(part and len(part) <= MAX_ROWS for part in parts)
    assert all(len(part) == 1 or sum(part) <= BATCH_BYTES for part in parts)


@given(st.lists(st.integers(1, BATCH_BYTES // 4), min_size=2, max_size=300))
def test_no_two_neighbours_would_have_fitted_together(sizes: list[int]) -> None:
    parts = list(batches(sizes, lambda size: size))
    for one, other in pairwise(parts):
        assert len(one) == MAX_ROWS or sum(one) + other[0] > BATCH_BYTES


def test_a_row_counts_its_names_and_its_texts_in_bytes() -> None:
    assert item_bytes({"pk": "é", "content": "ab"}) == len("pk") + 2 + len("content") + 2
    assert transact.BATCH_BYTES < 4 * 1024 * 1024 / 2
