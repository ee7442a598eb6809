"""One seed by its number, and many of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from tests.simulation.checks.all_of_them import broken
from tests.simulation.machine.cloud import Cloud
from tests.simulation.machine.remembered import collect, remembering
from tests.simulation.machine.trace import Trace
from tests.simulation.run import Run, Violation
from tests.simulation.sometimes import happened
from tests.simulation.workloads import workload_of

MAX_SHOWN = 5


@dataclass(frozen=True)
class Options:
    """``workload`` None: by rotation. ``without``: faults that are left out. ``most``: after so many there are no
    more."""

    workload: str | None = None
    without: frozenset[str] = frozenset()
    most: int | None = None


PLAIN = Options()


@dataclass(frozen=True)
class Result:
    """``broken``: what does not hold."""

    seed: int
    workload: str
    broken: list[str]
    trace: Trace
    virtual_s: float
    steps: int
    seen: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)


def play(seed: int, options: Options = PLAIN) -> Result:
    """Raises what no run may end with: an error of the simulation itself."""
    workload = workload_of(seed, options.workload)
    cloud = Cloud(seed, workload.temper, without=options.without, most=options.most)
    run = Run(seed, workload, cloud)
    with remembering():
        try:
            run.play()
            wrong = list(islice(broken(run), MAX_SHOWN))
        except Violation as violation:
            wrong = [str(violation)]
        result = Result(
            seed,
            workload.name,
            wrong,
            cloud.trace,
            cloud.scheduler.now_s,
            cloud.scheduler.steps,
            happened(run),
            cloud.chaos.struck,
        )
    _let_go(run)
    collect()
    return result


def _let_go(run: Run) -> None:
    """The parts of a run refer to each other: apart they are freed at once, and nobody has to look for them."""
    cloud = run.cloud
    for process in cloud.processes:
        vars(process).clear()
    for part in (cloud.table, cloud.queues, cloud.objects, cloud.search, cloud.scheduler, cloud, run.history, run):
        vars(part).clear()
