"""Where token vectors are cheapest to fetch for the candidates of a recall: ``python -m evals.late.storage``.

Three places for the token vectors of one user's passages: rows of the table, by id; a field of the search index's
documents; an object of its own for each passage, or one segment for all. On the embedded engines and, with
``--servers``, on DynamoDB Local, OpenSearch and S3Proxy. Random bytes of the sizes that token vectors have: what they
say makes no difference to a store.

Writes ``evals/results/late_storage.json``: milliseconds for 100 candidates, and what a million such recalls cost by
list prices. The times of servers of one machine say which is slower here; on AWS each call adds its way through the
network, which a table and an index have alike."""

from __future__ import annotations

import argparse
import base64
import json
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.bench.machine import describe
from evals.cost.prices import PRICES
from local.aws.data_definitions import create_table
from local.aws.local_servers import local_session
from local.engine.sqlite_table import SqliteTable
from local.stack.jars import Server
from local.stack.servers import start_servers
from neve.adapters.aws.clients import aws_client
from neve.adapters.dynamodb.table import DynamoDbTable
from neve.adapters.opensearch.client import open_search_client
from neve.ports.table import Table
from neve.store.keys import UserKeys
from neve.store.token_vectors import TokenVectors

RESULT = Path("evals/results/late_storage.json")
CANDIDATES = 100
SIZES = {"chat turns": 40 * 16, "long passages": 245 * 16}
"""Bytes: 40 and 245 tokens at 16."""
READ_UNIT = 4096
KEYS = UserKeys("bench", "ann")
BATCH = 50


@dataclass(frozen=True, slots=True)
class Place:
    """``fetch`` takes ids. ``usd``: of one fetch of 100, by list prices."""

    name: str
    fetch: Callable[[Sequence[str]], int]
    usd: float


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="evals.late.storage", description=__doc__)
    parser.add_argument("--passages", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--servers", action="store_true", help="also on real servers, which are started")
    parser.add_argument("--out", type=Path, default=RESULT)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, size in SIZES.items():
            vectors = dict(_vectors(options.passages, size))
            places = _embedded(Path(folder) / what.split()[0], vectors, size)
            found[what] = {place.name: _timed(place, list(vectors), options.rounds) for place in places}
        if options.servers:
            with _servers(Path(folder)) as urls:
                for what, size in SIZES.items():
                    vectors = dict(_vectors(options.passages, size))
                    for place in _on_servers(urls, what.split()[0], vectors, size):
                        found[what][place.name] = _timed(place, list(vectors), options.rounds)
    result = {"machine": describe(), "passages": options.passages, "candidates": CANDIDATES, "bytes": SIZES}
    result |= {"rounds": options.rounds, "fetches": found}
    options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))
    return 0


def _vectors(count: int, size: int) -> Iterator[tuple[str, bytes]]:
    drawn = random.Random(size)
    return ((f"evt:s1:{n}", drawn.randbytes(size)) for n in range(count))


def _timed(place: Place, ids: Sequence[str], rounds: int) -> dict[str, float]:
    drawn, took = random.Random(place.name), []
    for _ in range(rounds):
        wanted = drawn.sample(ids, CANDIDATES)
        began = time.perf_counter()
        fetched = place.fetch(wanted)
        took.append((time.perf_counter() - began) * 1000)
        assert fetched == CANDIDATES, f"{place.name} gave {fetched}"
    took.sort()
    p95 = took[math.ceil(0.95 * len(took)) - 1]
    return {
        "p50_ms": round(statistics.median(took), 2),
        "p95_ms": round(p95, 2),
        "usd_a_million": round(place.usd * 1e6, 2),
    }


# --- embedded -------------------------------------------------------------------------------------


def _embedded(folder: Path, vectors: dict[str, bytes], size: int) -> Iterator[Place]:
    folder.mkdir()
    table = SqliteTable(folder / "table.db")
    _fill(table, vectors)
    yield Place("rows, SQLite", lambda ids: _rows(table, ids), 0)
    path, at = folder / "segment", {i: n * size for n, i in enumerate(vectors)}
    path.write_bytes(b"".join(vectors.values()))

    def segment(ids: Sequence[str]) -> int:
        with path.open("rb") as file:
            found = 0
            for i in ids:
                file.seek(at[i])
                found += len(file.read(size)) == size
            return found

    yield Place("segment, file", segment, 0)
    table.close()


def _fill(table: Table, vectors: dict[str, bytes]) -> None:
    rows = [TokenVectors(i, "f" * 64, "model", (codes,)).put(KEYS) for i, codes in vectors.items()]
    for start in range(0, len(rows), BATCH):
        table.write(rows[start : start + BATCH])


def _rows(table: Table, ids: Sequence[str]) -> int:
    found = table.get_many([KEYS.tokens_of(i) for i in ids])
    return sum(bool(item["parts"]) for item in found.values())


# --- servers --------------------------------------------------------------------------------------


@contextmanager
def _servers(folder: Path) -> Iterator[dict[Server, str]]:
    running = start_servers([Server.DYNAMODB, Server.OPENSEARCH, Server.S3], folder / "servers")
    try:
        yield dict(running.urls)
    finally:
        running.stop()


def _on_servers(urls: dict[Server, str], name: str, vectors: dict[str, bytes], size: int) -> Iterator[Place]:
    session = local_session()
    dynamodb = aws_client("dynamodb", endpoint_url=urls[Server.DYNAMODB], session=session)
    create_table(dynamodb, name)
    table = DynamoDbTable(dynamodb, name)
    _fill(table, vectors)
    units = CANDIDATES * math.ceil((size + 200) / READ_UNIT)
    yield Place("rows, DynamoDB Local", lambda ids: _rows(table, ids), units * PRICES["read unit"].usd)
    yield from _in_the_index(urls[Server.OPENSEARCH], name, vectors)
    yield _objects(session, urls[Server.S3], name, vectors)


def _in_the_index(url: str, name: str, vectors: dict[str, bytes]) -> Iterator[Place]:
    """As doc values, and as a stored field: the two ways in which a search can give a binary field back."""
    client = open_search_client(url)
    for way in ("docvalue_fields", "stored_fields"):
        index, stored = f"{name}-{way.split('_')[0]}", way == "stored_fields"
        binary = {"type": "binary", "doc_values": not stored, "store": stored}
        mappings = {"_source": {"enabled": False}, "properties": {"tokens": binary}}
        client.indices.create(
            index=index, body={"settings": {"number_of_shards": 1, "number_of_replicas": 0}, "mappings": mappings}
        )
        items = list(vectors.items())
        for start in range(0, len(items), 500):
            lines: list[Any] = []
            for i, codes in items[start : start + 500]:
                lines += [{"index": {"_index": index, "_id": i}}, {"tokens": base64.b64encode(codes).decode()}]
            client.bulk(body=lines)
        client.indices.refresh(index=index)
        client.indices.forcemerge(index=index)

        def fetch(ids: Sequence[str], index: str = index, way: str = way) -> int:
            body = {"query": {"ids": {"values": list(ids)}}, "size": len(ids), way: ["tokens"]}
            hits = client.search(index=index, body=body)["hits"]["hits"]
            return sum(bool(_decoded(hit["fields"]["tokens"][0])) for hit in hits)

        yield Place(f"index, {way}", fetch, 0)
        client.indices.delete(index=index)
    client.close()


def _decoded(text: str) -> bytes:
    """Doc values come in the alphabet for URLs and without padding, stored fields in the usual one."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_" if {*"-_"} & {*text} else None)


def _objects(session: Any, url: str, name: str, vectors: dict[str, bytes]) -> Place:
    """One segment a user, read in whole: a ranged GET for each of 100 candidates costs 100 times as much."""
    s3 = aws_client("s3", endpoint_url=url, session=session)
    s3.create_bucket(Bucket=name)
    s3.put_object(Bucket=name, Key="segment", Body=b"".join(vectors.values()))

    def fetch(ids: Sequence[str]) -> int:
        return len(ids) if s3.get_object(Bucket=name, Key="segment")["Body"].read() else 0

    return Place("segment, object in whole", fetch, PRICES["object read"].usd)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
