"""The SearchIndex port on one machine: passages in a SQLite file, and in memory one segment for each active user."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from local.engine.near_tasks import may_take_long
from local.engine.search.analysis import Analyzer, stored_terms
from local.engine.search.passage_file import Changes, PassageFile
from local.engine.search.search_legs import TermQuery, keyword_leg, vector_leg
from local.engine.search.segment import Segment, Snapshot
from local.engine.search.segment_cache import SegmentCache
from local.engine.search.segment_filter import admitted
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import QueryTerms, TextQuery, query_terms
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter
from neve.troubles import Troubles

CACHE_BYTES = 1024 * 1024 * 1024
"""About 350,000 passages of 25 words with 384-dimensional vectors."""
_LOCKS = 64
_UNIT = 1e-6


class _RowReplaced(Exception):
    """A search wants the text of a row that was written again since its snapshot, with its vector as a rule: the
    passage may match all the same."""


class SqliteSearchIndex:
    """See ports.search.SearchIndex. A search holds no lock while it reads, but one for a phrase whose passages were
    written meanwhile; writes of one user take turns.

    A file remembers the model that it was made with, whatever ``model`` says later. With ``dimensions=0`` it takes no
    vectors. Only one process may have the file open."""

    def __init__(
        self, path: Path, model: IndexModel, *, cache_bytes: int = CACHE_BYTES, troubles: Troubles | None = None
    ) -> None:
        self._analyzer = Analyzer()
        self._file = PassageFile(path, model, self._analyzer, troubles)
        self._segments = SegmentCache(cache_bytes)
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def close(self) -> None:
        """Later calls raise StoreUnavailable."""
        self._file.close()

    def wipe(self) -> bool:
        """See ``SqliteFile``."""
        return self._file.wipe()

    def model(self) -> IndexModel:
        return self._file.model

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        checked = [self._with_unit_vector(passage) for passage in passages]
        with self._lock_of(owner):
            self._follow(owner, self._file.upsert(owner, checked))

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        with self._lock_of(owner):
            self._follow(owner, self._file.trim(owner, item_id, keep=keep, version=version))

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:  # noqa: ARG002
        """All of it, in one transaction of the file."""
        with self._lock_of(owner):
            self._segments.drop(owner)
            return self._file.erase(owner)

    def count(self, owner: Owner) -> int:
        return self._file.count(owner)

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        asked = query_terms(query)
        if asked.matches_nothing:
            return FoundByWords([], 0)
        terms = self._in_stored_terms(asked)
        try:
            return _by_words(self._snapshot(owner), terms, where, depth)
        except _RowReplaced:
            with self._lock_of(owner):
                return _by_words(self._segment(owner).snapshot, terms, where, depth)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        unit = self._unit(vector)
        snapshot = self._snapshot(owner)
        return vector_leg(snapshot, unit, admitted(snapshot, where), depth)

    def _in_stored_terms(self, asked: QueryTerms) -> TermQuery:
        return TermQuery(
            groups=[stored_terms(group) for group in asked.groups],
            min_match=asked.min_match,
            required=stored_terms(asked.phrase_terms),
            excluded=stored_terms(asked.excluded),
            accepts=lambda row: self._agrees_in_phrases(row, asked),
        )

    def _agrees_in_phrases(self, row: int, asked: QueryTerms) -> bool:
        if not asked.phrases and not asked.excluded_phrases:
            return True
        text = self._file.text(row)
        if text is None:
            raise _RowReplaced
        return asked.agrees_in_phrases(text)

    def _snapshot(self, owner: Owner) -> Snapshot:
        segment = self._segments.get(owner)
        if segment is None:
            may_take_long()
            with self._lock_of(owner):
                segment = self._segment(owner)
        return segment.snapshot

    def _segment(self, owner: Owner) -> Segment:
        """For whoever holds the owner's lock."""
        return self._segments.get(owner) or self._load(owner)

    def _load(self, owner: Owner) -> Segment:
        segment = Segment(self.model().dimensions, room=self._file.count(owner))
        try:
            segment.load(self._file.load(owner))
        except (ValueError, TypeError, LookupError) as error:
            raise self._file.condemn() from error
        self._segments.put(owner, segment)
        return segment

    def _follow(self, owner: Owner, changes: Changes) -> None:
        """Bring the user's segment, if it is in memory, to what the file says."""
        segment = self._segments.get(owner)
        if segment is None:
            return
        try:
            segment.apply(changes.removed_rows, changes.added)
        except BaseException:
            self._segments.drop(owner)
            raise
        if segment.mostly_dead:
            self._load(owner)
        else:
            self._segments.put(owner, segment)

    def _lock_of(self, owner: Owner) -> threading.Lock:
        return self._locks[hash(owner) % _LOCKS]

    def _with_unit_vector(self, passage: Passage) -> Passage:
        return passage if passage.vector is None else replace(passage, vector=self._unit(passage.vector).tobytes())

    def _unit(self, vector: bytes) -> NDArray[np.float32]:
        """The vector at length 1. Raises ValueError for other dimensions, and for one without a direction."""
        dimensions = self.model().dimensions
        if not dimensions or len(vector) != 4 * dimensions:
            raise ValueError(f"a vector of {len(vector)} bytes in an index of {dimensions} dimensions")
        values: NDArray[np.float32] = np.frombuffer(vector, "<f4").astype(np.float32)
        length = float(np.linalg.norm(values))
        if not 0 < length < float("inf"):
            raise ValueError("a vector without a direction")
        return values if abs(length - 1) < _UNIT else values / np.float32(length)


def _by_words(snapshot: Snapshot, terms: TermQuery, where: SearchFilter, depth: int) -> FoundByWords:
    """Raises _RowReplaced."""
    mask = admitted(snapshot, where)
    among = int(mask.sum())  # the leg takes out of it what holds no term
    return FoundByWords(keyword_leg(snapshot, terms, mask, depth), among)
