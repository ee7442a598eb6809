"""The two legs of a recall through the adapter, beside the least that two legs can cost: one bare ``_msearch``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from opensearchpy import OpenSearch

from evals.bench.measuring import median_and_p95
from evals.search_bench.passages import FEW, FEW_PASSAGES, MANY, Filling
from neve.adapters.clock import SystemClock, ThreadTasks
from neve.adapters.opensearch.documents import floats, routing
from neve.adapters.opensearch.index import OpenSearchIndex
from neve.domain.recall.query import TextQuery, shape
from neve.ports.search import Owner, SearchFilter

DEPTH = 60
"""Of each leg, as recall reads them where utterances are searched."""
WARM_UP = 30
K = 20

Query = tuple[str, bytes]


class Legs:
    """One user's searches after another's."""

    def __init__(self, client: OpenSearch, name: str, index: OpenSearchIndex) -> None:
        self._client, self._name, self._index = client, name, index
        self._tasks = ThreadTasks(SystemClock())

    def timed(self, owners: Sequence[Owner], queries: Sequence[Query], calls: int) -> dict[str, Any]:
        """Milliseconds, p50 and p95 of ``calls`` each, all kinds in turn on the same owner and query."""
        kinds: dict[str, Callable[[Owner, Query], object]] = {
            "bare _msearch of two legs": self._bare,
            "both legs through the adapter": self._both,
            "keyword leg": self._keyword,
            "vector leg": self._vector,
        }
        taken: dict[str, list[float]] = {kind: [] for kind in kinds}
        for number in range(WARM_UP + calls):
            owner, query = owners[number % len(owners)], queries[number % len(queries)]
            for kind, call in kinds.items():
                began = time.perf_counter()
                call(owner, query)
                if number >= WARM_UP:
                    taken[kind].append((time.perf_counter() - began) * 1000)
        return {kind: median_and_p95(times, digits=2) for kind, times in taken.items()}

    def _both(self, owner: Owner, query: Query) -> None:
        keyword = self._tasks.start(lambda: self._keyword(owner, query))
        vector = self._tasks.start(lambda: self._vector(owner, query))
        keyword.result()
        vector.result()

    def _keyword(self, owner: Owner, query: Query) -> object:
        return self._index.search_text(owner, shape(query[0]).text_query, SearchFilter(), DEPTH).candidates

    def _vector(self, owner: Owner, query: Query) -> object:
        return self._index.search_vector(owner, query[1], SearchFilter(), DEPTH)

    def _bare(self, owner: Owner, query: Query) -> None:
        """Without idf of the user, order of ties, one hit an item, or more neighbours than hits."""
        of_owner = [{"term": {"tenant": owner.tenant}}, {"term": {"user": owner.user}}]
        words = {"bool": {"filter": of_owner, "must": {"match": {"words": query[0].lower()}}}}
        nearest = {"vector": floats(query[1]), "k": DEPTH, "filter": {"bool": {"filter": of_owner}}}
        head = json.dumps({"index": self._name, "routing": routing(owner)})
        searches = [{"size": DEPTH, "query": body} for body in (words, {"knn": {"vector": nearest}})]
        lines = "".join(f"{head}\n{json.dumps(search)}\n" for search in searches)
        answer = self._client.msearch(body=lines)
        assert not any("error" in response for response in answer["responses"]), answer["responses"]


def all_of_few(index: OpenSearchIndex, queries: Sequence[Query]) -> dict[str, int]:
    """How many of its ``FEW_PASSAGES`` passages the user with few gets for k = 20, by leg; the least of all queries."""
    where = SearchFilter()
    every_word = TextQuery(groups=(("march",),))
    return {
        "keyword leg": len(index.search_text(FEW, every_word, where, K).candidates),
        "vector leg": min(len(index.search_vector(FEW, vector, where, K)) for _, vector in queries),
        "of": FEW_PASSAGES,
    }


def recall_of_many(index: OpenSearchIndex, filling: Filling, deleted: int, queries: Sequence[Query]) -> float:
    """Share of the exact 20 nearest that the vector leg finds for the user with a tenth of the index, of which the
    first ``deleted`` passages are gone."""
    [held] = [passages[deleted:] for owner, passages in filling.users() if owner == MANY]
    matrix = np.stack([np.frombuffer(passage.vector or b"", "<f4") for passage in held])
    found = 0
    for _, vector in queries:
        best = np.argsort(-(matrix @ np.frombuffer(vector, "<f4")), kind="stable")[:K]
        exact = {held[n].item_id for n in best}
        found += len(exact & {c.item_id for c in index.search_vector(MANY, vector, SearchFilter(), K)})
    return round(found / (K * len(queries)), 4)
