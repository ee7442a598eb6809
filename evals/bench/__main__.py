"""``python -m evals.bench``: load, measure, and write ``evals/results/bench.json`` and docs/benchmark.md.

One service a size, all of them running at once and measured in turns, so that their ratios do not depend on when the
machine was busy. Loading 100,000 memories takes some minutes: they are embedded one by one. With ``--data`` the loaded
folders stay, and the next run uses them."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine, report
from evals.bench.filling import fill, fill_others, wait_until_embedded
from evals.bench.imports import measure_imports
from evals.bench.measuring import Times, degradation, measure, percentile
from evals.bench.operations import USER, Operations
from evals.bench.port_calls import count_port_calls
from evals.bench.starting import first_answers
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import EmbedderName, RunningServer, start_server
from local.template import read_template
from neve.domain.times import iso

RESULT = Path("evals/results/bench.json")
EMBEDDER: EmbedderName = "bge-small"
OTHERS = 1_000
SEED = 20_260
STARTS = 5
LOADED = "loaded"


def main() -> int:
    given = _arguments()
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")  # metric lines would stand between the tables
    sizes, others = given.sizes, OTHERS
    rounds = 2 if given.quick else 10
    with tempfile.TemporaryDirectory(prefix="neve-bench-") as temporary:
        root = given.data or Path(temporary)
        for size in sizes:
            _load(root / str(size), size, others)
        times, prompts = _measure({str(size): root / str(size) / "data" for size in sizes}, rounds)
        result = {
            "at": iso(datetime.now(UTC)),
            "machine": machine.describe(),
            "settings": {"embedder": EMBEDDER, "other_users": others, "rounds": rounds, "seed": SEED},
            "times": _summary(times),
            "prompt_recalls": prompts,
            "starts": {str(size): _starts(root / str(size) / "data") for size in tracked("starting", sizes)},
            "port_calls": _port_calls(root / str(sizes[0]) / "data", Path(temporary)),
            "imports": measure_imports(read_template()),
        }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.console(result))
    if not given.quick:
        report.write_markdown(result)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000, 100_000], help="1000,10000,100000")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    parser.add_argument("--data", type=Path, help="keep the loaded folders here, and use those that are there")
    parser.add_argument("--quick", action="store_true", help="two rounds instead of ten; docs/benchmark.md stays")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return sorted(int(size) for size in text.split(","))


def _load(folder: Path, size: int, others: int) -> None:
    """``folder/data`` with one user of ``size`` memories and the others; at once when an earlier run did it."""
    if (folder / LOADED).exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    server = start_server(folder / "data", embedder=EMBEDDER)
    client = ApiClient(server.base_url, server.key)
    try:
        fill_others(client, others, SEED)
        fill(client, USER, size, SEED)
        wait_until_embedded(client, USER, others)
    finally:
        client.close()
        server.stop()
    (folder / LOADED).touch()


def _measure(folders: Mapping[str, Path], rounds: int) -> tuple[Times, dict[str, Any]]:
    servers: list[RunningServer] = []
    services: dict[str, Operations] = {}
    try:
        for size, folder in folders.items():
            server = start_server(folder, embedder=EMBEDDER)
            servers.append(server)
            services[size] = Operations(ApiClient(server.base_url, server.key), f"{size} memories")
        times = measure(services, rounds)
        return times, {size: degradation(service.recalls) for size, service in services.items()}
    finally:
        for service in services.values():
            service.client.close()
        for server in servers:
            server.stop()


def _summary(times: Times) -> dict[str, Any]:
    return {
        size: {
            operation: {"p50": percentile(taken, 0.5), "p95": percentile(taken, 0.95), "samples": len(taken)}
            for operation, taken in by_operation.items()
        }
        for size, by_operation in times.items()
    }


def _starts(data: Path) -> dict[str, dict[str, float]]:
    """Medians of ``STARTS``; a folder after ``kill -9`` is read through before it is used."""
    found: dict[str, list[dict[str, float]]] = {"clean": [], "killed": []}
    for _ in range(STARTS):
        server, taken = first_answers(data, EMBEDDER)
        found["clean"].append(taken)
        server.kill()
        server, taken = first_answers(data, EMBEDDER)
        found["killed"].append(taken)
        server.stop()
    return {name: _medians(runs) for name, runs in found.items()}


def _medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {call: statistics.median(run[call] for run in runs) for call in runs[0]}


def _port_calls(data: Path, temporary: Path) -> dict[str, Any]:
    """On a copy: what is asked for in this process is not asked of a service."""
    copy = temporary / "port-calls"
    shutil.copytree(data, copy)
    return count_port_calls(copy, read_template(), EMBEDDER)


if __name__ == "__main__":
    sys.exit(main())
