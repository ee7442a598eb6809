"""Rows for as long as there is time: of a tenant with many users there are more than one call can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from neve.ports.runtime import Clock
from neve.ports.table import Item


@dataclass
class WithinTime:
    """A bound on reading. ``complete``: whether everything that was asked for has been read."""

    clock: Clock
    ends_ms: float
    complete: bool = True

    def rows(self, wanted: Iterable[Item]) -> Iterator[Item]:
        """Give rows until ``ends_ms``."""
        for item in wanted:
            if self.clock.monotonic_ms() >= self.ends_ms:
                self.complete = False
                return
            yield item
