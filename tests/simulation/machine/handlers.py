"""The modules in functions/ as Lambda would call them. They ask for the process's engines: those of the process that
the current actor runs in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from local.engine.sqlite_table import Change as StoredChange
from local.functions import Functions
from local.template import read_template
from local.workers.worker_events import stream_event
from neve import wiring
from neve.ports.queue import QueueName
from neve.ports.table import Key
from neve.store.stream_records import Change
from tests.simulation.machine.functions import Context, Event
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.process import running


class _Current:
    """``ports.Ports``, of whoever asks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(running.get().ports, name)


@contextmanager
def installed() -> Iterator[None]:
    before = list(wiring._installed)
    wiring.install(_Current())
    try:
        yield
    finally:
        wiring._installed[:] = before


@cache
def _functions() -> Functions:
    return Functions(read_template().functions)


def call(name: str, event: Mapping[str, Any], context: Any = None) -> Any:
    """What the function answers."""
    return _functions().load(name)(event, context)


class Handlers:
    """See ``UseCases``."""

    def changes(self, ports: SimPorts, changes: Sequence[Change]) -> set[str]:
        stored = [StoredChange(int(c.sequence_number), Key(c.item["pk"], c.item["sk"]), c.old, c.new) for c in changes]
        answer = call("outbox", stream_event(stored))
        return {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}

    def messages(self, ports: SimPorts, queue: QueueName, event: Event) -> dict[str, Any]:
        context = Context(ports) if ports.process.ends_s is not None else None
        return dict(call(queue, event, context))

    def sweep(self, ports: SimPorts) -> Mapping[str, int]:
        return dict(call("sweep", {}))
