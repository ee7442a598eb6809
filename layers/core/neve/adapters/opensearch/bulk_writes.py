"""Bulk requests. What the index has no room for is sent again, each line by itself: a message that fails instead is
hidden for its queue's visibility timeout, minutes, while what it is about cannot be found."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from neve.adapters.opensearch.calls import STORE, TURNED_AWAY, Calls, LineOutcome, Overloaded
from neve.ports.errors import StoreUnavailable

MAX_PAUSE_S: Final = (0.5, 1.0, 2.0)
"""Seconds: before each further attempt a random part of it passes (*chosen*: a full write queue is worked off within
seconds)."""
MAX_CHARACTERS: Final = 5_000_000
"""The characters of a request. A managed domain takes 10 MB at least; a character of JSON is one byte."""


class BulkWrites:
    """Bulk requests of which the lines that had no room are sent again. ``pause`` waits so many seconds."""

    def __init__(self, calls: Calls, pause: Callable[[float], None] = time.sleep) -> None:
        self._calls = calls
        self._pause = pause

    def send(self, alias: str, lines: Sequence[str], *, wait: bool = False) -> list[LineOutcome]:
        """Send lines and give the outcome of every line, in order; ``alias`` and ``wait`` as in ``Calls.bulk``. Raises
        what that raises, and StoreUnavailable where there was no room for a line in the last attempt either."""
        outcomes: dict[int, LineOutcome] = {}
        for pause_s in (0.0, *MAX_PAUSE_S):
            if pause_s:
                self._pause(random.uniform(0, pause_s))
            outcomes |= self._send_once(
                alias, {number: line for number, line in enumerate(lines) if number not in outcomes}, wait=wait
            )
            if len(outcomes) == len(lines):
                return [outcomes[number] for number in range(len(lines))]
        raise StoreUnavailable(STORE, f"no room for {len(lines) - len(outcomes)} of {len(lines)} writes (429)")

    def _send_once(self, alias: str, lines: Mapping[int, str], *, wait: bool) -> dict[int, LineOutcome]:
        """Give the outcomes of the lines that there was room for."""
        taken: dict[int, LineOutcome] = {}
        numbers = iter(lines)
        for part in _in_parts(lines.values()):
            of_part = list(islice(numbers, len(part)))
            try:
                written = self._calls.bulk(alias, "".join(part), wait=wait)
            except Overloaded:
                break
            taken |= {n: one for n, one in zip(of_part, written, strict=True) if one.status != TURNED_AWAY}
        return taken


def _in_parts(lines: Iterable[str]) -> Iterator[list[str]]:
    """Split the lines into parts of at most MAX_CHARACTERS, a longer line alone."""
    part: list[str] = []
    size = 0
    for line in lines:
        if part and size + len(line) > MAX_CHARACTERS:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield part
