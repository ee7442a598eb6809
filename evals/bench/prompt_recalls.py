"""How long a chat message waits for its recall among many things of one user: one service, one user, and recalls in
mode ``prompt``, each with the time budget that the policy gives it and with a question that was not asked before. What
there is many of, a module of its own says."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine, report
from evals.bench.measuring import degradation, percentile
from evals.bench.operations import Operations
from evals.markers import write_between
from evals.progress import tracked
from local.api_client import ApiClient
from local.running import EmbedderName, start_server
from neve.domain.times import iso

EMBEDDER: EmbedderName = "bge-small"
RECALLS = 400
WARM_UP = 10
Answers = Sequence[dict[str, Any]]
Result = dict[str, Any]


def _nothing_else(_: Answers) -> Result:
    return {}


def _nothing_to_say(_: Result) -> str:
    return ""


def _always(_: Result) -> bool:
    return True


@dataclass(frozen=True)
class Among:
    """``things``: what there is many of, and ``count`` how many; the module is ``evals.bench.many_<things>``. ``fill``
    writes so many of them and waits until both legs find them. ``among``: how the sentence of docs/benchmark.md calls
    them. ``told``: what else is counted of the answers; ``found``: how the sentence says it; ``held``: whether it is as
    it should be."""

    things: str
    count: int
    fill: Callable[[ApiClient, int], None]
    among: Callable[[Result], str]
    about: str
    told: Callable[[Answers], Result] = _nothing_else
    found: Callable[[Result], str] = _nothing_to_say
    held: Callable[[Result], bool] = _always

    @property
    def module(self) -> str:
        return f"evals.bench.many_{self.things}"

    @property
    def result(self) -> Path:
        return Path(f"evals/results/many_{self.things}.json")

    def run(self) -> int:
        """0; 1 when the 95th percentile, as the client sees it, is over the budget, an answer holds more than it may,
        or what else is counted is not as it should be."""
        given = self._arguments()
        os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
        with tempfile.TemporaryDirectory(prefix="neve-bench-") as temporary:
            result = self._measure(Path(temporary) / "data", getattr(given, self.things), given.recalls)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print(self.sentence(result))
        if not given.quick:
            marker = f"many-{self.things}"
            marks = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
            write_between(*marks, self.sentence(result), report.DOCUMENT)
        in_time = result["client_p95_ms"] <= result["budget_ms"] and result["most_hits"] <= result["k"]
        return 0 if in_time and self.held(result) else 1

    def sentence(self, result: Result) -> str:
        on = result["machine"]
        return (
            f"`python -m {self.module}`: {self.among(result)} the 95th percentile of {result['answers']} recalls in"
            f" mode `prompt` is {result['client_p95_ms']:.1f} ms at the client (median"
            f" {result['client_p50_ms']:.1f}) and {result['elapsed_p95_ms']:.1f} ms in the service, of a budget of"
            f" {result['budget_ms']} ms;"
            f" {result['degraded']} were degraded,{self.found(result)} and no answer held more than"
            f" {result['most_hits']} hits (k = {result['k']}). {on['cores']} cores ({on['cpu']}), load average"
            f" {result['load_average']:.1f} before it began, embedder `{result['embedder']}`, {result['at'][:10]}."
        )

    def _arguments(self) -> argparse.Namespace:
        parser = argparse.ArgumentParser(prog=f"python -m {self.module}", description=self.about)
        parser.add_argument(f"--{self.things}", type=int, default=self.count)
        parser.add_argument("--recalls", type=int, default=RECALLS)
        parser.add_argument("--out", type=Path, default=self.result, help=f"default: {self.result}")
        parser.add_argument("--quick", action="store_true", help="docs/benchmark.md stays as it is")
        return parser.parse_args()

    def _measure(self, data: Path, count: int, recalls: int) -> Result:
        about = {
            "at": iso(datetime.now(UTC)),
            "machine": machine.describe(),
            "load_average": os.getloadavg()[0],
            "embedder": EMBEDDER,
            self.things: count,
        }
        server = start_server(data, embedder=EMBEDDER)
        try:
            with closing(ApiClient(server.base_url, server.key)) as client:
                self.fill(client, count)
                k = client.expect(200, "GET", "/v1/policy")["in_force"]["recall_limit"]
                service = Operations(client, f"{count} {self.things}")
                measured = _measured_recalls(service, recalls)
                return {**about, "k": k, **measured, **self.told(service.recalls)}
        finally:
            server.stop()


def _measured_recalls(service: Operations, recalls: int) -> Result:
    """After a warm-up; the answers stay in ``service.recalls``."""
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
