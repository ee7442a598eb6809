"""``python -m evals.bench.segments``: the search engine ``segments`` beside the embedded one, in one run.

Both hold the same passages of one user, of 25 words and 384 numbers. *Warm*: a process that has searched this user
before; it reads the rows of the deltas for each pair of legs, as a recall does. *Cold*: one that has loaded nothing,
from files whose first byte comes after 30 ms and the rest at 70 MB a second, of each connection, as from S3 (*assumed*;
where a function's own network is what limits it, pieces win nothing). *Cold by pieces*: the same with the base in so
many objects, round by round beside each other. *Cold from files*: the same without any wait, as a copy on the
function's own disk would be. *Equal*: the ids of the first twenty of each leg, against the embedded engine. The table
is the embedded one: the round trip to DynamoDB comes on top, once a recall."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from evals.bench import machine
from evals.bench.measuring import median_and_p95
from evals.bench.texts import memory_texts, questions
from local.engine.file_objects import FileObjects
from local.engine.search.search_index import SqliteSearchIndex
from local.engine.sqlite_table import SqliteTable
from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.adapters.segments.index import OBJECT_TYPE, SegmentsIndex
from neve.domain.indexing.passage import Passage, Source
from neve.domain.recall.query import shape
from neve.ports.search import IndexModel, Owner, SearchFilter, SearchIndex
from neve.ports.table import Put
from neve.store.keys import UserKeys

RESULT = Path("evals/results/segments.json")
DIMENSIONS = 384
MODEL = IndexModel("bench", DIMENSIONS)
OWNER = Owner("bench", "ada")
EVERYTHING = SearchFilter()
DEPTH = 20
A_TURN = 4
"""Passages of one write, as a turn leaves them."""
A_TURN_S = 20
QUESTIONS = 200
COLD = 7
CUTS = (1, 2, 4, 8)
"""Objects of a base that are compared."""
FIRST_BYTE_S, BYTES_A_SECOND = 0.030, 70_000_000
WARM_TIMES, COLD_MS = 1.5, 600.0
"""What is asked for at 10,000 passages: at most so many times the embedded engine's p95, and so many ms."""


class FarClock(SystemClock):
    """One whose reads lie far enough apart that none is good for the next pair of legs."""

    def __init__(self) -> None:
        self.ahead_ms = 0.0

    def now(self) -> datetime:
        return super().now() + timedelta(milliseconds=self.ahead_ms)

    def monotonic_ms(self) -> float:
        return super().monotonic_ms() + self.ahead_ms


@dataclass(frozen=True)
class FarObjects:
    """Objects that take as long as from S3; whoever loads several at once waits for each alone."""

    near: FileObjects

    def __getattr__(self, name: str) -> Any:
        return getattr(self.near, name)

    def get(self, key: str) -> bytes | None:
        began = time.perf_counter()
        body = self.near.get(key)
        due = began + FIRST_BYTE_S + len(body or b"") / BYTES_A_SECOND
        time.sleep(max(0.0, due - time.perf_counter()))
        return body


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.bench.segments", description=__doc__)
    parser.add_argument("--passages", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--keep", action="store_true", help=f"write {RESULT}")
    given = parser.parse_args()
    sizes = {str(size): _measure(size) for size in given.passages}
    result = {"at": datetime.now().astimezone().date().isoformat(), "machine": machine.describe(), "passages": sizes}
    print(json.dumps(result, indent=1))
    if given.keep:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    wanted = sizes.get("10000")
    if wanted is None:
        return 0
    warm, cold = wanted["p95_times_embedded"], wanted["cold"]["p95_ms"]
    print(
        f"at 10,000: warm p95 {warm} times the embedded one (asked: {WARM_TIMES}), "
        f"cold {cold} ms (asked: {COLD_MS:.0f})"
    )
    return int(warm > WARM_TIMES or cold > COLD_MS)


def _measure(size: int) -> dict[str, Any]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        embedded = stack.enter_context(closing(SqliteSearchIndex(folder / "search.db", MODEL)))
        table = stack.enter_context(closing(SqliteTable(folder / "table.db")))
        clock = FarClock()
        near = FileObjects(folder / "objects", clock, "")
        objects = FarObjects(near)

        def segments(store: Any = near) -> SegmentsIndex:
            return SegmentsIndex(table, store, MODEL, clock=clock, ids=SystemIds(), tasks=ThreadTasks(clock))

        warm = segments()
        passages = _passages(size)
        began = time.perf_counter()
        for start in range(0, size, A_TURN):
            clock.ahead_ms += 1_000 * A_TURN_S
            warm.upsert(OWNER, passages[start : start + A_TURN])
        written_s = time.perf_counter() - began
        embedded.upsert(OWNER, passages)
        asked = [
            (shape(text).text_query, vector)
            for text, vector in zip(questions(QUESTIONS, 7), _vectors(QUESTIONS, 7), strict=True)
        ]
        names: dict[str, SearchIndex] = {"embedded": embedded, "segments": warm}
        times: dict[str, list[float]] = {name: [] for name in names}
        found: dict[str, list[list[str]]] = {name: [] for name in names}
        for round_ in range(3):
            for query, vector in asked:
                for name, index in names.items():
                    clock.ahead_ms += 1_000
                    taken, ids = _both_legs(index, query, vector)
                    if round_:
                        times[name].append(taken)
                        found[name].append(ids)
        cold, from_files = (
            [_both_legs(segments(store), query, vector)[0] for query, vector in asked[:COLD]]
            for store in (objects, near)
        )
        stored = table.query(f"T#{OWNER.tenant}#U#{OWNER.user}#X", limit=500).items
        base = next((item for item in stored if item["type"] == "passage_base"), None)
        by_pieces: dict[int, list[float]] = {pieces: [] for pieces in CUTS if base is not None}
        for query, vector in asked[:COLD]:
            for pieces, taken_ms in by_pieces.items():
                _cut(near, table, pieces)
                taken_ms.append(_both_legs(segments(objects), query, vector)[0])
        held = warm._cache.get(OWNER)
        medians = {name: median_and_p95(taken, 2) for name, taken in times.items()}
        return {
            **medians,
            "p95_times_embedded": round(medians["segments"]["p95_ms"] / medians["embedded"]["p95_ms"], 2),
            "cold": _cold(cold),
            "cold_from_files": _cold(from_files),
            "cold_by_pieces": {pieces: _cold(taken_ms) for pieces, taken_ms in by_pieces.items()},
            "equal": round(_equal(found["embedded"], found["segments"]), 4),
            "written_ms_a_turn": round(1_000 * written_s / (size / A_TURN), 2),
            "base_bytes": 0 if base is None else base["bytes"],
            "base_pieces": 0 if base is None else base["pieces"],
            "held_bytes": 0 if held is None else held.nbytes,
            "deltas": len(stored) - (base is not None),
            "delta_bytes": sum(len(item.get("packed", b"")) for item in stored),
        }


def _cold(taken_ms: Sequence[float]) -> dict[str, float]:
    """Give the least of them, too: what else runs on the machine only ever adds to it."""
    return {"least_ms": round(min(taken_ms), 1), **median_and_p95(taken_ms)}


def _cut(objects: FileObjects, table: SqliteTable, pieces: int) -> None:
    """Cut the base into so many objects, whatever the engine would have made of it."""
    keys = UserKeys(*OWNER)
    row = table.get(keys.passage_base)
    if row is None:
        raise RuntimeError("there is no base to cut")
    names = [keys.segment_object(row["base"], piece) for piece in range(max(pieces, row["pieces"]))]
    packed = b"".join(objects.get(name) or b"" for name in names[: row["pieces"]])
    size = -(-len(packed) // pieces)
    for piece, name in enumerate(names[:pieces]):
        objects.put(name, packed[piece * size : (piece + 1) * size], content_type=OBJECT_TYPE)
    table.write([Put(row | {"pieces": pieces})])


def _both_legs(index: SearchIndex, query: Any, vector: bytes) -> tuple[float, list[str]]:
    began = time.perf_counter()
    words = index.search_text(OWNER, query, EVERYTHING, DEPTH).candidates
    near = index.search_vector(OWNER, vector, EVERYTHING, DEPTH)
    taken = (time.perf_counter() - began) * 1_000
    return taken, [f"{leg}{one.item_id}" for leg, ones in (("w", words), ("v", near)) for one in ones]


def _equal(expected: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> float:
    """Give the share of the ids that one finds which the other one finds, too."""
    both = sum(len(set(one) & set(other)) for one, other in zip(expected, found, strict=True))
    return both / sum(map(len, expected))


def _passages(size: int) -> list[Passage]:
    drawn = random.Random(3)
    return [
        Passage(
            item_id=f"mem_{n:08d}",
            n=0,
            version=1,
            source=Source.EVENT if n % 2 else Source.MEMORY,
            text=text,
            fingerprint=f"{drawn.getrandbits(256):064x}",
            kind="event" if n % 2 else "observation",
            status="active",
            scope="user",
            tier="working",
            observed_at="2026-03-10T09:30:00.000Z",
            session_id=f"s{n // 40}",
            vector=vector,
        )
        for n, (text, vector) in enumerate(zip(memory_texts(size, 3), _vectors(size, 3), strict=True))
    ]


def _vectors(count: int, seed: int) -> list[bytes]:
    drawn = np.random.default_rng(seed).standard_normal((count, DIMENSIONS)).astype(np.float32)
    return [vector.tobytes() for vector in drawn]


if __name__ == "__main__":
    sys.exit(main())
