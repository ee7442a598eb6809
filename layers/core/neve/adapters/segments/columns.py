"""Columns of an in-memory segment. One thread appends; any number of threads read the views that they hold."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

GROWTH = 1.5
MIN_ROOM = 16
BYTES_A_VALUE = 150
"""What one distinct value costs in Python objects: the string and its places in a dict and a list."""

V = TypeVar("V", bound=Hashable)


class Column:
    """An append-only array with spare room. A view taken before an append stays valid and does not see it."""

    def __init__(self, dtype: DTypeLike, width: int | None = None, *, room: int = 0) -> None:
        self._shape = () if width is None else (width,)
        self._data: NDArray[Any] = np.empty((room, *self._shape), dtype)
        self._size = 0

    @classmethod
    def of(cls, values: NDArray[Any]) -> Column:
        """Make one that holds an array, which is never written to."""
        column = cls(values.dtype, values.shape[1] if values.ndim > 1 else None)
        column._data, column._size = values, len(values)
        return column

    @property
    def nbytes(self) -> int:
        return self._data.nbytes

    def view(self) -> NDArray[Any]:
        return self._data[: self._size]

    def extend(self, values: ArrayLike) -> None:
        added = np.asarray(values, self._data.dtype).reshape((-1, *self._shape))
        needed = self._size + len(added)
        if needed > len(self._data):
            larger = np.empty((max(needed, int(len(self._data) * GROWTH), MIN_ROOM), *self._shape), self._data.dtype)
            larger[: self._size] = self.view()
            self._data = larger
        self._data[self._size : needed] = added
        self._size = needed


class Names(Generic[V]):
    """Distinct values numbered in order of appearance. Numbers and values never change, so readers need no lock."""

    def __init__(self, values: Iterable[V] = ()) -> None:
        """``values``: distinct ones, by their numbers."""
        self._values: list[V] = list(values)
        self._codes: dict[V, int] = {value: code for code, value in enumerate(self._values)}

    @property
    def nbytes(self) -> int:
        return len(self._values) * BYTES_A_VALUE

    def codes(self, values: Iterable[V]) -> list[int]:
        """The code of each value; a new value gets the next one."""
        known, out = self._codes, []
        for value in values:
            code = known.get(value)
            if code is None:
                code = len(self._values)
                self._values.append(value)
                known[value] = code
            out.append(code)
        return out

    def known(self, values: Iterable[V]) -> list[int]:
        """The codes of those values that have one."""
        return [code for value in values if (code := self._codes.get(value)) is not None]

    def are_among(self, values: Iterable[V]) -> bool:
        """Say whether there are no values but these."""
        return len(self.known(set(values))) == len(self._values)

    def values(self, codes: Iterable[int]) -> list[V]:
        return list(map(self._values.__getitem__, codes))

    def matching(self, accepts: Callable[[V], bool]) -> Sequence[int]:
        """The codes of all values that a predicate accepts."""
        return [code for code, value in enumerate(list(self._values)) if accepts(value)]
