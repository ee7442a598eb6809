"""Times the calls in rounds: one service after the other in each round, so that a machine that gets slower or faster
does so for all of them."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evals.bench.operations import APPEND_TWENTY, REBUILD, Operations
from evals.progress import tracked

SAMPLES = {APPEND_TWENTY: 6, REBUILD: 6}
"""Of one operation in one round; the others have ``SAMPLES_EACH``."""
SAMPLES_EACH = 20
WARM_UP = 3
PROMPTS = 20

Times = dict[str, dict[str, list[float]]]
"""Milliseconds by size and operation."""


def measure(services: Mapping[str, Operations], rounds: int) -> Times:
    """Warm: every operation ran ``WARM_UP`` times before. What a call leaves for the workers is waited for before the
    next one is measured."""
    for service in services.values():
        service.prepare()
        for call in service.timed.values():
            _timed(call, WARM_UP)
        service.settle()
    found: Times = {size: defaultdict(list) for size in services}
    for _ in tracked("measuring, rounds", range(rounds)):
        for service in services.values():
            for _ in range(PROMPTS):
                service.recall_in_prompt()
        for operation in next(iter(services.values())).timed:
            for size, service in services.items():
                found[size][operation] += _timed(service.timed[operation], SAMPLES.get(operation, SAMPLES_EACH))
                service.settle()
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """Nearest rank: the smallest value that ``share`` of them do not exceed."""
    ordered = sorted(values)
    rank = -(-len(ordered) * share // 1)
    return ordered[max(int(rank), 1) - 1]


def median_and_p95(times_ms: Sequence[float], digits: int = 1) -> dict[str, float]:
    return {name: round(percentile(times_ms, share), digits) for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95))}


def degradation(answers: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of recalls with the time budget of a prompt: how many were answered with less than everything."""
    flags = Counter(flag for answer in answers for flag in answer["degraded"])
    degraded = sum(1 for answer in answers if answer["degraded"])
    elapsed = [answer["elapsed_ms"] for answer in answers]
    return {
        "budget_ms": answers[0]["budget_ms"],
        "answers": len(answers),
        "degraded": degraded,
        "flags": dict(flags),
        "elapsed_p50_ms": percentile(elapsed, 0.5),
        "elapsed_p95_ms": percentile(elapsed, 0.95),
    }


def _timed(call: Callable[[], Any], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    return taken
