"""What differs between asyncio and threads."""

from __future__ import annotations

import asyncio
import atexit
import weakref
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

OPEN: weakref.WeakSet[Any] = weakref.WeakSet()
"""Clients that were not closed."""
Lock = asyncio.Lock
sleep = asyncio.sleep
bounded = asyncio.timeout
"""Of a block: raises TimeoutError when it takes longer, in seconds."""


async def acquired(lock: asyncio.Lock, seconds: float) -> bool:
    """Whether the lock was free in time."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await lock.acquire()
    return False


class Later:
    """Something to do after a while, unless it is put off or taken back first."""

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        self._work = work
        self._task: asyncio.Task[None] | None = None

    def after(self, seconds: float) -> None:
        """In place of what was put off before."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(self._wait(seconds))

    def cancel(self) -> None:
        task, self._task = self._task, None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    async def _wait(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._work()


@atexit.register
def _tell() -> None:
    """There is no loop any more when the interpreter ends: what was not flushed can only be told."""
    for client in list(OPEN):
        client.tell_what_is_lost()
