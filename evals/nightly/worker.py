"""``python -m evals.nightly.worker FOLDER SECONDS``: planner and workers of the night on a data folder, as functions of
the template behind the local queue, with a model that answers by rule after so many seconds. It runs until it is
killed."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from local.backend import Choices, EmbeddedPorts
from local.functions import Functions
from local.template import read_template
from local.workers.queue_worker import QueueWorker
from neve import wiring
from neve.observability import log_from
from neve.observers.prompted import PromptedObserver
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.models import ModelAnswer, ModelRequest
from neve.store import rows
from neve.store.partitions import due_rows
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.work.background.send_lost import send_lost
from neve.usecases.work.background.sweep_due import resolve_due

GROUP = "[group id: "
PLAN_EVERY_S = 2.0
IDLE_S = 0.02


class RuledModel:
    """Two rows for each batch, each of one half of it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def call_tool(self, request: ModelRequest) -> ModelAnswer:
        time.sleep(self._seconds)
        text = request.content[0]["text"]
        ids = [part.partition("]")[0] for part in text.split(GROUP)[1:]]
        halves = [ids[: len(ids) // 2], ids[len(ids) // 2 :]]
        rows = [{"content": f"🔴 {part[0]} to {part[-1]}", "group_ids": part} for part in halves if part]
        return ModelAnswer({"rows": rows}, "ruled", {"input": 100, "output": 10})


def main() -> None:
    folder, seconds = Path(sys.argv[1]), float(sys.argv[2])
    os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
    log_from("ERROR")
    template = read_template()
    ports = EmbeddedPorts(folder, template, "http://127.0.0.1", Choices("none"))
    ports.observer = PromptedObserver(RuledModel(seconds), "ruled")
    ports.take_over()
    wiring.install(ports)
    functions = Functions(template.functions)
    [source] = [source for source in template.queue_sources if source.function == "reflect"]
    worker = QueueWorker(source, template.queues[source.queue], ports.queue, ports.clock, functions.invoke)
    for _ in range(worker.consumers):
        threading.Thread(target=_consume, args=(worker,), daemon=True).start()
    while True:
        functions.invoke("reflect_planner", {"source": "neve.schedule"})
        _sweep(ports)
        time.sleep(PLAN_EVERY_S)


def _sweep(ports: Ports) -> None:
    """The part of the sweep that a night needs: nothing here is indexed, and all of it would be queued again."""
    for item in due_rows(ports.table, "replace"):
        with contextlib.suppress(ReplacementBusy, Conflict):
            resolve_due(ports, item)
    for item in due_rows(ports.table, rows.QUEUED, ports.clock.now()):
        send_lost(ports, item)


def _consume(worker: Any) -> None:
    while True:
        if not worker.step(hurry=False):
            time.sleep(IDLE_S)


if __name__ == "__main__":
    main()
