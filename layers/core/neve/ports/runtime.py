"""Time, ids and work beside the caller."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Clock(Protocol):
    def now(self) -> datetime:
        """Give the wall clock's time, aware, UTC."""

    def monotonic_ms(self) -> float:
        """Give milliseconds that only move forward; the scale of every time budget."""

    def sleep(self, seconds: float) -> None:
        """Returns when so many seconds have passed on this clock."""


class Ids(Protocol):
    def ulid(self, at: datetime) -> str: ...

    def token(self) -> str:
        """Make 128 random bits as hex: write ids and secrets."""


class Task(Protocol, Generic[T_co]):
    def result(self, deadline_ms: float | None = None) -> T_co:
        """Waits until ``clock.monotonic_ms()`` reaches the deadline, then raises DeadlineExceeded; re-raises the
        task's own error."""

    @property
    def elapsed_ms(self) -> float: ...


class Tasks(Protocol):
    """Runs work beside the caller. The context variables of the caller are visible to the work."""

    def start(self, work: Callable[[], T]) -> Task[T]: ...

    def start_read(self, work: Callable[[], T]) -> Task[T]:
        """Start work that only asks a store or an index, and may begin twice: where that is in the same process and has
        it at hand, it is done before this returns, and never late."""

    def start_write(self, work: Callable[[], T]) -> Task[T]:
        """Start work that writes a row. Where the store is in the same process and no other process writes, it is done
        before this returns."""
