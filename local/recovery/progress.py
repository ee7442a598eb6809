"""What a long command says while it works."""

from __future__ import annotations

import time
from collections.abc import Callable

from neve.usecases.work.indexing.reindex import Reindexed

EVERY_S = 2.0


class Progress:
    """To be told of every step of a reindex; prints how far it is, at most every ``EVERY_S`` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._reported_at = clock()

    def __call__(self, done: Reindexed) -> None:
        now = self._clock()
        if now - self._reported_at >= EVERY_S:
            self._reported_at = now
            print(f"  {in_words(done)} …", flush=True)


def in_words(done: Reindexed) -> str:
    documents = f"{done.documents:,} documents, " if done.documents else ""
    return f"{done.users:,} users, {done.memories:,} memories, {documents}{done.logs:,} logs"
