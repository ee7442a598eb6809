"""``python -m evals.encoders``: what a recall costs with the encoder of many languages, beside the English one.

Two services with the same memories, one of them of the policy ``languages: multi``; their recalls in mode ``prompt``
are asked by turns, each with a question that was not asked before. Then a start of each: its first recall of all, which
waits for the model. Writes its part of docs/retrieval.md with ``--write``. Exits with 1 when the median is more than
1.6 times that of English."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine
from evals.bench.filling import fill, wait_until_embedded
from evals.bench.measuring import degradation, percentile
from evals.bench.operations import USER, Operations
from evals.markers import write_between
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import start_server
from local.template import ROOT
from neve.domain.times import iso

ENGLISH, MANY = "en", "multi"
MEMORIES, RECALLS, WARM_UP, STARTS, SEED = 1_000, 300, 10, 3, 20_260
MOST_TIMES = 1.6
"""*Given*: of the median of a recall with the English encoder, in the same run."""
REINDEXED_WITHIN_S = 120.0
MARKERS = ("<!-- encoders:begin -->", "<!-- encoders:end -->")
DOCUMENT = ROOT / "docs" / "retrieval.md"
RESULT = Path("evals/results/encoders.json")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.encoders", description=__doc__)
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--recalls", type=int, default=RECALLS)
    parser.add_argument("--write", action="store_true", help="docs/retrieval.md and evals/results/encoders.json, too")
    given = parser.parse_args()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    with tempfile.TemporaryDirectory(prefix="neve-encoders-") as temporary:
        folders = {languages: Path(temporary) / languages for languages in (ENGLISH, MANY)}
        for languages, folder in folders.items():
            _load(folder, languages, given.memories)
        result = {
            "at": iso(datetime.now(UTC)),
            "machine": machine.describe(),
            "load_average": os.getloadavg()[0],
            "memories": given.memories,
            **_measure(folders, given.recalls),
            "first_recall_ms": {name: _first_recall(folder) for name, folder in folders.items()},
        }
    print(sentence(result))
    if given.write:
        RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        write_between(*MARKERS, sentence(result), DOCUMENT)
    return 0 if result["times"] <= MOST_TIMES else 1


def sentence(result: dict[str, Any]) -> str:
    on, took, first = result["machine"], result["p50_ms"], result["first_recall_ms"]
    return (
        f"`python -m evals.encoders`: among {result['memories']:,} memories the median of {result['answers']} recalls"
        f" in mode `prompt` is {took[ENGLISH]:.1f} ms with `en` and {took[MANY]:.1f} ms with `multi`,"
        f" {result['times']:.2f} times as long, in the same run by turns; {result['degraded']} were degraded. The first"
        f" recall of a process, which waits for the model, takes {first[ENGLISH] / 1000:.1f} s and"
        f" {first[MANY] / 1000:.1f} s (medians of {STARTS} starts, on a service that answers already)."
        f" {on['cores']} cores ({on['cpu']}), load average {result['load_average']:.1f} before it began,"
        f" {result['at'][:10]}."
    )


def _load(folder: Path, languages: str, memories: int) -> None:
    server = start_server(folder, embedder="bge-small")
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            client.expect(200, "PATCH", "/v1/policy", {"languages": languages})
            ends = time.monotonic() + REINDEXED_WITHIN_S
            while "reindex_job" in client.expect(200, "GET", "/v1/policy"):
                if time.monotonic() > ends:
                    raise TimeoutError("the vectors are not made: was 'make multi' run?")
                time.sleep(0.25)
            fill(client, USER, memories, SEED)
            wait_until_embedded(client, USER, 0)
    finally:
        server.stop()


def _measure(folders: dict[str, Path], recalls: int) -> dict[str, Any]:
    """By turns, so that a machine that gets slower does so for both."""
    taken: dict[str, list[float]] = {languages: [] for languages in folders}
    with ExitStack() as started:
        services = {}
        for languages, folder in folders.items():
            server = start_server(folder, embedder="bge-small")
            started.callback(server.stop)
            client = started.enter_context(closing(ApiClient(server.base_url, server.key)))
            services[languages] = Operations(client, languages)
            for _ in range(WARM_UP):
                services[languages].recall_in_prompt()
            services[languages].recalls.clear()
        for _ in tracked("recalling", range(recalls)):
            for languages, service in services.items():
                began = time.perf_counter()
                service.recall_in_prompt()
                taken[languages].append((time.perf_counter() - began) * 1000)
        degraded = sum(degradation(service.recalls)["degraded"] for service in services.values())
    medians = {languages: percentile(times, 0.5) for languages, times in taken.items()}
    return {
        "answers": recalls,
        "degraded": degraded,
        "p50_ms": medians,
        "p95_ms": {languages: percentile(times, 0.95) for languages, times in taken.items()},
        "times": medians[MANY] / medians[ENGLISH],
    }


def _first_recall(folder: Path) -> float:
    """The first recall of a service as soon as it answers; the English model is loaded at the start, beside it."""
    found = []
    for _ in range(STARTS):
        server = start_server(folder, embedder="bge-small")
        try:
            with closing(ApiClient(server.base_url, server.key)) as client:
                began = time.perf_counter()
                answer = client.expect(200, "POST", f"/v1/users/{USER}/recall", {"query": "Who has the telescope?"})
                found.append((time.perf_counter() - began) * 1000)
                if answer["degraded"]:
                    raise RuntimeError(f"a degraded answer is not a measurement: {answer['degraded']}")
        finally:
            server.stop()
    return statistics.median(found)


if __name__ == "__main__":
    sys.exit(main())
