"""The result of a soak, from what clients, director and checks have seen; and its lines for the console."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evals.bench.measuring import percentile
from evals.soak.schedule import CALM
from evals.soak.sending import Attempt

SHOWN = 20
"""Findings on the console; the result file has all."""


def summary(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """Requests by kind with latencies in milliseconds (of those that were answered well), and what went wrong by kind
    and by window."""
    by_kind: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_kind[attempt.what].append(attempt)
    bad = [attempt for attempt in attempts if not attempt.good]
    return {
        "requests": len(attempts),
        "not_answered_well": len(bad),
        "by_kind": {kind: _kind(by_kind[kind]) for kind in sorted(by_kind)},
        "outcomes_by_window": _nested((one.window, one.outcome) for one in bad),
    }


def _kind(attempts: Sequence[Attempt]) -> dict[str, Any]:
    good = [one.ms for one in attempts if one.good]
    calm = [one.ms for one in attempts if one.good and one.window == CALM]
    return {
        "requests": len(attempts),
        "good": len(good),
        "p50_ms": _rounded(good, 0.5),
        "p95_ms": _rounded(good, 0.95),
        "calm_p50_ms": _rounded(calm, 0.5),
        "calm_p95_ms": _rounded(calm, 0.95),
        "outcomes": dict(Counter(one.outcome for one in attempts if not one.good).most_common()),
    }


def _rounded(values: Sequence[float], share: float) -> float | None:
    return round(percentile(values, share), 1) if values else None


def _nested(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for (first, second), times in sorted(Counter(pairs).items()):
        found[first][second] = times
    return dict(found)


def lines(result: dict[str, Any]) -> Iterator[str]:
    load = result["load"]
    yield ""
    yield f"{load['requests']:,} requests, {load['not_answered_well']:,} of them without a good answer at first"
    yield f"{'call':10} {'requests':>9} {'good':>7} {'p50 ms':>8} {'p95 ms':>8}  calm: {'p50':>7} {'p95':>8}"
    for kind, of in load["by_kind"].items():
        times = [of["p50_ms"], of["p95_ms"], of["calm_p50_ms"], of["calm_p95_ms"]]
        shown = [f"{time:8.1f}" if time is not None else "       -" for time in times]
        yield f"{kind:10} {of['requests']:9,} {of['good']:7,} {shown[0]} {shown[1]}       {shown[2]} {shown[3]}"
    for window, outcomes in load["outcomes_by_window"].items():
        yield f"  {window}: {', '.join(f'{outcome} {times}' for outcome, times in outcomes.items())}"
    yield ""
    for size in (result["service"][0], result["service"][-1]):
        yield (
            f"service at {size['at_s']:.0f} s: {size['rss_mib']} MiB resident,"
            f" {size['threads']} threads, {size['files']} files"
        )
    for where in ("over_http", "in_stores"):
        yield f"{where}: " + ", ".join(f"{name} {count:,}" for name, count in sorted(result[where].items()))
    yield f"drained after {result['drained_s']} s; repeated afterwards: {result['repeated_afterwards']}"
    yield from _verdict(result)


def _verdict(result: dict[str, Any]) -> Iterator[str]:
    findings = result["findings"]
    yield ""
    yield f"verdict: {result['verdict']}" + (f", {len(findings)} findings" if findings else "")
    for finding in findings[:SHOWN]:
        yield f"  * {finding[:600]}"
