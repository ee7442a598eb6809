"""Late interaction in a recall: the query is encoded beside the legs, the candidates' token vectors are read beside
their rows. Whatever is missing or fails, the stage that uses it goes on without (docs/rules/recall.md#rerank)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from neve.caching import CacheSpec
from neve.ports.errors import DeadlineExceeded, EmbeddingRetryable, EmbeddingUnavailable, StoreUnavailable
from neve.ports.models import TokenEncoder
from neve.ports.runtime import Task
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store.token_vectors import TokenVectors, read_token_vectors
from neve.usecases.recall.command import ResolvedRequest
from neve.usecases.recall.recall_rows import RecallRow
from neve.usecases.recall.stages.hydrate import Hydrated
from neve.usecases.recall.time_budget import TimeBudget

QUERY_TOKENS: CacheSpec[tuple[str, str, str], bytes] = CacheSpec("query tokens", size=200)
"""By model, tenant and text, as ``legs.QUERY_VECTORS``: 1 MB at 20 tokens a question."""
LATE_ERROR = "late:error"
LATE_TIMEOUT = "late:timeout"
NO_ENCODER = "late:no_encoder"


@dataclass
class Late:
    """Of one search. Does nothing unless the request is reranked late."""

    scope: UserScope
    request: ResolvedRequest
    budget: TimeBudget
    degraded: list[str]
    _query: Task[bytes] | None = None
    _reading: list[Task[dict[Key, Item]]] = field(default_factory=list)
    _read: dict[str, TokenVectors] = field(default_factory=dict)

    def start(self) -> None:
        """The query, at the beginning of the search."""
        encoder = self.scope.ports.token_encoder
        if self.request.rerank != "late" or not self.request.vector:
            return
        if encoder is None:
            self.degraded.append(NO_ENCODER)
            return
        cache, text = self.scope.ports.caches.of(QUERY_TOKENS), self.request.vector_text
        key = (encoder.model, self.scope.tenant.id, text)

        def encode() -> bytes:
            known = cache.get(key)
            return known if known is not None else cache.put(key, encoder.encode_query(text))

        self._query = self.scope.ports.tasks.start(encode)

    def read(self, ids: Iterable[str]) -> None:
        """The token vectors of these candidates, while somebody reads their rows."""
        if self._query is None:
            return
        table, keys = self.scope.ports.table, self.scope.keys
        places = [keys.tokens_of(i) for i in dict.fromkeys(ids)]
        if places:
            self._reading.append(self.scope.ports.tasks.start(lambda: table.get_many(places)))

    def similarities(self, rows: Hydrated) -> Mapping[str, float]:
        """MaxSim by id, of the rows that have token vectors of the text that they have now; empty when they could not
        be compared, which ``degraded`` then says."""
        encoder = self.scope.ports.token_encoder
        if encoder is None or self._query is None:
            return {}
        try:
            query = self._query.result(self.budget.ends_ms)
            for reading in self._reading:
                found = map(read_token_vectors, reading.result(self.budget.ends_ms).values())
                self._read |= {vectors.item_id: vectors for vectors in found}
            self._reading.clear()
            return _similarities(encoder, query, rows, self._read)
        except DeadlineExceeded:
            self._without(LATE_TIMEOUT)
        except (EmbeddingUnavailable, EmbeddingRetryable, StoreUnavailable):
            self._without(LATE_ERROR)
        return {}

    def _without(self, flag: str) -> None:
        self._query = None
        self.degraded.append(flag)


def _similarities(
    encoder: TokenEncoder, query: bytes, rows: Hydrated, read: Mapping[str, TokenVectors]
) -> Mapping[str, float]:
    parts = {i: vectors.parts for i, vectors in read.items() if _is_of(vectors, rows.get(i), encoder.model)}
    scores = encoder.similarities(query, list(parts.values())) if parts else []
    return {identifier: round(score, 6) for identifier, score in zip(parts, scores, strict=True)}


def _is_of(vectors: TokenVectors, row: object, model: str) -> bool:
    return isinstance(row, RecallRow) and vectors.good_for(row.fingerprint, model)
