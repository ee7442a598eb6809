"""``python -m evals.cold_start``: how long each function takes to start, for its first event and for a later one, under
Lambda's own runtime client, on its layers, with the AWS adapters on real servers. Writes
``evals/results/cold_start.json``.

The functions run on this machine's Python and processor, with all of its cores: the numbers compare functions and
versions, they are not Lambda's. The layers are compiled for this Python, as they are for Lambda's."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.bench import machine
from evals.progress import tracked
from infra.lambda_runtime.opt import lay_over
from infra.lambda_runtime.process import LambdaProcess, Sandbox
from infra.lambda_runtime.stage import Stage
from infra.lambda_runtime.stores import Stores, make_stores
from infra.packaging.build import HERE, build_layer, install
from infra.packaging.functions import DeployedFunction, deployed_functions
from infra.packaging.layers import LAYERS, LOCKS
from local.stack.jars import CannotFetch, Server
from local.stack.servers import start_servers
from local.template import read_template
from local.workers.worker_events import schedule_event
from neve.domain.times import iso

RESULT = Path("evals/results/cold_start.json")
USER = "/v1/users/ann"
MESSAGE = "My telescope is with Bob until Friday; I will collect it then."
NOT_MEASURED = frozenset({"pre_traffic"})
"""Runs once a deployment, and waits for the others."""


def main() -> int:
    """Exit code 1 where the servers cannot run."""
    parser = argparse.ArgumentParser(prog="python -m evals.cold_start", description=__doc__)
    parser.add_argument("--starts", type=int, default=5, help="cold starts of each function (5)")
    parser.add_argument("--later", type=int, default=20, help="events after the first, in each start (20)")
    parser.add_argument("--out", type=Path, default=RESULT, help=f"default: {RESULT}")
    given = parser.parse_args()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="neve-cold-start-")))
        try:
            servers = opened.enter_context(start_servers(list(Server), folder / "servers"))
        except CannotFetch as reason:
            print(f"The servers cannot run here: {reason}", file=sys.stderr)
            return 1
        stores = make_stores(servers.urls, read_template())
        functions = _measure(_Machine(folder, stores), given.starts, given.later)
    result = {
        "at": iso(datetime.now(UTC)),
        "machine": machine.describe(),
        "settings": {"starts": given.starts, "later": given.later},
        "functions": functions,
    }
    given.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(_console(functions))
    return 0


class _Machine:
    """The functions with their layers, built for this Python."""

    def __init__(self, folder: Path, stores: Stores) -> None:
        self.folder, self.stores = folder, stores
        self.functions = {name: f for name, f in deployed_functions().items() if name not in NOT_MEASURED}
        for name, layer in LAYERS.items():
            build_layer(layer, HERE, folder / "layers" / name)
        install(LOCKS / "runtime.txt", HERE, folder / "runtime")

    def sandbox(self, function: DeployedFunction) -> Sandbox:
        opt = self.folder / "opt" / "-".join(function.layers)
        if not opt.exists():
            lay_over([self.folder / "layers" / name for name in function.layers], opt)
        return Sandbox(function.code, opt, self.folder / "runtime")


def _measure(machine: _Machine, starts: int, later: int) -> dict[str, Any]:
    template = read_template()
    with Stage(template, machine.functions, machine.stores, machine.sandbox, machine.folder) as stage:
        _use_every_function(stage, machine.stores)
        events = dict(stage.events)
    found = {}
    for name in tracked("cold starts", sorted(events)):
        function = machine.functions[name]
        sandbox = machine.sandbox(function)
        environment = stage.environment(function, sandbox)
        runs = []
        for _ in range(starts):
            with LambdaProcess(name, sandbox, function.handler, environment, machine.folder / f"{name}.log") as process:
                runs.append(_one_start(process, events[name], later))
        found[name] = {"layers": list(function.layers), **_medians(runs)}
    return found


def _use_every_function(stage: Stage, stores: Stores) -> None:
    """One event each, kept for the measurement: an append, a session, a memory, a recall, and what follows."""
    _call(stage, "GET", "/v1/health")
    _call(stage, "POST", f"{USER}/sessions", {"session_id": "monday"})
    given = {"events": [{"event_type": "user_message", "content": MESSAGE}]}
    _call(stage, "POST", f"{USER}/sessions/monday/events", given)
    _call(stage, "POST", f"{USER}/memories", {"text": "Ann's telescope is with Bob."})
    stage.invoke("outbox", stores.changes())
    stage.deliver("embed")
    append = stage.events["observe"]
    _call(stage, "POST", f"{USER}/sessions/monday/observe", {})
    stage.deliver("extract")
    _call(stage, "POST", f"{USER}/sessions/monday/compact", {})
    stage.deliver("compact")
    stage.events["observe"] = append
    _call(stage, "POST", f"{USER}/recall", {"query": "Who has the telescope?", "mode": "tool", "budget_ms": 20_000})
    for schedule in read_template().schedules:
        stage.invoke(schedule.function, schedule_event(schedule, datetime.now(UTC)))


def _call(stage: Stage, method: str, path: str, body: Any = None) -> None:
    response = stage.call(method, path, json.dumps(body).encode() if body is not None else b"")
    if response.status >= 300:
        raise RuntimeError(f"{method} {path}: {response.body!r}\n{stage.log_text()}")


def _one_start(process: LambdaProcess, event: Any, later: int) -> dict[str, float]:
    """Milliseconds. ``init``: from the process to its question for an event; ``first``: that event; ``later``: the
    median of the ones behind it, which a message that was handled before makes light work of."""
    first = process.invoke(event)
    if first.error is not None:
        raise RuntimeError(f"{first.error}\n{process.log_text()}")
    times = []
    for _ in range(later):
        began = time.perf_counter()
        times.append(process.invoke(event).at - began)
    return {
        "init_ms": (process.ready - process.started) * 1000,
        "first_ms": (first.at - process.ready) * 1000,
        "later_ms": statistics.median(times) * 1000,
    }


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(run[name] for run in runs), 1) for name in runs[0]}


def _console(functions: dict[str, Any]) -> str:
    lines = [f"{'function':12}{'init ms':>10}{'first ms':>10}{'later ms':>10}"]
    for name, times in functions.items():
        lines.append(f"{name:12}{times['init_ms']:>10.0f}{times['first_ms']:>10.0f}{times['later_ms']:>10.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
