"""The passages of one user in memory. A segment is appended to by one thread at a time; searches read its snapshot,
which never changes: rows are only added, and the array of live rows is replaced, not written to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from neve.adapters.segments.columns import Column, Names
from neve.adapters.segments.postings import Postings, PostingsView, Run
from neve.adapters.segments.quantised import MIN_VECTORS, Quantised, QuantisedColumns
from neve.adapters.segments.stored_passage import StoredPassage

MAX_DEAD_ROWS = 4_096
MIN_BYTES = 8_192
"""What an empty segment counts for, so that a cache of them is bounded too."""
_SPARE = 1.25


Rows = NDArray[np.int32]
Mask = NDArray[np.bool_]


NAMED: Final = (
    "item_id",
    "source",
    "kind",
    "status",
    "tier",
    "category",
    "group",
    "session_id",
    "path",
    "tags",
    "metadata",
    "about",
    "only_in",
    "fingerprint",
)
"""The attributes that are held as codes of distinct values."""
_NUMBERS: Final[Mapping[str, type[np.generic]]] = {
    "row": np.int64,
    "n": np.int32,
    "version": np.int64,
    "length": np.int32,
    "observed_ms": np.int64,
    "from_ms": np.int64,
    "until_ms": np.int64,
    "created_ms": np.int64,
    "superseded_ms": np.int64,
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a segment between two writes. All arrays have one entry a passage, dead ones included.
    ``quantised``: None of less than MIN_VECTORS."""

    alive: Mask
    live: int
    columns: Mapping[str, NDArray[Any]]
    names: Mapping[str, Names[str | None]]
    vectors: NDArray[np.float32]
    quantised: Quantised | None
    has_vector: Mask
    postings: PostingsView

    def among(self, name: str, values: Iterable[str | None]) -> Mask:
        """The passages whose attribute is one of the values."""
        return self._with_codes(name, self.names[name].known(values))

    def has_only(self, name: str, values: Iterable[str | None]) -> bool:
        """Say whether the attribute of every passage is one of the values, as far as can be said without looking."""
        return self.names[name].are_among(values)

    def where(self, name: str, accepts: Callable[[str | None], bool]) -> Mask:
        """The passages whose attribute is accepted; asked once for each distinct value."""
        return self._with_codes(name, self.names[name].matching(accepts))

    def names_of(self, name: str, rows: Rows) -> list[str]:
        """The values of an attribute that is never None."""
        values = self.names[name].values(self.columns[name][rows].tolist())
        if None in values:
            raise ValueError(f"a passage without {name}")
        return cast("list[str]", values)

    def _with_codes(self, name: str, codes: Sequence[int]) -> Mask:
        column = self.columns[name]
        if len(codes) == 1:
            return np.asarray(column == codes[0])
        return np.isin(column, codes)


@dataclass(frozen=True, slots=True)
class PackedSegment:
    """The live passages of a segment, to be kept. ``columns``: by attribute, all but ``row``; of NAMED the places of
    values among ``names``. ``vectors``: in half precision, zeros where there is none."""

    columns: Mapping[str, NDArray[Any]]
    names: Mapping[str, Sequence[str | None]]
    vectors: NDArray[np.float16]
    has_vector: Mask
    postings: Run


class Segment:
    """The writer's side. ``room``: how many passages are expected; ``dimensions`` 0 holds no vectors."""

    def __init__(self, dimensions: int, *, room: int = 0) -> None:
        spare = int(room * _SPARE)
        self._columns = {name: Column(np.int32, room=spare) for name in NAMED}
        self._columns |= {name: Column(dtype, room=spare) for name, dtype in _NUMBERS.items()}
        self._names: dict[str, Names[str | None]] = {name: Names() for name in NAMED}
        self._vectors = Column(np.float32, dimensions, room=spare)
        self._quantised = QuantisedColumns(dimensions, room=spare if room >= MIN_VECTORS else 0)
        self._has_vector = Column(np.bool_, room=spare)
        self._postings = Postings()
        self._no_vector = bytes(4 * dimensions)
        self.snapshot = self._publish(np.zeros(0, np.bool_))

    @classmethod
    def unpack(cls, dimensions: int, packed: PackedSegment) -> Segment:
        """Make a segment of packed passages, whose rows are numbered from 0 on."""
        segment = cls(dimensions)
        size = len(packed.has_vector)
        segment._columns = {name: Column.of(values) for name, values in packed.columns.items()}
        segment._columns["row"] = Column.of(np.arange(size, dtype=np.int64))
        segment._names = {name: Names(packed.names[name]) for name in NAMED}
        if dimensions:
            segment._vectors = Column.of(unit_vectors(packed.vectors))
        segment._has_vector = Column.of(packed.has_vector)
        segment._postings = Postings(*(run for run in (packed.postings,) if len(run.keys)))
        segment.snapshot = segment._publish(np.ones(size, np.bool_))
        return segment

    def pack(self) -> PackedSegment:
        """Pack the live passages, in the order of their rows."""
        alive = self.snapshot.alive
        columns = {name: self.snapshot.columns[name][alive] for name in _NUMBERS if name != "row"}
        names = dict[str, Sequence[str | None]]()
        for name in NAMED:
            used, columns[name] = np.unique(self.snapshot.columns[name][alive], return_inverse=True)
            columns[name] = columns[name].astype(np.int32)
            names[name] = self._names[name].values(used.tolist())
        vectors = self.snapshot.vectors[alive] if self._no_vector else np.zeros((self.snapshot.live, 0), np.float32)
        return PackedSegment(
            columns,
            names,
            vectors.astype(np.float16),
            self.snapshot.has_vector[alive],
            self.snapshot.postings.among(alive),
        )

    @property
    def nbytes(self) -> int:
        columns = (*self._columns.values(), self._vectors, self._has_vector)
        held = sum(column.nbytes for column in columns) + sum(names.nbytes for names in self._names.values())
        return held + self._quantised.nbytes + self._postings.nbytes + MIN_BYTES

    @property
    def mostly_dead(self) -> bool:
        """Say whether replaced and removed passages outnumber the others so far that loading again pays."""
        return len(self.snapshot.alive) - self.snapshot.live > self.snapshot.live + MAX_DEAD_ROWS

    def apply(self, removed_rows: Sequence[int], added: Sequence[StoredPassage]) -> None:
        """Remove and add passages in one step for every reader. The rows of ``added`` are above all present ones."""
        self._append(added)
        self._postings.settle()
        alive = np.concatenate((self.snapshot.alive, np.ones(len(added), np.bool_)))
        rows = self._columns["row"].view()
        alive[np.searchsorted(rows, np.array(removed_rows, np.int64))] = False
        self.snapshot = self._publish(alive)

    def load(self, batches: Iterable[Sequence[StoredPassage]]) -> None:
        """Fill an empty segment."""
        for batch in batches:
            self._append(batch)
        self._postings.settle()
        self.snapshot = self._publish(np.ones(len(self._columns["row"].view()), np.bool_))

    def _append(self, added: Sequence[StoredPassage]) -> None:
        if not added:
            return
        first = len(self._columns["row"].view())
        by_name = dict(zip(StoredPassage._fields, zip(*added, strict=True), strict=True))
        for name in NAMED:
            self._columns[name].extend(self._names[name].codes(by_name[name]))
        for name in _NUMBERS:
            self._columns[name].extend(by_name[name])
        vectors = by_name["vector"]
        if self._no_vector:
            packed = b"".join([self._no_vector if vector is None else vector for vector in vectors])
            self._vectors.extend(np.frombuffer(packed, "<f4"))
        self._has_vector.extend([vector is not None for vector in vectors])
        self._postings.append(first, by_name["terms"])

    def _publish(self, alive: Mask) -> Snapshot:
        vectors = self._vectors.view()
        return Snapshot(
            alive=alive,
            live=int(np.count_nonzero(alive)),
            columns={name: column.view() for name, column in self._columns.items()},
            names=self._names,
            vectors=vectors,
            quantised=self._quantised.view_of(vectors) if len(vectors) >= MIN_VECTORS else None,
            has_vector=self._has_vector.view(),
            postings=self._postings.view(),
        )


def unit_vectors(halves: NDArray[np.float16]) -> NDArray[np.float32]:
    """Give vectors of half precision in single precision, at length 1 again; those of zeros stay."""
    vectors = halves.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    vectors /= np.where(lengths > 0, lengths, np.float32(1))[:, None]
    return vectors
