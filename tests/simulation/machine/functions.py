"""The functions behind stream, queues and schedule: their use cases as the handlers call them, on given ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

from neve import observability
from neve.batch import process_together
from neve.ports import QueueName
from neve.store.stream_records import Change
from neve.usecases.background.dispatch_changes import dispatch_changes
from neve.usecases.background.sweep_due import sweep_due
from neve.usecases.compact.asked_for import asked_for
from neve.usecases.indexing.embed_rows import embed_rows
from neve.usecases.indexing.index_rows import index_rows
from neve.usecases.observe.extract_session import extract_session
from neve.worker import process_fifo
from tests.simulation.machine.ports import SimPorts

Event = dict[str, Any]
SILENT = ("answered", "worked", "unobservable", "images_left_out", "troubled", "measured")


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
        return process_fifo(ports, event, context, queue, asked_for)

    def sweep(self, ports: SimPorts) -> Mapping[str, int]:
        return sweep_due(ports)


@contextmanager
def listening(failed: Callable[[str, BaseException], object], postponed: Callable[[], object]) -> Iterator[None]:
    """Within, nothing is logged or measured; ``failed`` hears where a worker failed and why."""

    def hear(where: str, _: str, error: BaseException) -> None:
        failed(where, error)

    quiet: dict[str, Any] = {name: lambda *_, **__: None for name in SILENT}
    with mock.patch.multiple(observability, **quiet, failed=hear, postponed=lambda *_: postponed()):
        yield
