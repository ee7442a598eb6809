"""The end of the process, behind a write that a test chose: what ``kill -9`` leaves does not depend on how fast the
machine is."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from typing import NoReturn


class LastWrite:
    """Counts the writes to stores by function: transactions, objects, messages, changes of the search index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._last: tuple[str | None, int] | None = None

    def arm(self, function: str | None, writes: int) -> None:
        """Let the ``writes``-th write of the function from now on be the last thing that the process does. None: of all
        functions."""
        with self._lock:
            self._counts.clear()
            self._last = (function, writes)

    def counts(self) -> dict[str, int]:
        """Since the start, or since it was armed."""
        with self._lock:
            return dict(self._counts)

    def wrote(self, function: str) -> None:
        """What was written is there; whoever wrote it has not heard so yet."""
        with self._lock:
            self._counts[function] += 1
            if self._last is None:
                return
            name, writes = self._last
            if (self._counts.total() if name is None else self._counts[name]) >= writes:
                _die()


def _die() -> NoReturn:
    """Without the lock's release: no other thread writes meanwhile and goes on."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()
    raise AssertionError("nobody survives SIGKILL")
