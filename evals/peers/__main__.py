"""``make peers``: how long a recall takes beside a search of mem0, among as many memories of one user.

Both run on this machine with the same encoder, and each question is put to either in turn, so that a machine that is
slow for a while is slow for both: Neve over HTTP, by both legs and with its ledger row; mem0 as a library, on its
embedded store. No question is asked twice. Writes ``evals/results/peers.json`` and its part of docs/benchmark.md; exits
with 1 where the median is above ``MOST`` of mem0's."""

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
from evals.bench.measuring import median_and_p95
from evals.bench.texts import memory_texts, questions
from evals.markers import write_between
from evals.peers.mem0 import NAME, Mem0
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import start_server
from neve.domain.times import iso

MOST = {1_000: 0.65, 10_000: 0.2}
"""By memories: what Neve may take of mem0's median."""
RESULT = Path("evals/results/peers.json")
MARKERS = ("<!-- peers:begin -->", "<!-- peers:end -->")
USER = "ann"
QUESTIONS = 200
WARM_UP = 10
HITS = 20
"""What mem0 answers unless it is asked for another number."""
SEED = 20_265


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    result: dict[str, Any] = {
        "at": iso(datetime.now(UTC)),
        "machine": machine.describe(),
        "load_average": os.getloadavg()[0],
        "questions": given.questions,
        "memories": {},
    }
    for memories in given.memories:
        with tempfile.TemporaryDirectory(prefix="neve-peers-") as temporary:
            result["memories"][memories] = _beside(Path(temporary), memories, given.questions)
    text = _table(result)
    print(text)
    if not given.quick:
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        write_between(*MARKERS, text, report.DOCUMENT)
    slower = [n for n, found in result["memories"].items() if found["ratio"] > MOST.get(n, 1.0)]
    return 1 if slower else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.peers", description=__doc__)
    parser.add_argument("--memories", type=int, nargs="+", default=list(MOST))
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    parser.add_argument("--quick", action="store_true", help="nothing is kept")
    return parser.parse_args()


def _beside(folder: Path, memories: int, count: int) -> dict[str, Any]:
    server = start_server(folder / "data", embedder="bge-small")
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            fill(client, USER, memories, SEED)
            wait_until_embedded(client, USER, others=0)
            (folder / "mem0").mkdir()
            with closing(Mem0(folder / "mem0", {USER: memory_texts(memories, SEED)})) as mem0:
                return _asked(client, mem0, count)
    finally:
        server.stop()


def _asked(client: ApiClient, mem0: Mem0, count: int) -> dict[str, Any]:
    ours: list[float] = []
    theirs: list[float] = []
    for number, question in enumerate(tracked("asking", questions(count + WARM_UP, SEED + 1))):
        turns = [(ours, lambda q=question: _recall_ms(client, q)), (theirs, lambda q=question: _search_ms(mem0, q))]
        for into, ask in turns if number % 2 else reversed(turns):
            into.append(ask())
    found = {"neve": median_and_p95(ours[WARM_UP:]), "mem0": median_and_p95(theirs[WARM_UP:])}
    return {**found, "ratio": round(found["neve"]["p50_ms"] / found["mem0"]["p50_ms"], 2)}


def _recall_ms(client: ApiClient, question: str) -> float:
    body = {"query": question, "mode": "tool", "limit": HITS, "threshold": 0}
    began = time.perf_counter()
    answer = client.expect(200, "POST", f"/v1/users/{USER}/recall", body)
    took = (time.perf_counter() - began) * 1000
    if answer["degraded"]:
        raise RuntimeError(f"a degraded answer is not a measurement: {answer['degraded']}")
    return _measured("neve", took, len(answer["hits"]))


def _search_ms(mem0: Mem0, question: str) -> float:
    found = mem0.search(USER, question, HITS)
    return _measured("mem0", found.ms, len(found.places))


def _measured(name: str, took: float, found: int) -> float:
    if found == 0:
        raise RuntimeError(f"{name} found nothing, and that is not a measurement")
    return took


def _table(result: dict[str, Any]) -> str:
    on = result["machine"]
    rows = [
        f"| {memories:,} | {one['neve']['p50_ms']} / {one['neve']['p95_ms']} | {one['mem0']['p50_ms']} /"
        f" {one['mem0']['p95_ms']} | {one['ratio']} |"
        for memories, one in result["memories"].items()
    ]
    about = (
        f"`make peers`: {result['questions']} questions, each put to either in turn; p50 / p95 in ms."
        f" {on['cores']} cores ({on['cpu']}), load average {result['load_average']:.1f} before it began,"
        f" {result['at'][:10]}."
    )
    head = [
        f"| memories of the user | Neve, over HTTP | {NAME}, as a library | ratio of the medians |",
        "| --- " * 4 + "|",
    ]
    return "\n".join([*head, *rows, "", about])


if __name__ == "__main__":
    sys.exit(main())
