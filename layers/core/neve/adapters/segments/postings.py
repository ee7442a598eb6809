"""Postings of one user's passages: immutable sorted runs and a short unsorted tail, as a log-structured merge has them.

The BM25 weight of a term in a passage does not depend on the other passages, so a posting holds it ready: the
``impact``, its weighted count saturated. Only the idf is left to the query. Single precision and the order of the
operations are those of OpenSearch, so that both give the same scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neve.adapters.segments.analysis import WEIGHTED_TERMS, Term
from neve.adapters.segments.columns import Column
from neve.domain.recall.weighted_counts import K1

TAIL_POSTINGS = 8_192
"""About 125 passages. The tail is searched by looking at every posting (0.2 ms), and sorted when it is longer."""
MERGED_UP_TO = 8
"""A run is merged with one before it that has less than so many times its postings (*measured*): of 20,000 passages
there are 2 runs and not the 4 of merging up to twice as many, so a search looks at half as many pieces, and writing a
passage costs 7 µs more."""
_ONE, _PIVOT = np.float32(1), np.float32(K1)

Docs = NDArray[np.int32]
Impacts = NDArray[np.float32]
Keys = NDArray[np.uint64]


def _impacts(counts: Impacts) -> Impacts:
    """``count / (count + k1)``, so written that it never falls as the count rises."""
    return _ONE - _PIVOT / (counts + _PIVOT)


@dataclass(frozen=True, slots=True)
class Run:
    """Postings sorted by key; those of ``keys[i]`` are at ``starts[i]`` to ``starts[i + 1]``."""

    keys: Keys
    starts: NDArray[np.int64]
    docs: Docs
    impacts: Impacts

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.starts.nbytes + self.docs.nbytes + self.impacts.nbytes

    def all_keys(self) -> Keys:
        """The key of each posting."""
        return np.repeat(self.keys, np.diff(self.starts))

    def find(self, keys: Keys) -> Iterator[tuple[int, Docs, Impacts]]:
        """Find those of the keys that it has: the place among ``keys``, and the postings."""
        at = np.searchsorted(self.keys, keys)
        at[at == len(self.keys)] = 0
        [held] = np.nonzero(self.keys[at] == keys)
        for place, start, end in zip(
            held.tolist(), self.starts[at[held]].tolist(), self.starts[at[held] + 1].tolist(), strict=True
        ):
            yield place, self.docs[start:end], self.impacts[start:end]


class Held(NamedTuple):
    """Postings of one term, by its place among those that were asked for: of passages that have it in ``text``, or of
    passages that have it in another field only. Every passage occurs once, and there is one at least."""

    term: int
    in_text: bool
    docs: Docs
    impacts: Impacts


@dataclass(frozen=True, slots=True)
class PostingsView:
    """The postings as a reader sees them: they stay as they are while others are added."""

    runs: tuple[Run, ...]
    tail_keys: Keys
    tail_docs: Docs
    tail_impacts: Impacts

    def of_terms(self, terms: Sequence[Term]) -> list[Held]:
        """One term after the other; of each, first what has it in ``text``. A message of a hundred words is looked for
        as quickly as one word is."""
        keys = np.array([key for term in terms for key in (term << 1, term << 1 | 1)], np.uint64)
        found = [one for run in (*self.runs, *self._of_tail(keys)) for one in run.find(keys)]
        found.sort(key=itemgetter(0))
        return [Held(place >> 1, place & 1 == 0, docs, impacts) for place, docs, impacts in found]

    def among(self, alive: NDArray[np.bool_]) -> Run:
        """All postings of living passages in one run, the passages numbered as if there were no others."""
        keys = np.concatenate([*(run.all_keys() for run in self.runs), self.tail_keys])
        docs = np.concatenate([*(run.docs for run in self.runs), self.tail_docs])
        impacts = np.concatenate([*(run.impacts for run in self.runs), self.tail_impacts])
        kept = alive[docs]
        numbers = np.cumsum(alive, dtype=np.int32) - 1
        return _sorted_run(keys[kept], numbers[docs[kept]].astype(np.int32), impacts[kept])

    def _of_tail(self, keys: Keys) -> Iterator[Run]:
        """Give what the tail has of the keys, sorted as the runs are; nothing where that is nothing."""
        held = np.isin(self.tail_keys, keys)
        if held.any():
            yield _sorted_run(self.tail_keys[held], self.tail_docs[held], self.tail_impacts[held])


class Postings:
    """The writer's side. Not for several threads; the views are."""

    def __init__(self, *runs: Run) -> None:
        self._runs: list[Run] = list(runs)
        self._start_tail()

    @property
    def nbytes(self) -> int:
        tail = self._keys.nbytes + self._docs.nbytes + self._impacts.nbytes
        return tail + sum(run.nbytes for run in self._runs)

    def view(self) -> PostingsView:
        return PostingsView(tuple(self._runs), self._keys.view(), self._docs.view(), self._impacts.view())

    def append(self, first_doc: int, weighted_terms: Sequence[bytes]) -> None:
        """Add the packed WEIGHTED_TERMS of the passages ``first_doc``, ``first_doc + 1``, …"""
        rows = np.frombuffer(b"".join(weighted_terms), WEIGHTED_TERMS)
        lengths = [len(packed) // WEIGHTED_TERMS.itemsize for packed in weighted_terms]
        self._keys.extend(rows["key"])
        self._docs.extend(np.repeat(np.arange(first_doc, first_doc + len(lengths), dtype=np.int32), lengths))
        self._impacts.extend(_impacts(rows["count"]))

    def settle(self) -> None:
        """Sort a long tail into a run, and merge runs of similar size."""
        if len(self._keys.view()) < TAIL_POSTINGS:
            return
        self._runs.append(_sorted_run(self._keys.view(), self._docs.view(), self._impacts.view()))
        self._start_tail()
        while len(self._runs) > 1 and MERGED_UP_TO * len(self._runs[-1].docs) > len(self._runs[-2].docs):
            newer, older = self._runs.pop(), self._runs.pop()
            self._runs.append(_merged(older, newer))

    def _start_tail(self) -> None:
        self._keys, self._docs, self._impacts = Column(np.uint64), Column(np.int32), Column(np.float32)


def _sorted_run(keys: Keys, docs: Docs, impacts: Impacts) -> Run:
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
    return Run(keys[firsts], np.append(firsts, len(keys)), docs[order], impacts[order])


def _merged(older: Run, newer: Run) -> Run:
    return _sorted_run(
        np.concatenate((older.all_keys(), newer.all_keys())),
        np.concatenate((older.docs, newer.docs)),
        np.concatenate((older.impacts, newer.impacts)),
    )
