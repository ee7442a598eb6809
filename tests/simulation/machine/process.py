"""One process of the product, such as a Lambda environment: what it remembers dies with it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from neve.ports.errors import StoreUnavailable
from tests.simulation.machine.scheduler import Crashed
from tests.simulation.machine.trace import What

if TYPE_CHECKING:
    from tests.simulation.machine.cloud import Cloud
    from tests.simulation.machine.ports import SimPorts

T = TypeVar("T")
_FAULTS = {store: (f"{store}_refused", f"{store}_lost") for store in ("table", "queue", "objects", "search")}
"""Of a call: before its effect, and behind it."""
START = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)

running: ContextVar[Process] = ContextVar("running")
"""The process that the current actor runs in, if it runs in one."""


class Process:
    """``skew_s``: its clock is so far ahead. ``ends_s``: when it is killed, if it is still at work then."""

    def __init__(self, cloud: Cloud, name: str) -> None:
        self.cloud = cloud
        self.name = name
        cloud.processes.append(self)
        self._chaos = cloud.chaos
        self._scheduler = cloud.scheduler
        self._draw = cloud.random.random
        self._note = cloud.trace.note
        self.alive = True
        self.ends_s: float | None = None
        self.ports: SimPorts | None = None
        self.skew_s = cloud.random.uniform(-1, 1) * cloud.settings.skew_s

    def now(self) -> datetime:
        return START + timedelta(seconds=self._scheduler.now_s + self.skew_s)

    # --- scheduling points ----------------------------------------------------------------------

    def point(self) -> None:
        """Others may come in between, and the process may die. Raises Crashed."""
        chaos = self._chaos
        latency_s = self._draw() * chaos.most_s if "stall" not in chaos.rates else chaos.latency_s()
        if self.alive:
            self._scheduler.pause(latency_s)
        if not self.alive or self.ends_s is not None:
            self.check()
        if "crash" in chaos.rates and chaos.strikes("crash"):
            self.die("crash")

    def wait(self, seconds: float) -> None:
        """Raises Crashed when the process is dead by then."""
        if self.alive:
            self.cloud.scheduler.pause(seconds)
        self.check()

    def check(self) -> None:
        if not self.alive:
            raise Crashed
        if self.ends_s is not None and self.cloud.scheduler.now_s >= self.ends_s:
            self.die("worker timed out")

    def die(self, why: str) -> None:
        self.alive = False
        self.tell(why)
        self.cloud.sometimes[why] += 1
        raise Crashed

    def tell(self, what: What, outcome: str = "") -> None:
        self._note((self._scheduler.now_s, self.name, what, outcome))

    # --- calls of a store -----------------------------------------------------------------------

    def call(self, store: str, what: What, effect: Callable[[], T], *, writes: bool = False) -> T:
        """A port call: a scheduling point before its effect and one behind it. Raises StoreUnavailable, and what
        ``effect`` raises."""
        chaos, refused, loses = self._chaos, *_FAULTS[store]
        self.point()
        if writes and (seconds := chaos.before_write_s()):
            self.wait(seconds)
        if refused in chaos.rates and chaos.strikes(refused):
            self.tell(what, "refused")
            raise StoreUnavailable(store, "refused")
        try:
            result = effect()
        except Exception as error:
            self.tell(what, type(error).__name__)
            self.point()
            raise
        lost = writes and loses in chaos.rates and chaos.strikes(loses)
        self.tell(what, "answer lost" if lost else "")
        self.point()
        if lost:
            raise StoreUnavailable(store, "the answer was lost")
        return result
