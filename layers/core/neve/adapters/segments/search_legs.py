"""The two legs over a snapshot: BM25 and exact cosine. Both give the best passage of each item, best first."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from math import log
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neve.adapters.segments.analysis import Term
from neve.adapters.segments.postings import Held
from neve.adapters.segments.quantised import MIN_VECTORS, may_be_near
from neve.adapters.segments.segment import Mask, Rows, Snapshot
from neve.domain.indexing.passage import Source, rev_of
from neve.domain.recall.weighted_counts import K1
from neve.ports.search import Candidate

_FIRST_BLOCK = 256
_BATCH_POSTINGS = 65_536
"""What is held beside the postings themselves: 1.5 MB."""
_SPARSE = 4
"""A filter that leaves less than 1 / _SPARSE of the passages is applied before the vectors are compared, not after."""

_SOURCES = {source.value: source for source in Source}

Scores = NDArray[np.float64]
Accepts = Callable[[int], bool]


@dataclass(frozen=True, slots=True)
class TermQuery:
    """A keyword query in terms. ``required`` and ``excluded`` concern ``text``; ``accepts`` looks at a passage's row id
    and has the last word."""

    groups: Sequence[Sequence[Term]]
    min_match: int
    required: Sequence[Term]
    excluded: Sequence[Term]
    accepts: Accepts


def keyword_leg(snapshot: Snapshot, query: TermQuery, mask: Mask, depth: int) -> list[Candidate]:
    """BM25F. A term counts by its weighted count, saturated, times its idf over the ``text`` of the user's live
    passages; the terms of all groups are added up."""
    scores = np.zeros(len(mask))
    if query.min_match > 1:
        matched = np.zeros(len(mask), np.int16)
        for group in query.groups:
            of_group = np.zeros(len(mask))
            matched += _add_scores(snapshot, Counter(group), of_group)
            scores += _single(of_group)
        mask &= matched >= query.min_match
    else:
        found = _add_scores(snapshot, Counter(chain.from_iterable(query.groups)), scores)
        mask &= found | (query.min_match == 0)
    for term in query.required:
        mask &= _in_text(snapshot, term)
    for term in query.excluded:
        mask &= ~_in_text(snapshot, term)
    rows = np.flatnonzero(mask).astype(np.int32)
    return _best_passages(snapshot, rows, _single(scores[rows]), depth, query.accepts)


def vector_leg(snapshot: Snapshot, vector: NDArray[np.float32], mask: Mask, depth: int) -> list[Candidate]:
    """Find what comparing every admitted vector would find."""
    rows = np.flatnonzero(mask & snapshot.has_vector).astype(np.int32)
    wanted = max(_FIRST_BLOCK, 2 * depth)
    if snapshot.quantised and len(rows) >= max(MIN_VECTORS, 2 * wanted, len(mask) // _SPARSE):
        near, floor = may_be_near(snapshot.quantised, vector, rows, wanted)
        found = _best_passages(snapshot, near, _cosines(snapshot.vectors[near], vector), depth, _any_row)
        if len(found) == depth and found[-1].score >= floor:
            return found
    if len(rows) * _SPARSE < len(mask):
        cosines = _cosines(snapshot.vectors[rows], vector)
    else:
        cosines = _cosines(snapshot.vectors, vector)[rows]
    return _best_passages(snapshot, rows, cosines, depth, _any_row)


def _cosines(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> Scores:
    """Rows are summed one by one, so equal vectors have equal scores, whatever stands beside them."""
    cosines: NDArray[np.float32] = np.einsum("ij,j->i", vectors, vector)
    return np.clip(cosines, -1.0, 1.0).astype(np.float64)


def _any_row(_row: int) -> bool:
    return True


def _add_scores(snapshot: Snapshot, terms: Mapping[Term, int], scores: Scores) -> Mask:
    """Add the scores of terms, each with how often it is asked for; returns which passages hold any of them. In single
    precision, added in double, as Lucene does it: it takes the alternatives of all groups for one disjunction, and a
    term that comes again for one with the sum of the boosts."""
    found = np.zeros(len(scores), np.bool_)
    times = list(terms.values())
    for held in _in_batches(snapshot.postings.of_terms(list(terms))):
        rows = np.concatenate([one.docs for one in held], dtype=np.intp)
        lengths = np.array([len(one.docs) for one in held])
        living = np.add.reduceat(snapshot.alive[rows], np.cumsum(lengths) - lengths, dtype=np.intp)
        holding = Counter[int]()
        for one, alive in zip(held, living.tolist(), strict=True):
            holding[one.term] += alive * one.in_text
        boosts = {term: _boost(snapshot, times[term], number) for term, number in holding.items()}
        impacts = np.concatenate([one.impacts for one in held])
        weighted = np.repeat(np.array([boosts[one.term] for one in held], np.float32), lengths) * impacts
        np.add.at(scores, rows, weighted.astype(np.float64))
        found[rows] = True
    return found


def _in_batches(held: Iterable[Held]) -> Iterator[list[Held]]:
    """All postings of a term together, and those of many rare terms: what NumPy does costs by the call."""
    batch: list[Held] = []
    size = 0
    for _, of_term in groupby(held, attrgetter("term")):
        for one in of_term:
            batch.append(one)
            size += len(one.docs)
        if size >= _BATCH_POSTINGS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _single(scores: Scores) -> Scores:
    return scores.astype(np.float32).astype(np.float64)


def _boost(snapshot: Snapshot, times: int, holding: int) -> np.float32:
    """``holding``: how many live passages have the term in ``text``."""
    idf = log(1 + (snapshot.live - holding + 0.5) / (holding + 0.5))
    return np.float32(times * float(np.float32(idf * (K1 + 1))))


def _in_text(snapshot: Snapshot, term: Term) -> Mask:
    mask = np.zeros(len(snapshot.alive), np.bool_)
    for one in snapshot.postings.of_terms([term]):
        if one.in_text:
            mask[one.docs] = True
    return mask


def _best_passages(
    snapshot: Snapshot, rows: Rows, scores: NDArray[Any], depth: int, accepts: Accepts
) -> list[Candidate]:
    best: dict[int, tuple[int, float]] = {}
    for block, of_block in _blocks(rows, scores):
        # numbers out of a memoryview cost a fifth of those out of an array
        items, ids = (snapshot.columns[name][block].data for name in ("item_id", "row"))
        rows_of, scores_of = block.data, of_block.data
        for at in _in_order(snapshot, block, of_block):
            if items[at] not in best and accepts(ids[at]):
                best[items[at]] = rows_of[at], scores_of[at]
                if len(best) == depth:
                    return _candidates(snapshot, list(best.values()))
    return _candidates(snapshot, list(best.values()))


def _candidates(snapshot: Snapshot, best: Sequence[tuple[int, float]]) -> list[Candidate]:
    rows = np.array([row for row, _ in best], np.int32)
    n, version, length = (snapshot.columns[name][rows].tolist() for name in ("n", "version", "length"))
    item_id, fingerprint, source = (snapshot.names_of(name, rows) for name in ("item_id", "fingerprint", "source"))
    scores = [score for _, score in best]
    sources = map(_SOURCES.__getitem__, source)
    fields = zip(item_id, n, scores, map(rev_of, version), fingerprint, sources, length, strict=True)
    return list(map(Candidate._make, fields))  # in half the time of a call each


def _blocks(rows: Rows, scores: NDArray[Any]) -> Iterator[tuple[Rows, NDArray[Any]]]:
    """The best ones first, not in order: no more is sorted than is asked for."""
    size = _FIRST_BLOCK
    while len(rows):
        floor = np.partition(scores, len(rows) - size)[len(rows) - size] if len(rows) > size else scores.min()
        top = scores >= floor
        yield rows[top], scores[top]
        rows, scores = rows[~top], scores[~top]
        size *= 4


def _in_order(snapshot: Snapshot, rows: Rows, scores: NDArray[Any]) -> Iterable[int]:
    """The places in ``rows``, best first, ties by item id and n."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    others = ranked[1:] != ranked[:-1]
    if others.all():
        return list(order.tolist())
    return _with_ties(snapshot, rows[order], order.tolist(), [*(np.flatnonzero(others) + 1).tolist(), len(rows)])


def _with_ties(snapshot: Snapshot, rows: Rows, places: Sequence[int], ends: Sequence[int]) -> Iterator[int]:
    """``ends``: of the groups of one score. A heap, because a query of one common word ties most passages and few of
    them are needed."""
    item_ids = snapshot.names["item_id"].values(snapshot.columns["item_id"][rows].tolist())
    numbers = snapshot.columns["n"][rows].tolist()
    start = 0
    for end in ends:
        if end == start + 1:
            yield places[start]
        else:
            heap = list(zip(item_ids[start:end], numbers[start:end], places[start:end], strict=True))
            heapq.heapify(heap)
            while heap:
                yield heapq.heappop(heap)[2]
        start = end
