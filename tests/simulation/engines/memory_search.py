"""The SearchIndex port as a dict. What was written becomes visible after a lag."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from struct import unpack
from threading import Lock

from neve.domain.indexing.passage import Passage, removal_version
from neve.domain.recall.query import TextQuery, query_terms
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter
from tests.simulation.engines.memory_legs import admits, keyword_leg, vector_leg

Place = tuple[str, int]
"""Item id and n."""


class MemorySearch:
    """``stored``: what was written; ``_shown``: what searches see of it. ``lag``: seconds between the two."""

    def __init__(
        self,
        model: IndexModel,
        now_s: Callable[[], float] = lambda: 0.0,
        lag: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self.stored: dict[Owner, dict[Place, Passage]] = {}
        self._model = model
        self._now_s = now_s
        self._lag = lag
        self._lock = Lock()
        self._removed: dict[Owner, dict[str, dict[int, int]]] = {}
        self._shown: dict[Owner, dict[Place, Passage]] = {}
        self._coming: list[tuple[float, int, Owner, Place, Passage | None]] = []
        self._refreshed_s: dict[Owner, float] = {}
        self._changes = 0

    def model(self) -> IndexModel:
        return self._model

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        for passage in passages:
            if passage.vector is not None:
                self._check(passage.vector)
        with self._lock:
            own = self.stored.setdefault(owner, {})
            for passage in passages:
                place = (passage.item_id, passage.n)
                stands = own.get(place)
                if stands is not None and stands.document_version > passage.document_version:
                    continue
                if passage.document_version >= self._removed_below(owner, place):
                    own[place] = passage
                    self._announce(owner, place, passage)

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        limit = removal_version(version)
        with self._lock:
            own = self.stored.get(owner, {})
            for place in [p for p, one in own.items() if _surplus(p, one, item_id, keep, limit)]:
                del own[place]
                self._announce(owner, place, None)
            removed = self._removed.setdefault(owner, {}).setdefault(item_id, {})
            removed[keep] = max(limit, removed.get(keep, 0))

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        with self._lock:
            gone = self.stored.pop(owner, {})
            self._removed.pop(owner, None)
            for place in gone:
                self._announce(owner, place, None)
            return len(gone)

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        asked, passages = query_terms(query), self._seen(owner)
        if asked.matches_nothing:
            return FoundByWords([], 0)
        among = sum(admits(where, passage) for passage in passages.values())
        return FoundByWords(keyword_leg(passages, asked, where, depth), among)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        return vector_leg(self._seen(owner), self._check(vector), where, depth)

    def count(self, owner: Owner) -> int:
        return len(self._seen(owner))

    # --- parts ----------------------------------------------------------------------------------

    def _check(self, vector: bytes) -> tuple[float, ...]:
        """Raises ValueError for other dimensions, and for a vector without a direction."""
        dimensions = self._model.dimensions
        if not dimensions or len(vector) != 4 * dimensions:
            raise ValueError(f"a vector of {len(vector)} bytes in an index of {dimensions} dimensions")
        values = unpack(f"<{dimensions}f", vector)
        if not any(values):
            raise ValueError("a vector without a direction")
        return values

    def _removed_below(self, owner: Owner, place: Place) -> int:
        item_id, n = place
        removed = self._removed.get(owner, {}).get(item_id, {})
        return max((limit for keep, limit in removed.items() if n >= keep), default=-1)

    def _announce(self, owner: Owner, place: Place, passage: Passage | None) -> None:
        """A refresh shows all that one owner has written so far."""
        at = max(self._now_s() + self._lag(), self._refreshed_s.get(owner, 0.0))
        self._refreshed_s[owner] = at
        self._changes += 1
        heappush(self._coming, (at, self._changes, owner, place, passage))

    def _seen(self, owner: Owner) -> dict[Place, Passage]:
        with self._lock:
            now = self._now_s()
            while self._coming and self._coming[0][0] <= now:
                _, _, whose, place, passage = heappop(self._coming)
                shown = self._shown.setdefault(whose, {})
                if passage is None:
                    shown.pop(place, None)
                else:
                    shown[place] = passage
            return dict(self._shown.get(owner, {}))


def _surplus(place: Place, passage: Passage, item_id: str, keep: int, limit: int) -> bool:
    return place[0] == item_id and place[1] >= keep and passage.document_version <= limit
