"""The vectors of a segment a second time, in one byte a number: a first look at them reads a quarter of the memory.

What the bytes say of a cosine is right within a bound that is known for each vector. So only those that can be among
the best are compared exactly, and the answer is the one that comparing all of them gives."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

from neve.adapters.segments.columns import Column

MIN_VECTORS: Final = 16_384
"""Vectors from which a first look at their bytes pays (*measured* with 384 dimensions, against comparing all: 0.7 and
0.7 ms of 8,000, 1.0 and 1.3 of 16,000, 4 and 18 of 100,000)."""
LARGEST: Final = 127
ROUNDING: Final = np.float32(1e-4)
"""More than single precision makes of a sum of 4,096 products of two vectors of length 1."""

PIECE: Final = 4_096
"""Vectors that a thread takes at a time: 1.5 MB of 384 dimensions."""
AT_ONCE: Final = 512
"""Vectors that are worked on together: what comes between fits into a processor's own memory."""

Vectors = NDArray[np.float32]


class Quantised(NamedTuple):
    """One row a vector. ``numbers`` times ``steps`` is nearly the vector, and ``errors`` the length of what lacks."""

    numbers: NDArray[np.int8]
    steps: NDArray[np.float32]
    errors: NDArray[np.float32]


class QuantisedColumns:
    """Columns that one thread appends to, and whose views never change."""

    def __init__(self, dimensions: int, *, room: int = 0) -> None:
        self._numbers = Column(np.int8, dimensions, room=room)
        self._steps, self._errors = Column(np.float32, room=room), Column(np.float32, room=room)

    @property
    def nbytes(self) -> int:
        return self._numbers.nbytes + self._steps.nbytes + self._errors.nbytes

    def view_of(self, vectors: Vectors) -> Quantised:
        """``vectors``: those of the last call, and what was appended since."""
        self._extend(vectors[len(self._steps.view()) :])
        return Quantised(self._numbers.view(), self._steps.view(), self._errors.view())

    def _extend(self, added: Vectors) -> None:
        for start in range(0, len(added), AT_ONCE):
            numbers, steps, errors = quantised(added[start : start + AT_ONCE])
            self._numbers.extend(numbers)
            self._steps.extend(steps)
            self._errors.extend(errors)


def quantised(vectors: Vectors) -> Quantised:
    """One vector a row. One of zeros, which stands for none, has no error."""
    largest = np.abs(vectors).max(axis=1, initial=0)
    steps = np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)
    numbers = np.rint(vectors / steps[:, None])
    lacks = vectors - numbers * steps[:, None]
    return Quantised(numbers.astype(np.int8), steps, np.sqrt(np.einsum("ij,ij->i", lacks, lacks)))


def may_be_near(
    those: Quantised, vector: Vectors, rows: NDArray[np.int32], wanted: int
) -> tuple[NDArray[np.int32], float]:
    """Find those of ``rows`` that can be among the ``wanted`` with the largest cosines, and a floor: the others are
    below it. All vectors have length 1; ``wanted`` is at most how many rows there are."""
    asked = quantised(vector[None])
    products = dot_products(those.numbers, asked.numbers)
    each = rows if len(rows) < len(products) else slice(None)
    about = products[each] * (those.steps[each] * asked.steps)
    within = those.errors[each] * (1 + asked.errors) + (asked.errors + ROUNDING)
    place = len(rows) - wanted
    floor = np.partition(about - within, place)[place]
    return rows[about + within >= floor], float(floor)


class _Pieces:
    """Products in single precision, which holds them exactly, made by any number of threads."""

    def __init__(self, numbers: NDArray[np.int8], asked: NDArray[np.int8]) -> None:
        self._numbers, self._asked = numbers, asked
        self.products = np.empty(len(numbers), np.float32)
        self._waiting = deque(range(0, len(numbers), PIECE))
        self._lacking = set(self._waiting)

    def work(self) -> None:
        with suppress(IndexError):
            while True:
                self._multiply(self._waiting.popleft())

    def finish(self) -> None:
        """Make again what another thread has begun, and wait for nobody: that thread may have no processor."""
        for start in list(self._lacking):
            self._multiply(start)

    def _multiply(self, start: int) -> None:
        some = slice(start, start + PIECE)
        self.products[some] = np.asarray(simsimd.dot(self._numbers[some], self._asked))
        self._lacking.discard(start)


def dot_products(numbers: NDArray[np.int8], asked: NDArray[np.int8]) -> Vectors:
    """Multiply each of ``numbers``. One processor reads memory at half the rate of two."""
    pieces = _Pieces(numbers, asked)
    if len(numbers) > PIECE and (os.cpu_count() or 1) > 1:
        _another_thread().submit(pieces.work)
    pieces.work()
    pieces.finish()
    return pieces.products


@cache
def _another_thread() -> ThreadPoolExecutor:
    """One a process, for all searches: they run beside each other already."""
    return ThreadPoolExecutor(1, thread_name_prefix="vectors")
