"""What ``--test-controls`` puts between the product and its engines: clock, faults, script, holds and call log."""

from __future__ import annotations

from local.controls.call_log import CallLog
from local.controls.controlled_observer import ControlledObserver, Script
from local.controls.faults import (
    Faults,
    FaultyCrossEncoder,
    FaultyEmbedder,
    FaultyObjects,
    FaultyQueue,
    FaultySearch,
    FaultyTable,
)
from local.controls.holds import Holds
from local.controls.virtual_time import VirtualClock, VirtualTasks
from neve.adapters.clock import SystemClock
from neve.caching import Caches
from neve.ports.engines import Ports
from neve.ports.search import SearchIndex
from neve.readable_table import ReadableTable
from neve.store.partitions import readable_whole


class Controls:
    """The state that a test changes over HTTP (``local/controls/routes.py``)."""

    def __init__(self) -> None:
        self.clock = VirtualClock(SystemClock())
        self.faults = Faults()
        self.calls = CallLog()
        self.script = Script()
        self.holds = Holds()


class ControlledPorts:
    """``ports.engines.Ports`` around another one. The engines below keep the real time: a queue's delays and visibility
    timeouts do not follow the test's clock."""

    def __init__(self, inner: Ports, controls: Controls) -> None:
        faults, calls = controls.faults, controls.calls
        self._inner = inner
        self._faults = faults
        self.clock = controls.clock
        self.tasks = VirtualTasks()
        self.ids = inner.ids
        self.counter = inner.counter
        self.caches = Caches(self.clock.now, inner.caches.troubles)
        self.table = ReadableTable(FaultyTable(readable_whole(inner.table), faults), self.caches, self.clock.now)
        self.objects = FaultyObjects(inner.objects, faults, controls.holds)
        self.queue = FaultyQueue(inner.queue, faults)
        self.embedder = FaultyEmbedder(inner.embedder, faults, calls)
        self.multi = inner.multi and FaultyEmbedder(inner.multi, faults, calls)
        self.cross_encoder = inner.cross_encoder and FaultyCrossEncoder(inner.cross_encoder, faults)
        self.receivers = inner.receivers
        self.observer = ControlledObserver(inner.observer, controls.script, calls, faults, controls.holds)
        self.observer_languages = inner.observer_languages

    @property
    def search(self) -> SearchIndex:
        return FaultySearch(self._inner.search, self._faults)
