"""The SearchIndex port on one machine: passages in a SQLite file, and in memory one segment for each active user."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from local.engine.near_tasks import may_take_long
from local.engine.search.passage_file import Changes, PassageFile
from neve.adapters.segments.analysis import Analyzer
from neve.adapters.segments.searching import by_vector, by_words, unit_vector, with_unit_vector
from neve.adapters.segments.segment import Segment, Snapshot
from neve.adapters.segments.segment_cache import SegmentCache
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import TextQuery, query_terms
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter
from neve.troubles import Troubles

CACHE_BYTES = 1024 * 1024 * 1024
"""About 350,000 passages of 25 words with 384-dimensional vectors."""
_LOCKS = 64


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
        self._segments = SegmentCache[Segment](cache_bytes)
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
        checked = [with_unit_vector(self.model(), passage) for passage in passages]
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
        try:
            return by_words(self._snapshot(owner), asked, self._text, where, depth)
        except _RowReplaced:
            with self._lock_of(owner):
                return by_words(self._segment(owner).snapshot, asked, self._text, where, depth)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        return by_vector(self._snapshot(owner), unit_vector(self.model(), vector), where, depth)

    def _text(self, row: int) -> str:
        text = self._file.text(row)
        if text is None:
            raise _RowReplaced
        return text

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
