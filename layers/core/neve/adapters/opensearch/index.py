"""The SearchIndex port on OpenSearch 2.19.

It analyses with the embedded engine's own code and scores by the same formula, so both rank alike. A document holds
its weighted counts; a query brings each term's idf, counted over the user's own passages by a request before it: so a
score says nothing about other users and does not change with them (docs/adr/0007)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from math import hypot, inf
from typing import Any, Final

from opensearchpy import OpenSearch

from neve.adapters.clock import SystemClock
from neve.adapters.opensearch.bulk_writes import BulkWrites
from neve.adapters.opensearch.calls import OVERTAKEN, Calls, IndexMissing, LineOutcome
from neve.adapters.opensearch.documents import delete_line, document_id, floats, index_lines, routing
from neve.adapters.opensearch.places import IndexPlace, Places
from neve.adapters.opensearch.queries import (
    Counts,
    as_float32,
    by_vector,
    by_words,
    count_of,
    count_terms,
    counts_of,
    everything_of,
    in_stored_terms,
)
from neve.caching import Caches
from neve.domain.indexing.passage import Passage, Source, removal_version, rev_of
from neve.domain.recall.query import TextQuery
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter

ALIAS: Final = "neve-passages"
NEIGHBOURS: Final = 1_000
"""Passages that the vector leg looks at: exact for every user with no more. For one with more the graph is walked, and
finds the better the more it looks at (``evals/search_bench``)."""
MAX_NEIGHBOURS: Final = 10_000
"""OpenSearch allows no more."""
_AHEAD: Final = 8
"""Passages beyond an item's last known one that are removed with it, so that an older version's are refused too."""
_LOOKED_AT: Final = 32
"""Numbers of passages that are looked up together: more than most items have."""
_PAGE: Final = 1_000

Hit = Mapping[str, Any]


class ForeignPassage(RuntimeError):
    """A search for one owner returned another's passage: a fault that no caller may paper over."""


class OpenSearchIndex:
    """See ports.search.SearchIndex. ``alias``: of the index, or an index's own name. Where there is none yet, the first
    write makes one for ``model``. Searches see a write once it returns; with ``wait=False``, which is for loading many
    passages, a second later. ``caches``: of the process; None: of its own, shared with no other."""

    def __init__(
        self, client: OpenSearch, alias: str, model: IndexModel, *, wait: bool = True, caches: Caches | None = None
    ) -> None:
        self._calls = Calls(client)
        self._bulk_writes = BulkWrites(self._calls)
        self._places = Places(self._calls, alias, model, caches or Caches(SystemClock().now))
        self._wait = wait

    def model(self) -> IndexModel:
        return self._places.model()

    # --- writing --------------------------------------------------------------------------------

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        """Write passages. Raises ValueError also for a passage that the index refuses; others of the call may have been
        written."""
        with self._place(write=True) as place:
            for passage in passages:
                if passage.vector is not None:
                    _check(passage.vector, place.model.dimensions)
            written = self._bulk(place, [index_lines(owner, passage) for passage in passages], wait=self._wait)
            if self._wait and written and all(one.status == OVERTAKEN for one in written):
                self._calls.refresh(place.index)  # its writer may not have waited: what is newer may be invisible yet
            beyond = _find_left_over(passages, self._find_removed(place, owner, passages, written))
            self._bulk(place, [delete_line(owner, one.item_id, one.n, one.document_version) for one in beyond])

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        """Remove passages by their numbers, also those that no search can see yet: from the last one down, so that a
        caller that repeats a removal which broke off finds those that are left."""
        removed = removal_version(version)
        with self._place(write=True) as place:
            end = self._end_of(place, owner, item_id, keep) + _AHEAD
            self._bulk(place, [delete_line(owner, item_id, n, removed) for n in reversed(range(keep, end))])

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        """Remove everything of an owner page by page: up to one page more than ``at_most``."""
        erased = 0
        with self._place(write=True) as place:
            while at_most is None or erased < at_most:
                self._calls.refresh(place.index)
                hits = self._hits(place, owner, everything_of(owner, _PAGE))
                if not hits:
                    break
                lines = [
                    delete_line(owner, hit["_source"]["item_id"], hit["_source"]["n"], hit["_version"]) for hit in hits
                ]
                erased += sum(one.found and one.status != OVERTAKEN for one in self._bulk(place, lines))
        return erased

    # --- reading --------------------------------------------------------------------------------

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        asked = in_stored_terms(query)
        if asked is None:
            return FoundByWords([], 0)
        with self._place() as place:
            counts = self._counts(place, owner, asked.terms, where)
            hits = self._hits(place, owner, by_words(owner, asked, counts.idf, where, depth))
            return FoundByWords([_candidate(hit, as_float32(hit["sort"][0])) for hit in hits], counts.admitted)

    def _counts(self, place: IndexPlace, owner: Owner, terms: Sequence[str], where: SearchFilter) -> Counts:
        """Count the passages of each term. A phrase alone needs no counts, and is not worth a request."""
        if not terms:
            return Counts({}, 0)
        return counts_of(terms, self._calls.search(place.index, count_terms(owner, terms, where), routing(owner)))

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        with self._place() as place:
            _check(vector, place.model.dimensions)
            neighbours = NEIGHBOURS
            while True:
                query = by_vector(owner, vector, where, depth, neighbours)
                answer = self._calls.search(place.index, query, routing(owner))
                hits = _require_owner(owner, answer)
                if len(hits) >= depth or not _may_have_more(answer, neighbours):
                    return [_candidate(hit, min(1.0, max(-1.0, 2 * hit["sort"][0] - 1))) for hit in hits]
                neighbours = min(10 * neighbours, MAX_NEIGHBOURS)

    def count(self, owner: Owner) -> int:
        with self._place() as place:
            return self._calls.count(place.index, count_of(owner), routing(owner))

    # --- parts ----------------------------------------------------------------------------------

    @contextmanager
    def _place(self, *, write: bool = False) -> Iterator[IndexPlace]:
        """Give the index to work on; one that is gone is looked up again by the next call."""
        try:
            yield self._places.writable() if write else self._places.current()
        except IndexMissing:
            self._places.forget()
            raise

    def _end_of(self, place: IndexPlace, owner: Owner, item_id: str, first: int) -> int:
        """Find the number behind the last passage of an item, ``first`` or above. They are numbered without gaps:
        ``_AHEAD`` in a row that are not there are the end."""
        end = first
        for start in count(first, _LOOKED_AT):
            numbers = {document_id(owner, item_id, n): n for n in range(start, start + _LOOKED_AT)}
            there = self._calls.present(place.index, list(numbers), routing(owner))
            end = max((numbers[one] + 1 for one in there), default=end)
            if end + _AHEAD <= start + _LOOKED_AT:
                break
        return end

    def _find_removed(
        self, place: IndexPlace, owner: Owner, passages: Sequence[Passage], written: Sequence[LineOutcome]
    ) -> list[Passage]:
        """Give the passages that were refused because their item was removed, not because something newer of it is
        there."""
        refused = {
            document_id(owner, passage.item_id, passage.n): passage
            for passage, outcome in zip(passages, written, strict=True)
            if outcome.status == OVERTAKEN
        }
        if not refused:
            return []
        there = self._calls.present(place.index, list(refused), routing(owner))
        return [passage for identifier, passage in refused.items() if identifier not in there]

    def _hits(self, place: IndexPlace, owner: Owner, query: Mapping[str, Any]) -> list[Hit]:
        return _require_owner(owner, self._calls.search(place.index, query, routing(owner)))

    def _bulk(self, place: IndexPlace, lines: Sequence[str], *, wait: bool = False) -> list[LineOutcome]:
        return self._bulk_writes.send(place.writes, lines, wait=wait)


def _check(vector: bytes, dimensions: int) -> None:
    """Check a vector. Raises ValueError for other dimensions, and for a vector without a direction."""
    if not dimensions or len(vector) != 4 * dimensions:
        raise ValueError(f"a vector of {len(vector)} bytes in an index of {dimensions} dimensions")
    if not 0 < hypot(*floats(vector)) < inf:
        raise ValueError("a vector without a direction")


def _find_left_over(passages: Iterable[Passage], removed: Iterable[Passage]) -> list[Passage]:
    """Give what was written of a removed item: it had more passages than the removal reckoned with."""
    first: dict[tuple[str, int], int] = {}
    for passage in removed:
        item = (passage.item_id, passage.version)
        first[item] = min(passage.n, first.get(item, passage.n))
    return [one for one in passages if one.n > first.get((one.item_id, one.version), one.n)]


def _require_owner(owner: Owner, answer: Mapping[str, Any]) -> list[Hit]:
    """Give the hits. Raises ForeignPassage unless all are the owner's."""
    hits: list[Hit] = answer["hits"]["hits"]
    for hit in hits:
        if (hit["_source"]["tenant"], hit["_source"]["user"]) != owner:
            raise ForeignPassage(f"the index returned a passage of another owner: {hit['_id']}")
    return hits


def _may_have_more(answer: Mapping[str, Any], neighbours: int) -> bool:
    """Say whether passages beyond the neighbours could give further items."""
    return int(answer["hits"]["total"]["value"]) >= neighbours < MAX_NEIGHBOURS


def _candidate(hit: Hit, score: float) -> Candidate:
    about = hit["_source"]
    return Candidate(
        item_id=about["item_id"],
        n=about["n"],
        score=score,
        version=rev_of(hit["_version"]),
        fingerprint=about["fingerprint"],
        source=Source(about["source"]),
        length=about["length"],
    )
