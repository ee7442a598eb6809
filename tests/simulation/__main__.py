"""``python -m tests.simulation``: many seeds, one seed with its trace, or the ablations. See docs/simulation.md."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.simulation.ablations import ABLATIONS, seeds_until_found
from tests.simulation.machine.chaos import FAULTS
from tests.simulation.seeds import Options, play
from tests.simulation.shrinking import shrunk
from tests.simulation.sometimes import LIST
from tests.simulation.workloads import WORKLOADS

TELL_EVERY_S = 5.0


def main() -> int:
    given = _arguments()
    options = Options(given.workload, frozenset(given.without), given.faults)
    if given.ablations:
        return _ablations(list(ABLATIONS) if given.ablations == ["all"] else given.ablations)
    if given.seed is not None:
        return _shrink(given.seed, options) if given.shrink else _one(given.seed, options)
    return _many(range(given.first, given.first + given.seeds), options, given.report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--workload", choices=list(WORKLOADS), help="without it: by rotation")
    parser.add_argument("--seed", type=int, help="this one only, with its trace")
    parser.add_argument("--shrink", action="store_true", help="of --seed: which faults the failure needs")
    parser.add_argument("--without", nargs="*", default=[], choices=FAULTS, metavar="FAULT", help="leave out")
    parser.add_argument("--faults", type=int, help="only the first so many")
    parser.add_argument("--report", type=Path, help="the report as JSON, into this file")
    parser.add_argument("--ablations", nargs="*", metavar="NAME", help="all, or some by name")
    return parser.parse_args()


def _one(seed: int, options: Options) -> int:
    result = play(seed, replace(options, keep_trace=True))
    sys.stdout.writelines(result.trace)
    print(f"seed {seed}, workload {result.workload}, trace {result.digest}, faults {dict(result.faults)}")
    for wrong in result.broken:
        print(f"BROKEN {wrong}")
    return 1 if result.broken else 0


def _shrink(seed: int, options: Options) -> int:
    found = shrunk(seed, options)
    if found is None:
        print(f"seed {seed} breaks nothing")
        return 1
    flags = f"--workload {found.workload} --without {' '.join(sorted(found.without))} --faults {found.most}"
    print(f"python -m tests.simulation --seed {seed} {flags}")
    return 0


def _many(seeds: range, options: Options, report: Path | None) -> int:
    began, told = time.monotonic(), time.monotonic()
    seen: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    failing: list[dict[str, object]] = []
    virtual_s, steps = 0.0, 0
    for done, seed in enumerate(seeds, start=1):
        result = play(seed, options)
        seen += result.seen
        faults += result.faults
        virtual_s, steps = virtual_s + result.virtual_s, steps + result.steps
        if result.broken:
            failing.append({"seed": seed, "workload": result.workload, "broken": result.broken})
            print(f"seed {seed} ({result.workload}): {result.broken[0]}", flush=True)
        if time.monotonic() - told > TELL_EVERY_S:
            told = time.monotonic()
            print(f"{done} seeds, {done / (told - began) * 60:.0f} a minute, {len(failing)} failed", file=sys.stderr)
    elapsed = time.monotonic() - began
    found = {
        "seeds": len(seeds),
        "first": seeds.start,
        "seconds": round(elapsed, 1),
        "processor_seconds": round(time.process_time(), 1),
        "seeds_a_minute": round(len(seeds) / elapsed * 60),
        "virtual_hours": round(virtual_s / 3600, 1),
        "scheduling_points_a_seed": round(steps / len(seeds)),
        "faults": dict(sorted(faults.items())),
        "sometimes": {name: seen[name] for name in LIST},
        "never": [name for name in LIST if not seen[name]],
        "failing": failing,
    }
    print(json.dumps(found, indent=2))
    if report is not None:
        report.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if failing else 0


def _ablations(names: list[str]) -> int:
    """Each with the number of seeds after which it was found."""
    lost = []
    for name in names:
        ablation = ABLATIONS[name]
        found = seeds_until_found(ablation)
        print(f"{name}: {'NOT FOUND' if found is None else f'seed {found}'} within {ablation.within}", flush=True)
        if found is None:
            lost.append(name)
    print(f"{len(names) - len(lost)} of {len(names)} found")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
