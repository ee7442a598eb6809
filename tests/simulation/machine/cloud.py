"""What all processes of a run share: the engines, time, chance, and what goes wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any
from zlib import crc32

from local.engine.sqlite_queue import QueueDefinition
from neve.ports.queue import Message, QueueName
from neve.store.rows import QUEUED_JOB, RETRACTION
from neve.store.stream_records import Change
from tests.simulation.engines.memory_objects import MemoryObjects
from tests.simulation.engines.memory_queue import MemoryQueue
from tests.simulation.engines.memory_search import MemorySearch
from tests.simulation.engines.memory_table import MemoryTable, Written
from tests.simulation.machine.chaos import Chaos, Temper, draw
from tests.simulation.machine.receiving import Receivers
from tests.simulation.machine.scheduler import Scheduler
from tests.simulation.machine.scripted import MODEL, Batch
from tests.simulation.machine.tasks import Bell
from tests.simulation.machine.trace import Trace

if TYPE_CHECKING:
    from tests.simulation.machine.process import Process

FIFO = (QueueName.EXTRACT, QueueName.COMPACT, QueueName.DELIVER)
QUEUES = tuple(name for name in QueueName if name is not QueueName.DELIVER_DEAD)
"""Those with workers."""
SHARDS = 2
MAX_RECEIVES = 5
EXTRACT_DELAY_S = 5.0
"""As in template.yaml."""
CHANGING = frozenset(("memory", "document"))
APPEARING = frozenset(("event", "recall", "session", QUEUED_JOB, RETRACTION))
"""Types of rows of which the stream tells each change, and those of which it tells the first."""


class Cloud:
    """``busy``: how many processes and tasks are at work. ``sometimes`` counts what has to happen in some run.
    ``unforeseen``: errors that no worker may end with. ``gathered``: what builds of packs have read. ``shown``: texts
    with images, as passes were shown them. ``batches``: what nights have handed in, by name."""

    def __init__(
        self,
        seed: int,
        temper: Temper,
        *,
        without: frozenset[str] = frozenset(),
        most: int | None = None,
    ) -> None:
        self.random = Random(seed)
        self.settings = draw(self.random, temper, without)
        self.chaos = Chaos(self.random, self.settings, most)
        self.scheduler = Scheduler()
        self.trace = Trace()
        self.processes: list[Process] = []
        self.busy = 0
        self.sometimes: Counter[str] = Counter()
        self.unforeseen: list[str] = []
        self.gathered: list[Any] = []
        self.shown: list[tuple[str, bytes]] = []
        self.batches: dict[str, Batch] = {}
        self.batch_numbers = count(1)
        self.positions = [0] * SHARDS
        lag_s = self.settings.index_lag_s
        self.table = MemoryTable(lambda: self.scheduler.now_s, lambda: self.chaos.up_to(lag_s), copies=False)
        self.queues = MemoryQueue(self.now_ms, _definitions(self.settings.visibility_s), self.random.shuffle)
        self.objects = MemoryObjects(lambda: self.scheduler.now_s)
        self.search = self.new_search()
        self.stream_bells = [Bell(self.scheduler) for _ in range(SHARDS)]
        self.bells = {name: Bell(self.scheduler) for name in QueueName}
        self.receivers = Receivers(self)

    def new_search(self) -> MemorySearch:
        lag_s = self.settings.search_lag_s
        return MemorySearch(MODEL, lambda: self.scheduler.now_s, lambda: self.chaos.up_to(lag_s))

    def now_ms(self) -> int:
        return round(self.scheduler.now_s * 1000)

    def change(self, seq: int) -> Change:
        """As the stream tells it."""
        row = self.table.log[seq - 1]
        return Change(str(row.seq), row.old, row.new)

    def tell(self, since: int) -> None:
        """What the table's log holds above ``since`` comes to the readers of the stream."""
        for shard in {shard_of(row.key.pk): None for row in self.table.log[since:] if is_streamed(row)}:
            self.stream_bells[shard].ring(self.random.uniform(0.05, 0.5))

    def unreported(self) -> bool:
        """Whether the stream holds what its readers have not handled."""
        return any(
            is_streamed(row) and shard_of(row.key.pk) == shard
            for shard, at in enumerate(self.positions)
            for row in self.table.log[at:]
        )

    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        """On a standard queue a message may arrive two times."""
        if queue not in FIFO:
            messages = [copy for message in messages for copy in [message] * (1 + self.chaos.strikes("queue_twice"))]
        self.queues.send(queue, messages)
        self.bells[queue].ring(self.random.uniform(0.01, 0.3))

    def wait_for_message(self, queue: QueueName) -> None:
        """Until there may be one to receive."""
        now = self.now_ms()
        coming = [waiting.visible_ms for waiting in self.queues.waiting(queue) if waiting.visible_ms > now]
        seconds = (min(coming) - now) / 1000 + self.random.uniform(0.001, 0.1) if coming else None
        self.bells[queue].wait(seconds)


def is_streamed(row: Written) -> bool:
    """The event filter in template.yaml, but for what leads to nothing here: usage, and new tenants."""
    item = row.new or row.old
    kind = item["type"] if item else None
    return kind in CHANGING or (kind in APPEARING if row.old is None else kind == "tenant")


@lru_cache(maxsize=10_000)
def shard_of(partition: str) -> int:
    """The stream's records of one partition are in one shard."""
    return crc32(partition.encode()) % SHARDS


def _definitions(visibility_s: float) -> dict[str, QueueDefinition]:
    definitions: dict[str, QueueDefinition] = {}
    for name in QUEUES:
        fifo, dlq = name in FIFO, f"{name}-dlq"
        delay_s = EXTRACT_DELAY_S if name is QueueName.EXTRACT else 0.0
        definitions[name] = QueueDefinition(fifo, visibility_s, delay_s, MAX_RECEIVES, dlq)
        definitions[dlq] = QueueDefinition(fifo, visibility_s)
    return definitions
