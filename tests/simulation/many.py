"""Many seeds, on one processor or on several, with a report that the next call goes on with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from tests.simulation.machine.remembered import seldom_collected
from tests.simulation.seeds import PLAIN, Options, Result, play
from tests.simulation.sometimes import LIST

ROOT = Path(__file__).resolve().parents[2]
CHUNK = 20
"""Seeds that one process plays before it tells: a second or two."""
TELL_EVERY_S = 5.0
KEEP_EVERY_S = 30.0


class OtherReport(Exception):
    """The report is about another commit, or other options."""


@dataclass
class Found:
    """What so many seeds came to. ``chunks``: the first seed of each part, and how many it has. ``failing``: seed,
    workload and what is broken."""

    chunks: list[tuple[int, int]] = field(default_factory=list)
    processor_s: float = 0.0
    virtual_s: float = 0.0
    steps: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    failing: list[dict[str, Any]] = field(default_factory=list)

    @property
    def seeds(self) -> int:
        return sum(count for _, count in self.chunks)

    def note(self, result: Result) -> None:
        self.faults += result.faults
        self.seen += result.seen
        self.virtual_s += result.virtual_s
        self.steps += result.steps
        if result.broken:
            self.failing.append({"seed": result.seed, "workload": result.workload, "broken": result.broken})

    def join(self, other: Found) -> None:
        self.chunks = joined([*self.chunks, *other.chunks])
        self.processor_s += other.processor_s
        self.virtual_s += other.virtual_s
        self.steps += other.steps
        self.faults += other.faults
        self.seen += other.seen
        self.failing += other.failing


def play_all(seeds: range, options: Options) -> Found:
    """One after the other, in this process."""
    found, began_s = Found(chunks=[(seeds.start, len(seeds))]), time.process_time()
    with seldom_collected():
        for seed in seeds:
            found.note(play(seed, options))
    found.processor_s = time.process_time() - began_s
    return found


def play_many(seeds: range, options: Options, jobs: int, report: Path | None) -> Found:
    """With what ``report`` holds already of these options and this commit, which is not played again; it is written all
    the time, so that an end that comes too early loses little. Raises OtherReport."""
    identity = {"commit": _commit(), **_plain(options)}
    found = _reported(report, identity) if report is not None and report.exists() else Found()
    parts = list(_left(seeds, found.chunks))
    began_s = reported_s = saved_s = time.monotonic()
    already = found.seeds
    try:
        for part in _played(parts, options, jobs):
            found.join(part)
            for one in part.failing:
                print(f"seed {one['seed']} ({one['workload']}): {one['broken'][0]}", flush=True)
            now_s = time.monotonic()
            if now_s - reported_s > TELL_EVERY_S:
                reported_s, rate = now_s, (found.seeds - already) / (now_s - began_s) * 60
                print(f"{found.seeds} seeds, {rate:.0f} a minute, {len(found.failing)} failed", file=sys.stderr)
            if report is not None and now_s - saved_s > KEEP_EVERY_S:
                saved_s = now_s
                _keep(report, found, identity)
    finally:
        if report is not None:
            _keep(report, found, identity)
    return found


ENOUGH = 10_000
"""Seeds of all workloads after which everything has to have happened: what is rarest does in one of some 600."""


def lacking(found: Found, options: Options) -> list[str]:
    """What did not happen in any run although there were enough of all kinds, with all faults."""
    return never(found) if options == PLAIN and found.seeds >= ENOUGH else []


def never(found: Found) -> list[str]:
    """What has to happen in some run and did in none."""
    return [name for name in LIST if not found.seen[name]]


def as_report(found: Found, identity: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        **(identity or {}),
        "seeds": found.seeds,
        "seeds_a_minute_of_one_processor": round(found.seeds / max(found.processor_s, 0.001) * 60),
        "virtual_hours": round(found.virtual_s / 3600, 1),
        "scheduling_points_a_seed": round(found.steps / max(found.seeds, 1)),
        "sometimes": {name: found.seen[name] for name in LIST},
        "never": never(found),
        "failing": found.failing,
        "found": {one.name: getattr(found, one.name) for one in fields(found)},
    }


def joined(chunks: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """In order; those that follow each other are one."""
    whole: list[tuple[int, int]] = []
    for first, count in sorted(chunks):
        if whole and sum(whole[-1]) == first:
            whole[-1] = (whole[-1][0], whole[-1][1] + count)
        else:
            whole.append((first, count))
    return whole


# --- parts ------------------------------------------------------------------------------------------


def _played(parts: Sequence[range], options: Options, jobs: int) -> Iterator[Found]:
    if jobs == 1:
        yield from (play_all(part, options) for part in parts)
        return
    with processes(jobs) as pool:
        yield from pool.map(partial(play_all, options=options), parts)


def processes(jobs: int) -> ProcessPoolExecutor:
    """Which end with this one, also when it is killed."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _left(seeds: range, chunks: Sequence[tuple[int, int]]) -> Iterator[range]:
    """What the chunks do not hold, in parts of at most ``CHUNK``."""
    at = seeds.start
    for first, count in [*chunks, (seeds.stop, 0)]:
        for start in range(at, min(first, seeds.stop), CHUNK):
            yield range(start, min(start + CHUNK, first, seeds.stop))
        at = max(at, first + count)


def _reported(report: Path, identity: dict[str, Any]) -> Found:
    document = json.loads(report.read_text(encoding="utf-8"))
    other = {name: document.get(name) for name in identity}
    if other != identity:
        raise OtherReport(f"{report} is about {other}, not about {identity}")
    found = document["found"]
    counters = {name: Counter(found[name]) for name in ("faults", "seen")}
    return Found(**(found | counters | {"chunks": [(first, count) for first, count in found["chunks"]]}))


def _keep(report: Path, found: Found, identity: dict[str, Any]) -> None:
    """Whole or not at all."""
    new = report.with_suffix(".new")
    new.write_text(json.dumps(as_report(found, identity), indent=2) + "\n", encoding="utf-8")
    new.replace(report)


def _plain(options: Options) -> dict[str, Any]:
    return {"workload": options.workload, "without": sorted(options.without), "faults_at_most": options.most}


def _commit() -> str:
    """The one that is checked out, and whether there is more; empty for a tree without git."""
    described = ["git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"]
    return subprocess.run(described, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
