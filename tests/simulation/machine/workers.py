"""Who calls the functions: readers of the stream, pollers of the queues, and the schedule, which start a process again
that died."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from local.broker import Received
from neve.domain.errors import NeveError
from neve.domain.jobs.time_limits import WORKER_S
from neve.domain.librarian import time_limits as filing_limits
from neve.ports.errors import Conflict, ModelRefused, ModelUnavailable, StoreUnavailable
from neve.ports.queue import QueueName
from neve.store.stream_records import Change
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.work.indexing.index_events import EmbedAgain
from neve.usecases.work.observe.lease import LeaseLost
from neve.worker import NoProgress
from tests.simulation.engines.memory_table import Written
from tests.simulation.machine.cloud import Cloud, is_streamed, shard_of
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.process import Process, running
from tests.simulation.machine.scheduler import Crashed

T = TypeVar("T")
FORESEEN = (
    StoreUnavailable,
    Conflict,
    LeaseLost,
    ModelUnavailable,
    ModelRefused,
    ReplacementBusy,
    EmbedAgain,
    NeveError,
    NoProgress,
)
"""What a worker may fail with, to be called again."""
SWEEP_EVERY_S = 600.0


class Functions(Protocol):
    def changes(self, ports: SimPorts, changes: Sequence[Change]) -> set[str]: ...
    def messages(self, ports: SimPorts, queue: QueueName, event: dict[str, Any]) -> dict[str, Any]: ...
    def sweep(self, ports: SimPorts) -> object: ...


class Environment:
    """A place for one process at a time; the next one remembers nothing."""

    def __init__(self, cloud: Cloud, name: str) -> None:
        self._cloud = cloud
        self._name = name
        self._started = 0
        self._ports: SimPorts | None = None

    def run(self, work: Callable[[SimPorts], T], seconds: float | None = None) -> T | None:
        """None when the process died. ``seconds``: after which it is killed."""
        if self._ports is None or not self._ports.process.alive:
            self._started += 1
            self._ports = SimPorts(Process(self._cloud, f"{self._name}.{self._started}"))
        ports = self._ports
        ports.process.ends_s = None if seconds is None else self._cloud.scheduler.now_s + seconds
        token = running.set(ports.process)
        self._cloud.busy += 1
        try:
            result = work(ports)
        except Crashed:
            if self._cloud.scheduler.stopped:
                raise
            return None
        finally:
            self._cloud.busy -= 1
            running.reset(token)
            ports.process.ends_s = None
        return result


class StreamReader:
    """One shard: batches in order, each until it was handled."""

    def __init__(self, cloud: Cloud, functions: Functions, shard: int) -> None:
        self._cloud = cloud
        self._functions = functions
        self._shard = shard
        self._environment = Environment(cloud, f"outbox{shard}")

    def run(self) -> None:
        while True:
            batch = self._next_batch()
            if not batch:
                self._cloud.stream_bells[self._shard].wait()
                continue
            self._handle(batch)

    def _next_batch(self) -> list[Written]:
        cloud, most = self._cloud, self._cloud.random.randint(1, 5)
        batch: list[Written] = []
        at = cloud.positions[self._shard]
        while at < len(cloud.table.log) and len(batch) < most:
            row = cloud.table.log[at]
            at += 1
            if shard_of(row.key.pk) == self._shard and is_streamed(row):
                batch.append(row)
            elif not batch:
                cloud.positions[self._shard] = at
        return batch

    def _handle(self, batch: list[Written]) -> None:
        cloud = self._cloud
        tries = 0 if cloud.chaos.strikes("stream_gives_up") else cloud.settings.stream_tries
        for attempt in range(1, tries + 1):
            changes = [cloud.change(row.seq) for row in batch]
            failed = self._environment.run(lambda ports, delivered=changes: self._functions.changes(ports, delivered))  # type: ignore[misc]
            if failed is None or failed:
                cloud.scheduler.pause(cloud.random.uniform(0.1, 2.0 * attempt))
            elif cloud.chaos.strikes("stream_again"):
                cloud.scheduler.pause(cloud.random.uniform(0.1, 30.0))
            else:
                break
        else:
            cloud.sometimes["stream gave up"] += 1
        cloud.positions[self._shard] = batch[-1].seq


ONE_AT_A_TIME = (QueueName.EXTRACT, QueueName.COMPACT, QueueName.REFLECT, QueueName.JOBS)
LONG = (QueueName.REFLECT, QueueName.JOBS)


class Poller:
    """One consumer of a queue."""

    def __init__(self, cloud: Cloud, functions: Functions, queue: QueueName, number: int) -> None:
        self._cloud = cloud
        self._functions = functions
        self._queue = queue
        self._environment = Environment(cloud, f"{queue}{number}")
        self._most = 10 if queue in (QueueName.INDEX, QueueName.EMBED) else 1

    def run(self) -> None:
        cloud = self._cloud
        while True:
            received = cloud.queues.receive(self._queue, cloud.random.randint(1, self._most))
            if not received:
                cloud.wait_for_message(self._queue)
                continue
            self._handle(received)

    def _handle(self, received: list[Received]) -> None:
        cloud = self._cloud
        event = {"Records": [_record(self._queue, one) for one in received]}
        answer = self._environment.run(
            lambda ports: self._functions.messages(ports, self._queue, event), self._seconds()
        )
        if answer is None:
            return
        failed = {failure["itemIdentifier"] for failure in answer["batchItemFailures"]}
        for one in received:
            if one.id not in failed and not cloud.chaos.strikes("delete_lost"):
                cloud.queues.delete(self._queue, one.receipt)
        if cloud.queues.waiting(self._queue):
            cloud.bells[self._queue].ring(0.01)

    def _seconds(self) -> float | None:
        """After which a worker is killed. Those of nights and jobs begin nothing with less than a minute left."""
        seconds = self._cloud.settings.worker_s
        if seconds is not None and self._queue is QueueName.LIBRARIAN:
            return float(filing_limits.WORKER_S)
        return seconds if seconds is None or self._queue not in LONG else float(WORKER_S)


def _record(queue: QueueName, one: Received) -> dict[str, Any]:
    return {
        "messageId": one.id,
        "receiptHandle": one.receipt,
        "body": one.body,
        "attributes": dict(one.attributes),
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:local:000000000000:neve-{queue}",
        "awsRegion": "local",
    }


class Sweeper:
    """Every ten minutes; in some runs much more often, so that it meets others."""

    def __init__(self, cloud: Cloud, functions: Functions, number: int) -> None:
        self._cloud = cloud
        self._functions = functions
        self._environment = Environment(cloud, f"sweep{number}")

    def run(self) -> None:
        cloud = self._cloud
        cloud.scheduler.pause(cloud.random.uniform(0.0, cloud.settings.sweep_s))
        while True:
            self.sweep()
            cloud.scheduler.pause(SWEEP_EVERY_S if cloud.chaos.calm else cloud.settings.sweep_s)

    def sweep(self) -> None:
        def work(ports: SimPorts) -> object:
            try:
                return self._functions.sweep(ports)
            except FORESEEN:
                return False

        self._environment.run(work, self._cloud.settings.worker_s)


def start_workers(cloud: Cloud, functions: Functions, queues: Sequence[QueueName]) -> None:
    for shard in range(len(cloud.positions)):
        cloud.scheduler.start(StreamReader(cloud, functions, shard).run)
    for queue in queues:
        for number in range(cloud.settings.workers):
            cloud.scheduler.start(Poller(cloud, functions, queue, number).run)
    for number in range(cloud.settings.sweepers):
        cloud.scheduler.start(Sweeper(cloud, functions, number).run)
