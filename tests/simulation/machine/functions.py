"""The functions behind stream, queues and schedule: their use cases as the handlers call them, on given ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

from neve import observability
from neve.batch import process_together
from neve.ports.queue import QueueName
from neve.store import keys
from neve.store.stream_records import Change
from neve.usecases.work.background.asked_for import asked_for
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.indexing.index_rows import index_rows
from neve.usecases.work.observe.extract_session import extract_session
from neve.worker import process_fifo
from neve.workers.deliveries import process_deliveries
from neve.workers.filings import process_filings
from neve.workers.job_worker import process_jobs
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.swapped import Swap, swapped

Event = dict[str, Any]
DUE_SHARDS = 2
"""Of the index of due work. A sweep asks every one of them: the eight of a deployment would be a sixth of all calls."""
SILENT = (
    *(
        "request_completed",
        "message_processed",
        "event_unobservable",
        "images_left_out",
        "summary_refused",
        "health_issue",
        "emit_metrics",
    ),
    *("librarian_actions_rejected", "documents_not_shown", "lines_left_out", "facts_left_out"),
    *(
        "malformed_lines_dropped",
        "malformed_facts_dropped",
        "reflection_skipped",
        "reflection_left_out",
        "job_sent_again",
    ),
)


class Context:
    """Lambda's, as far as the product reads it."""

    def __init__(self, ports: SimPorts) -> None:
        self._process = ports.process

    def get_remaining_time_in_millis(self) -> int:
        ends_s = self._process.ends_s or 0.0
        return round(max(0.0, ends_s - self._process.cloud.scheduler.now_s) * 1000)


class UseCases:
    """Without the modules in functions/, which ask for the process's engines by themselves."""

    def changes(self, ports: SimPorts, changes: Sequence[Change]) -> set[str]:
        """The sequence numbers that are to be read again."""
        try:
            dispatch_changes(ports, changes)
        except Exception as error:
            observability.failed("outbox", changes[0].sequence_number, error)
            return {changes[0].sequence_number}
        return set()

    def messages(self, ports: SimPorts, queue: QueueName, event: Event) -> dict[str, Any]:
        context = Context(ports) if ports.process.ends_s is not None else None
        if queue is QueueName.INDEX:
            return process_together(event, queue, partial(index_rows, ports))
        if queue is QueueName.EMBED:
            return process_together(event, queue, partial(embed_rows, ports))
        if queue is QueueName.EXTRACT:
            return process_fifo(ports, event, context, queue, extract_session)
        if queue is QueueName.LIBRARIAN:
            return process_filings(ports, event, context)
        if queue is QueueName.DELIVER:
            return process_deliveries(ports, event, context)
        if queue in (QueueName.JOBS, QueueName.REFLECT):
            return process_jobs(ports, queue, event, context)
        return process_fifo(ports, event, context, queue, asked_for)

    def sweep(self, ports: SimPorts) -> Mapping[str, int]:
        return sweep_due(ports)


@contextmanager
def listening(
    failed: Callable[[str, BaseException], object], postponed: Callable[[BaseException], object]
) -> Iterator[None]:
    """Within, nothing is logged or measured; ``failed`` hears where a worker failed and why, ``postponed`` by what a
    message was held up. And the index of due work has ``DUE_SHARDS``."""

    parameters = signature(observability.failed)

    def hear(*given: object, **named: object) -> None:
        # bound as the product would: a call that fits no more would end in the worker, as one more failure of it
        arguments = parameters.bind(*given, **named).arguments
        failed(arguments["where"], arguments["error"])

    swaps: list[Swap] = [(observability, name, _unheard) for name in SILENT]
    swaps += [
        (observability, "failed", hear),
        (observability, "message_postponed", lambda *arguments: postponed(arguments[-1])),
    ]
    with swapped(*swaps, (keys, "DUE_SHARDS", DUE_SHARDS)):
        yield


def _unheard(*_: object, **__: object) -> None:
    return None
