"""A first look at vectors in bytes changes no answer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import simsimd
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pytest import MonkeyPatch

from neve.adapters.segments import quantised as module
from neve.adapters.segments import search_legs, segment
from neve.adapters.segments.quantised import QuantisedColumns, Vectors, dot_products, may_be_near, quantised
from neve.adapters.segments.search_legs import vector_leg
from neve.adapters.segments.segment import Segment
from neve.adapters.segments.stored_passage import StoredPassage
from neve.ports.search import Candidate

DIMENSIONS = st.integers(1, 48)
SPREADS = st.sampled_from([0.0, 1e-6, 1e-3, 0.05, 1.0, 100.0])
"""How far the vectors are from one that they are all near to: 0 makes them equal, 100 hides it."""
SEEDS = st.integers(0, 2**32 - 1)


def unit(vectors: NDArray[np.float64]) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, np.float32)


def spread_vectors(seed: int, count: int, dimensions: int, spread: float) -> Vectors:
    """The last one is asked for. One of three is a single axis, whose bytes are exact."""
    drawn = np.random.default_rng(seed)
    vectors = drawn.standard_normal(dimensions) + spread * drawn.standard_normal((count + 1, dimensions))
    vectors[::3] = np.eye(dimensions)[drawn.integers(0, dimensions, len(vectors[::3]))]
    return unit(vectors)


@given(SEEDS, DIMENSIONS, SPREADS, st.integers(1, 60), st.data())
def test_whatever_is_among_the_nearest_is_kept(
    seed: int, dimensions: int, spread: float, count: int, data: st.DataObject
) -> None:
    *stored, asked = spread_vectors(seed, count, dimensions, spread)
    columns = QuantisedColumns(dimensions)
    rows = np.array(sorted(data.draw(st.sets(st.integers(0, count - 1), min_size=1))), np.int32)
    wanted = data.draw(st.integers(1, len(rows)))
    near, floor = may_be_near(columns.view_of(np.array(stored)), asked, rows, wanted)
    cosines = np.array(stored, np.float64) @ asked.astype(np.float64)
    assert floor <= sorted(cosines[rows])[-wanted]
    assert set(near) <= set(rows)
    assert all(cosines[row] < floor for row in set(rows) - set(near))


@given(SEEDS, DIMENSIONS, SPREADS)
def test_bytes_and_what_they_lack_make_the_vector(seed: int, dimensions: int, spread: float) -> None:
    vectors = spread_vectors(seed, 20, dimensions, spread)
    made = quantised(vectors)
    lacks = np.linalg.norm(vectors - made.numbers * made.steps[:, None], axis=1)
    assert made.errors == pytest.approx(lacks, abs=1e-6)
    assert (made.errors <= made.steps / 2 * dimensions**0.5 + 1e-6).all()


def test_a_row_without_a_vector_has_no_error() -> None:
    made = quantised(np.zeros((1, 4), np.float32))
    assert made.numbers.tolist() == [[0, 0, 0, 0]]
    assert made.errors.tolist() == [0.0]


@pytest.mark.parametrize("count", [1, 8, 9, 50])
def test_two_threads_make_the_products_that_one_makes(monkeypatch: MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(module, "PIECE", 8)
    drawn = np.random.default_rng(count)
    numbers, asked = (drawn.integers(-127, 128, (rows, 384), np.int8) for rows in (count, 1))
    alone = numbers.astype(np.int64) @ asked[0].astype(np.int64)
    assert dot_products(numbers, asked).tolist() == alone.tolist()


def test_a_thread_that_gets_no_processor_is_not_waited_for(monkeypatch: MonkeyPatch) -> None:
    """It has taken a piece, and does not come back."""
    monkeypatch.setattr(module, "PIECE", 8)
    numbers = np.ones((64, 4), np.int8)
    dot, this, taken, over = simsimd.dot, threading.get_ident(), threading.Event(), threading.Event()

    def stuck_elsewhere(those: NDArray[np.int8], asked: NDArray[np.int8]) -> Any:
        if threading.get_ident() == this:
            assert taken.wait(10)
        else:
            taken.set()
            over.wait(10)
        return dot(those, asked)

    monkeypatch.setattr(simsimd, "dot", stuck_elsewhere)
    try:
        assert dot_products(numbers, np.ones((1, 4), np.int8)).tolist() == [4.0] * 64
        assert taken.is_set() and not over.is_set()
    finally:
        over.set()


# --- the leg --------------------------------------------------------------------------------------


def stored(row: int, item: int, n: int, vector: Vectors | None) -> StoredPassage:
    """Of a memory that says nothing."""
    return StoredPassage(
        *(
            row,
            f"i{item:03}",
            n,
            6,
            0,
            "memory",
            "note",
            "active",
            "working",
            None,
            None,
            None,
            None,
            "[]",
            "[]",
            "[]",
            None,
            f"{item}",
        ),
        observed_ms=0,
        from_ms=0,
        until_ms=1,
        created_ms=0,
        superseded_ms=1,
        vector=None if vector is None else vector.tobytes(),
        terms=b"",
    )


def segment_of(vectors: Vectors, items: Sequence[int], without: frozenset[int] = frozenset()) -> Segment:
    made = Segment(vectors.shape[1])
    passages = [
        stored(row, item, list(items[:row]).count(item), None if row in without else vector)
        for row, (item, vector) in enumerate(zip(items, vectors, strict=True))
    ]
    made.load([passages[: len(passages) // 2]])
    made.apply([], passages[len(passages) // 2 :])
    return made


def from_vectors(patch: MonkeyPatch, count: int, best: int = search_legs._FIRST_BLOCK) -> None:
    """A first look is worth it from so many vectors on, and leaves at least so many."""
    patch.setattr(segment, "MIN_VECTORS", count)
    patch.setattr(search_legs, "MIN_VECTORS", count)
    patch.setattr(search_legs, "_FIRST_BLOCK", best)


@given(SEEDS, st.integers(2, 24), SPREADS, st.integers(1, 40), st.integers(1, 12), st.data())
def test_the_leg_answers_as_if_all_were_compared(
    seed: int, dimensions: int, spread: float, items: int, depth: int, data: st.DataObject
) -> None:
    """Also where the passages of one item take the places of others."""
    drawn = np.random.default_rng(seed)
    count = data.draw(st.integers(20, 120))
    *vectors, asked = spread_vectors(seed, count, dimensions, spread)
    of_items = drawn.integers(0, items, count).tolist()
    without = frozenset(np.flatnonzero(drawn.random(count) < 0.1).tolist())
    removed = np.flatnonzero(drawn.random(count) < 0.1).tolist()
    among = drawn.random(count) < data.draw(st.sampled_from([0.1, 0.7, 1.0]))

    def answered() -> list[Candidate]:
        made = segment_of(np.array(vectors), of_items, without)
        made.apply(removed, [])
        return vector_leg(made.snapshot, asked, made.snapshot.alive & among, depth)

    everything = answered()
    with MonkeyPatch.context() as patch:
        from_vectors(patch, data.draw(st.integers(1, count)), best=4)
        assert answered() == everything


def test_bytes_are_made_when_there_are_enough_vectors(monkeypatch: MonkeyPatch) -> None:
    """Those of before too, and each once."""
    from_vectors(monkeypatch, 12)
    vectors = spread_vectors(1, 14, 8, 1.0)[:14]
    made = segment_of(vectors[:10], range(10))
    few = made.snapshot
    made.apply([3], [stored(10, 10, 0, vectors[10])])
    assert (few.quantised, made.snapshot.quantised) == (None, None)
    for row in range(11, 14):
        made.apply([], [stored(row, row, 0, vectors[row])])
    kept, all_at_once = made.snapshot.quantised, quantised(vectors)
    assert kept is not None
    assert kept.numbers.tolist() == all_at_once.numbers.tolist()
    assert kept.steps.tolist() == all_at_once.steps.tolist()
    assert kept.errors.tolist() == all_at_once.errors.tolist()


def test_few_vectors_need_no_memory_for_bytes(monkeypatch: MonkeyPatch) -> None:
    vectors = spread_vectors(1, 20, 8, 1.0)
    few = segment_of(vectors, range(21)).nbytes
    from_vectors(monkeypatch, 21)
    assert few + 21 * 8 < segment_of(vectors, range(21)).nbytes


def test_a_look_at_bytes_of_before_a_write_stays_valid(monkeypatch: MonkeyPatch) -> None:
    from_vectors(monkeypatch, 1, best=4)
    vectors = spread_vectors(2, 40, 8, 1.0)
    made = segment_of(vectors[:20], range(20))
    before = made.snapshot
    found = vector_leg(before, vectors[0], before.alive, 5)
    made.apply([0], [stored(row, row, 0, vectors[row]) for row in range(20, 40)])
    assert vector_leg(before, vectors[0], before.alive, 5) == found


def test_the_first_look_leaves_most_of_many_out(monkeypatch: MonkeyPatch) -> None:
    drawn = np.random.default_rng(1)
    vectors = unit(drawn.standard_normal((2_000, 64)))
    from_vectors(monkeypatch, 1_000)
    snapshot = segment_of(vectors, range(2_000)).snapshot
    compared: list[int] = []
    cosines = search_legs._cosines

    def counted(those: Vectors, vector: Vectors) -> NDArray[np.float64]:
        compared.append(len(those))
        return cosines(those, vector)

    monkeypatch.setattr(search_legs, "_cosines", counted)
    found = vector_leg(snapshot, vectors[7], snapshot.alive, 10)
    assert found[0].item_id == "i007"
    assert found[0].score == pytest.approx(1.0, abs=1e-6)
    assert len(compared) == 1
    assert 256 <= compared[0] < 500


def test_what_only_may_be_near_does_not_take_the_place_of_what_is(monkeypatch: MonkeyPatch) -> None:
    """Four passages of one item are the four nearest. The bytes are exact of all vectors but the third item's, half a
    step beside them, so that it goes on, and the second, which is nearer, does not."""
    steps = np.array([12, 12, 12, 12, 13, 13.5, 60, 60, 60, 60])
    vectors = unit(np.stack([np.full(len(steps), 127.0), steps], axis=1))
    from_vectors(monkeypatch, 1, best=4)
    snapshot = segment_of(vectors, [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]).snapshot
    assert snapshot.quantised is not None
    asked = np.array([1, 0], np.float32)
    near, _ = may_be_near(snapshot.quantised, asked, np.arange(len(steps), dtype=np.int32), 4)
    assert near.tolist() == [0, 1, 2, 3, 5]
    assert [one.item_id for one in vector_leg(snapshot, asked, snapshot.alive, 2)] == ["i000", "i001"]
