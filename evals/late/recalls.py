"""``python -m evals.late.recalls``: how much longer a recall takes with ``rerank: late`` than with ``linear``.

One user who has said much, in one process without a socket; each question is asked once of either, in turn, and
which comes first changes from question to question. Questions are encoded as always. Of what was said ``POOL`` texts
are encoded, and each of the others gets the vectors of one of them, those of its sentence moved a little, so that
no two are alike: rows, words, vectors and token vectors are written by the workers as always, and are as large.

``--stack full``: DynamoDB Local, OpenSearch and ElasticMQ, which are started. Writes its part of
``evals/results/late_recalls.json``, and exits with 1 where the 95th percentile grows by more than ``MOST``."""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from evals.bench import machine
from evals.bench.measuring import median_and_p95
from evals.bench.texts import memory_texts, questions
from evals.in_process import BASE_URL, InProcess
from evals.progress import tracked
from local.aws.full_stack import FullStack
from local.backend import ENCODER, LATE, Choices, EmbeddedPorts
from local.bootstrap import ready_key
from local.functions import Functions
from local.http.gateway import Gateway
from local.running import StackName
from local.template import read_template
from local.workers.queue_worker import QueueWorker
from local.workers.stream_worker import StreamWorker
from neve import wiring
from neve.adapters.embedders.bge_small import BgeSmall
from neve.adapters.embedders.late_interaction import LateInteraction
from neve.domain.times import iso
from neve.ports.queue import QueueName

RESULT = Path("evals/results/late_recalls.json")
MOST = 1.5
UTTERANCES = 10_000
SESSIONS = 25
"""Nothing is observed, and of more sessions that wait for it a recall does not look whether all is indexed."""
IN_CALL = 48
POOL = 500
NOISE = 0.02
"""Of each of 384 numbers of a vector of length 1: cosines to the text that it is of are about 0.93."""
QUESTIONS = 150
WARM_UP = 10
SEED = 20_264
EMBEDDER = "bge-small"
QUEUES = (QueueName.INDEX, QueueName.EMBED)
"""Whose workers run: nothing is observed."""
RERANKS = ("linear", "late")


class PooledEmbedder(BgeSmall):
    """Passages get the vectors of the pool, questions their own."""

    def __init__(self, pool: Sequence[str]) -> None:
        super().__init__(ENCODER)
        self._vectors = [struct.unpack("<384f", vector) for vector in super().embed_passages(pool)]

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [self._near(zlib.crc32(text.encode())) for text in texts]

    def _near(self, seed: int) -> bytes:
        drawn = random.Random(seed)
        moved = [value + drawn.gauss(0, NOISE) for value in self._vectors[seed % len(self._vectors)]]
        length = sum(value * value for value in moved) ** 0.5
        return struct.pack("<384f", *(value / length for value in moved))


class PooledTokens(LateInteraction):
    """The same for token vectors."""

    def __init__(self, pool: Sequence[str]) -> None:
        super().__init__(LATE)
        self._codes = super().encode_passages(pool)

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [self._codes[zlib.crc32(text.encode()) % len(self._codes)] for text in texts]


def main() -> int:
    given = _arguments()
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    about: dict[str, Any] = {
        "at": iso(datetime.now(UTC)),
        "machine": machine.describe(),
        "load_average": os.getloadavg()[0],
    }
    with tempfile.TemporaryDirectory(prefix="neve-bench-") as temporary:
        result = about | _measured(Path(temporary) / "data", given)
    print(json.dumps(result, indent=1))
    if not given.quick:
        kept = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
        kept[f"{given.stack}, {given.utterances}"] = result
        given.out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0 if result["p95_ratio"] <= MOST else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.late.recalls", description=__doc__)
    parser.add_argument("--utterances", type=int, default=UTTERANCES)
    parser.add_argument("--stack", choices=get_args(StackName), default="embedded")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    parser.add_argument("--quick", action="store_true", help="nothing is kept")
    return parser.parse_args()


def _measured(data: Path, given: argparse.Namespace) -> dict[str, Any]:
    data.mkdir(parents=True)
    texts = memory_texts(given.utterances, SEED)
    with closing(_engines(data, given.stack, texts[:POOL])) as engines:
        template = engines.template
        key = str(ready_key(engines, data).text)
        wiring.install(engines)
        invoke = Functions(template.functions).invoke
        workers = [StreamWorker(source, engines.changes, invoke, _give_up) for source in template.stream_sources]
        queues = [
            QueueWorker(source, template.queues[source.queue], engines.broker, engines.clock, invoke)
            for source in template.queue_sources
            if source.queue in QUEUES
        ]
        client = InProcess(Gateway(template, invoke), key)
        client.expect(200, "PUT", "/v1/policy", {"rerank": "late"})
        began = time.monotonic()
        _fill(client, texts, [*workers, *queues])
        filled_s = round(time.monotonic() - began)
        return {"utterances": given.utterances, "filled_s": filled_s} | _asked(client, given.questions)


def _engines(data: Path, stack: StackName, pool: Sequence[str]) -> Any:
    """``local.engines.Engines`` with pooled encoders."""
    choices = Choices(EMBEDDER)
    embedded = stack == "embedded"
    engines: Any = (
        EmbeddedPorts(data, read_template(), BASE_URL, choices)
        if embedded
        else FullStack(data, read_template(), choices, delays=False)
    )
    engines.embedder = PooledEmbedder(pool)
    engines.token_encoder = PooledTokens(pool)
    return engines


def _fill(client: InProcess, texts: Sequence[str], workers: Sequence[Any]) -> None:
    length = -(-len(texts) // SESSIONS)
    for start in tracked(f"saying {len(texts):,}", range(0, len(texts), length)):
        session = f"s{start // length}"
        client.expect(200, "POST", "/v1/users/ann/sessions", {"session_id": session, "budget_ms": 0})
        for first in range(start, min(start + length, len(texts)), IN_CALL):
            events = list(_events(texts[first : min(first + IN_CALL, start + length)]))
            client.expect(201, "POST", f"/v1/users/ann/sessions/{session}/events", {"events": events})
        _work(workers)
    while (lag := _lag(client))["unindexed"] or lag["unembedded"]:
        print(lag, file=sys.stderr)
        _work(workers)
        time.sleep(1)
    client.expect(200, "PUT", "/v1/policy", {"rerank": "late"})
    job = client.call("POST", "/v1/admin/embeddings/drain", {"wait_s": 1}).json()["id"]
    while client.expect(200, "GET", f"/v1/admin/jobs/{job}")["status"] == "running":
        _work(workers)
        time.sleep(0.2)


def _work(workers: Sequence[Any]) -> None:
    while sum(worker.step(hurry=True) for worker in workers):
        pass


def _events(texts: Sequence[str]) -> Iterator[dict[str, str]]:
    for number, text in enumerate(texts):
        yield {"event_type": ("user_message", "assistant_response")[number % 2], "content": text}


def _lag(client: InProcess) -> dict[str, int]:
    lag: dict[str, int] = client.expect(200, "GET", "/v1/users/ann/stats")["memory_lag"]
    return lag


def _asked(client: InProcess, count: int) -> dict[str, Any]:
    times: dict[str, list[float]] = {rerank: [] for rerank in RERANKS}
    weighed = 0
    for number, question in enumerate(tracked("asking", questions(count + WARM_UP, SEED))):
        for rerank in RERANKS if number % 2 else reversed(RERANKS):
            body = {
                "query": question,
                "mode": "tool",
                "limit": 20,
                "threshold": 0,
                "sources": ["event"],
                "rerank": rerank,
            }
            began = time.perf_counter()
            answer = client.expect(200, "POST", "/v1/users/ann/recall", body | {"budget_ms": 20_000})
            took = (time.perf_counter() - began) * 1000
            if answer.get("degraded"):
                raise RuntimeError(f"a degraded answer is not a measurement: {answer['degraded']}")
            if number >= WARM_UP:
                times[rerank].append(took)
                weighed += rerank == "late" and any("late" in hit["components"] for hit in answer["hits"])
    if weighed < count:
        raise RuntimeError(f"{count - weighed} of {count} recalls weighed no token vectors")
    found = {rerank: median_and_p95(took) for rerank, took in times.items()}
    ratios = {f"{at}_ratio": round(found["late"][f"{at}_ms"] / found["linear"][f"{at}_ms"], 2) for at in ("p50", "p95")}
    return {"questions": count, **found, **ratios}


def _give_up(changes: Any, attempts: int) -> None:
    raise RuntimeError(f"a change was given up after {attempts} attempts: {changes}")


if __name__ == "__main__":
    sys.exit(main())
