"""What differs between asyncio and threads."""

from __future__ import annotations

import atexit
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

OPEN: weakref.WeakSet[Any] = weakref.WeakSet()
"""Clients that were not closed."""
Lock = threading.Lock
sleep = time.sleep


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """A thread cannot be interrupted: each wait of a request is bounded by itself."""
    del seconds
    yield


def acquired(lock: threading.Lock, seconds: float) -> bool:
    """Whether the lock was free in time."""
    return lock.acquire(timeout=max(0.0, seconds))


class Later:
    """Something to do after a while, unless it is put off or taken back first. Its thread never keeps a process
    alive."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._timer: threading.Timer | None = None

    def after(self, seconds: float) -> None:
        """In place of what was put off before."""
        self.cancel()
        self._timer = timer = threading.Timer(seconds, self._work)
        timer.daemon = True
        timer.start()

    def cancel(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()


@atexit.register
def _flush() -> None:
    """When the interpreter ends: send what waits, and tell what is left then."""
    for client in list(OPEN):
        client.close()
