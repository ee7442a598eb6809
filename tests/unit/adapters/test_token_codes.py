"""The codes of token vectors, and MaxSim over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.adapters.embedders.token_codes import (
    CODE_BYTES,
    DIMENSIONS,
    STRIDE,
    Vectors,
    from_codes,
    max_sims,
    normalised,
    to_codes,
)

WINDOW = 2 * STRIDE
seeds = st.integers(min_value=0, max_value=2**32 - 1)
lengths = st.integers(min_value=1, max_value=3 * WINDOW)
messages = st.lists(st.lists(lengths, max_size=3), max_size=4)


def vectors(seed: int, count: int) -> Vectors:
    return normalised(np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32))


def codes(seed: int, count: int) -> bytes:
    return to_codes(vectors(seed, count))


@given(seed=seeds, count=st.integers(min_value=0, max_value=40))
def test_a_token_is_16_bytes_and_each_dimension_comes_back_within_half_a_step(seed: int, count: int) -> None:
    given = vectors(seed, count)
    stored = to_codes(given)
    assert len(stored) == count * 16
    assert np.abs(from_codes(stored) - np.clip(given, -0.2, 0.2)).max(initial=0) <= 0.05 + 1e-6


@given(stored=st.binary(max_size=20 * CODE_BYTES))
def test_any_whole_tokens_are_codes_and_come_back_as_they_were(stored: bytes) -> None:
    whole = stored[: len(stored) // CODE_BYTES * CODE_BYTES]
    assert to_codes(from_codes(whole)) == whole


def test_bytes_that_are_no_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="17 bytes"):
        from_codes(b"x" * 17)


def by_definition(query: Vectors, parts: Sequence[bytes]) -> float:
    """The mean over the query's tokens of the best dot product, in the best window of any part."""
    windows = [
        tokens[start : start + WINDOW] for tokens in map(from_codes, parts) for start in range(0, len(tokens), STRIDE)
    ]
    return max((float((query @ window.T).max(axis=1).mean()) for window in windows), default=0.0)


@given(seed=seeds, asked=st.integers(min_value=1, max_value=12), shape=messages)
def test_max_sim_is_what_its_definition_says(seed: int, asked: int, shape: list[list[int]]) -> None:
    query = vectors(seed, asked)
    given = [[codes(seed + m + 7 * n, length) for n, length in enumerate(part)] for m, part in enumerate(shape)]
    assert max_sims(query, given) == pytest.approx([by_definition(query, parts) for parts in given], abs=1e-5)


@given(seed=seeds, shape=st.lists(lengths, min_size=1, max_size=4))
def test_another_part_never_makes_a_message_worse_and_their_order_is_nothing(seed: int, shape: list[int]) -> None:
    query, parts = vectors(seed, 5), [codes(seed + n, length) for n, length in enumerate(shape)]
    fewer, all_of_them, backwards = max_sims(query, [parts[:-1], parts, parts[::-1]])
    assert all_of_them == pytest.approx(backwards, abs=1e-5)
    assert not parts[:-1] or all_of_them >= fewer - 1e-5


def test_nothing_asked_and_nothing_said_score_zero() -> None:
    empty = np.zeros((0, DIMENSIONS), dtype=np.float32)
    assert max_sims(empty, [[codes(1, 3)], []]) == [0.0, 0.0]
    assert max_sims(vectors(1, 2), [[], [b""]]) == [0.0, 0.0]
    assert max_sims(vectors(1, 2), []) == []


def test_words_far_apart_in_a_long_message_do_not_answer_together() -> None:
    """Two words within one window are met better than the same two at both ends of a long text."""
    asked, filler = vectors(1, 2), vectors(2, 4 * STRIDE)
    near, apart = filler.copy(), filler.copy()
    near[10], near[20] = asked
    apart[10], apart[-10] = asked
    best, worse = max_sims(asked, [[to_codes(near)], [to_codes(apart)]])
    assert best > worse + 0.05
