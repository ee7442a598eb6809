"""The search index on a real OpenSearch: ``python -m evals.search_bench --url http://127.0.0.1:9200``.

Fills an index of its own with 100,000 passages of 1,000 users, measures, deletes it, and writes
``evals/results/search.json``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch

from evals.bench.machine import describe
from evals.progress import tracked
from evals.search_bench.measuring import Legs, all_of_few, recall_of_many
from evals.search_bench.passages import ALSO_DELETED, DIMENSIONS, FEW, FEW_PASSAGES, MANY, Filling
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import NEIGHBOURS, OpenSearchIndex
from neve.adapters.opensearch.places import create_index, switch_alias
from neve.domain.indexing.passage import Passage
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel, Owner

RESULT = Path("evals/results/search.json")
ALIAS = "neve-search-bench"
BATCH = 250
WRITERS = 2
DELETED_OF_OTHERS = 10
"""Of every other user, so that the index holds deletions all over."""
QUERIES = 50


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.search_bench", description=__doc__)
    parser.add_argument("--url", required=True, help="of an OpenSearch 2.19 with k-NN")
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=300, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    filling = Filling.of(options.passages, options.users, options.seed)
    with closing(open_search_client(options.url)) as client:
        name = create_index(Calls(client), ALIAS, IndexModel(f"seed-{options.seed}", DIMENSIONS), live=False)
        try:
            result = _measure(client, name, filling, options.calls)
        finally:
            client.indices.delete(index=name)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))
    return 0


def _measure(client: OpenSearch, name: str, filling: Filling, calls: int) -> dict[str, Any]:
    model = IndexModel(name, DIMENSIONS)
    began = time.monotonic()
    _fill(OpenSearchIndex(client, name, model, wait=False), filling)
    switch_alias(Calls(client), ALIAS, name)
    fill_s = time.monotonic() - began
    index = OpenSearchIndex(client, ALIAS, model, wait=False)
    before = index.count(FEW)
    _delete(index, filling)
    Calls(client).refresh(name)
    queries = filling.queries(QUERIES)
    legs = Legs(client, name, index)
    alike = [owner for owner in filling.counts if owner not in (FEW, MANY)]
    return {
        "machine": describe() | {"opensearch": client.info()["version"]["number"]},
        "passages": sum(filling.counts.values()),
        "users": len(filling.counts),
        "neighbours": NEIGHBOURS,
        "fill_s": round(fill_s, 1),
        "passages_of_few_before_and_after_deletions": [before, index.count(FEW)],
        "few_gets": all_of_few(index, queries),
        "calls_of_each_kind": calls,
        f"users with about {filling.counts[alike[0]]}": legs.timed(alike, queries, calls),
        f"the user with {filling.counts[MANY]}": legs.timed([MANY], queries, calls)
        | {"share of the exact nearest 20": recall_of_many(index, filling, DELETED_OF_OTHERS, queries)},
    }


def _fill(index: OpenSearchIndex, filling: Filling) -> None:
    """A small server turns writes away while it merges (429): they come again, as the queue's would."""

    def write(owner: Owner, passages: Sequence[Passage]) -> None:
        for pause_s in (1, 2, 4, 8, 16):
            try:
                return index.upsert(owner, passages)
            except StoreUnavailable:
                time.sleep(pause_s)
        return index.upsert(owner, passages)

    with ThreadPoolExecutor(WRITERS) as writers:
        writes = [
            writers.submit(write, owner, passages[start : start + BATCH])
            for owner, passages in filling.users()
            for start in range(0, len(passages), BATCH)
        ]
        for one in tracked("filling", writes):
            one.result()


def _delete(index: OpenSearchIndex, filling: Filling) -> None:
    """The surplus of the user with few, and the first passages of every other."""

    def trim(owner: Owner, first: int, count: int) -> None:
        for number in range(first, first + count):
            index.trim(owner, f"mem_{number:06d}", keep=0, version=1)

    with ThreadPoolExecutor(WRITERS) as writers:
        deletions = [writers.submit(trim, FEW, FEW_PASSAGES, ALSO_DELETED)]
        deletions += [writers.submit(trim, owner, 0, DELETED_OF_OTHERS) for owner in filling.counts if owner != FEW]
        for deletion in tracked("deleting", deletions):
            deletion.result()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
