"""Reads under way of which an answer can lack one: what fails or is late is named in the answer, and nothing else of it
is lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.runtime import Task

T = TypeVar("T")


@dataclass
class Collector:
    """Collects the results of reads under way. ``degraded``: the flags of what is missing."""

    degraded: list[str] = field(default_factory=list)

    def of(self, task: Task[T], deadline_ms: float, flag: str) -> T | None:
        """Return the result of the task, None where it fails or is late; then its flag is noted. ``flag``:
        ``<what>:error``, from which ``<what>:timeout`` is made."""
        try:
            return task.result(deadline_ms)
        except StoreUnavailable:
            self._say(flag)
        except DeadlineExceeded:
            self._say(flag.replace(":error", ":timeout"))
        return None

    def _say(self, flag: str) -> None:
        if flag not in self.degraded:
            self.degraded.append(flag)
