"""``python -m tests.simulation``: many seeds, one seed with its trace, or the ablations. See docs/simulation.md."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from tests.simulation.ablations.all_of_them import ABLATIONS
from tests.simulation.ablations.finding import FOUND_LAST, found_by_many, found_last, keep
from tests.simulation.machine.chaos import FAULTS
from tests.simulation.many import OtherReport, as_report, lacking, play_many, processes
from tests.simulation.seeds import Options, play
from tests.simulation.shrinking import shrunk
from tests.simulation.workloads import WORKLOADS


def main() -> int:
    given = _arguments()
    options = Options(given.workload, frozenset(given.without), given.faults)
    if given.ablations:
        return _ablations(list(ABLATIONS) if given.ablations == ["all"] else given.ablations, given.jobs, given.keep)
    if given.seed is not None:
        return _shrink(given.seed, options) if given.shrink else _one(given.seed, options)
    return _many(range(given.first, given.first + given.seeds), options, given.jobs, given.report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--workload", choices=list(WORKLOADS), help="without it: by rotation")
    parser.add_argument("--seed", type=int, help="this one only, with its trace")
    parser.add_argument("--shrink", action="store_true", help="of --seed: which faults the failure needs")
    parser.add_argument("--without", nargs="*", default=[], choices=FAULTS, metavar="FAULT", help="leave out")
    parser.add_argument("--faults", type=int, help="only the first so many")
    parser.add_argument("--jobs", type=int, default=1, help="processes that share the seeds, or the ablations")
    parser.add_argument("--report", type=Path, help="the report as JSON; seeds that it holds are not run again")
    parser.add_argument("--ablations", nargs="*", metavar="NAME", help="all, or some by name")
    parser.add_argument(
        "--keep", action="store_true", help="note the seeds that find ablations, for others to look at first"
    )
    return parser.parse_args()


def _one(seed: int, options: Options) -> int:
    result = play(seed, options)
    sys.stdout.writelines(result.trace.lines())
    print(f"seed {seed}, workload {result.workload}, trace {result.trace.digest()}, faults {dict(result.faults)}")
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


def _many(seeds: range, options: Options, jobs: int, report: Path | None) -> int:
    began_s = time.monotonic()
    try:
        found = play_many(seeds, options, jobs, report)
    except OtherReport as other:
        print(other, file=sys.stderr)
        return 2
    document = as_report(found) | {"seconds": round(time.monotonic() - began_s, 1)}
    del document["found"]
    print(json.dumps(document, indent=2))
    missed = lacking(found, options)
    if missed:
        print(f"never happened: {', '.join(missed)}", file=sys.stderr)
    return 1 if found.failing or missed else 0


def _ablations(names: list[str], jobs: int, keeps: bool) -> int:
    """Each with a seed that finds it, which is noted on demand."""
    lost, seeds = [], dict(FOUND_LAST)
    with processes(jobs) as pool:
        again = pool.map(found_last, names)
        for name, last in zip(names, list(again), strict=True):
            found = found_by_many(name, pool, jobs) if last is None else last
            within = ABLATIONS[name].within
            print(f"{name}: {'NOT FOUND' if found is None else f'seed {found}'} within {within}", flush=True)
            if found is None:
                lost.append(name)
            else:
                seeds[name] = found
    if keeps:
        keep(seeds)
    print(f"{len(names) - len(lost)} of {len(names)} found")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
