"""``python -m evals.bench.many_memories``: how long a chat message waits for its recall among many memories (B50).

One service, one user with 5,000 memories, and recalls in mode ``prompt``, each with the time budget that the policy
gives it and with a question that was not asked before. Writes ``evals/results/many_memories.json`` and its part of
docs/benchmark.md. Exits with 1 when the 95th percentile, as the client sees it, is over the budget, or an answer holds
more than it may."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine, report
from evals.bench.filling import fill, wait_until_embedded
from evals.bench.measuring import degradation, percentile
from evals.bench.operations import USER, Operations
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import EmbedderName, start_server
from neve.domain.times import iso

RESULT = Path("evals/results/many_memories.json")
EMBEDDER: EmbedderName = "bge-small"
MEMORIES = 5_000
RECALLS = 400
WARM_UP = 10
SEED = 20_261
MARKERS = ("<!-- many-memories:begin -->", "<!-- many-memories:end -->")


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    with tempfile.TemporaryDirectory(prefix="neve-bench-") as temporary:
        result = _measure(Path(temporary) / "data", given.memories, given.recalls)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(sentence(result))
    if not given.quick:
        report.write_between(*MARKERS, sentence(result))
    return 0 if result["client_p95_ms"] <= result["budget_ms"] and result["most_hits"] <= result["k"] else 1


def sentence(result: dict[str, Any]) -> str:
    on = result["machine"]
    return (
        f"`python -m evals.bench.many_memories`: with {result['memories']:,} memories the 95th percentile of"
        f" {result['answers']} recalls in mode `prompt` is {result['client_p95_ms']:.1f} ms at the client (median"
        f" {result['client_p50_ms']:.1f}) and {result['elapsed_p95_ms']:.1f} ms in the service, of a budget of"
        f" {result['budget_ms']} ms; {result['degraded']} were degraded, and no answer held more than"
        f" {result['most_hits']} hits (k = {result['k']}). {on['cores']} cores ({on['cpu']}), load average"
        f" {result['load_average']:.1f} before it began, embedder `{result['embedder']}`, {result['at'][:10]}."
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.bench.many_memories", description=__doc__)
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--recalls", type=int, default=RECALLS)
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    parser.add_argument("--quick", action="store_true", help="docs/benchmark.md stays as it is")
    return parser.parse_args()


def _measure(data: Path, memories: int, recalls: int) -> dict[str, Any]:
    about = {
        "at": iso(datetime.now(UTC)),
        "machine": machine.describe(),
        "load_average": os.getloadavg()[0],
        "embedder": EMBEDDER,
        "memories": memories,
    }
    server = start_server(data, embedder=EMBEDDER)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            fill(client, USER, memories, SEED)
            wait_until_embedded(client, USER, others=0)
            k = client.expect(200, "GET", "/v1/policy")["in_force"]["recall_k"]
            return {**about, "k": k, **_recall(Operations(client, f"{memories} memories"), recalls)}
    finally:
        server.stop()


def _recall(service: Operations, recalls: int) -> dict[str, Any]:
    for _ in range(WARM_UP):
        service.recall_in_prompt()
    service.recalls.clear()
    taken = []
    for _ in tracked("recalling", range(recalls)):
        began = time.perf_counter()
        service.recall_in_prompt()
        taken.append((time.perf_counter() - began) * 1000)
    return {
        "client_p50_ms": percentile(taken, 0.5),
        "client_p95_ms": percentile(taken, 0.95),
        "most_hits": max(len(answer["hits"]) for answer in service.recalls),
        **degradation(service.recalls),
    }


if __name__ == "__main__":
    sys.exit(main())
