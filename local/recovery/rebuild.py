"""A database of the data folder that was lost is made again from the table, before anybody is answered: the search
index by a reindex into it, the queues by telling the outbox of every row that is behind.

Broken off, the next start begins again: the folder keeps the name of what is lost until it is whole. No text is
embedded twice, because the table keeps vectors by content."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from local.backend import QUEUE, SEARCH
from local.datafolder import DataFolder
from local.engines import Engines
from local.recovery.progress import in_words
from neve.adapters.segments.index import SegmentsIndex
from neve.ports.models import Calibration, Embedder
from neve.ports.search import IndexModel
from neve.ports.table import Delete
from neve.store.keys import SEARCH_MODEL, Keys
from neve.store.tenants.directory import all_tenants, users_of
from neve.usecases.work.background.refill_queues import Refilled, refill_queues
from neve.usecases.work.indexing.reindex import Indexing, Reindexed, reindex

WIDTH = 30
EVERY_S, LINE_EVERY_S = 0.2, 5.0
"""How often the bar moves on a terminal, and how often a line is printed elsewhere."""


def rebuild_lost(engines: Engines, folder: DataFolder) -> None:
    """Everything in ``folder.lost``, with a progress bar each. Nobody else may work on the engines. Raises
    StoreUnavailable, EmbeddingRetryable and EmbedAgain; what is not whole by then stays noted as lost."""
    of_file = not isinstance(engines.search, SegmentsIndex)
    for name, why in sorted(folder.lost.items()):
        if name == SEARCH and not of_file:
            continue  # it is made again by the next start that keeps passages in it
        print(f"{why}. It is made again from the table:", flush=True)
        if name == SEARCH:
            rebuild_search(engines)
        elif name == QUEUE:
            refill(engines)
        folder.found_again(name)


def settle_search(engines: Engines, folder: DataFolder) -> None:
    """Make the segments from the table where they are not kept yet. What the other engine has is behind from now on,
    and made again by the start that wants it back. Raises what ``rebuild_lost`` raises."""
    if not isinstance(engines.search, SegmentsIndex):
        if engines.table.get(SEARCH_MODEL) is not None:
            engines.table.write([Delete(SEARCH_MODEL)])
        return
    if SEARCH not in folder.lost:
        folder.lose(SEARCH, f"{SEARCH} is not kept with --search segments")
    if not engines.search.is_made():
        owners = [
            Keys(one).of_user(user).owner
            for one in all_tenants(engines.table)
            for user in users_of(engines.table, Keys(one))
        ]
        if owners:
            print("The passages are not kept as segments. They are made from the table:", flush=True)
            for owner in owners:
                engines.search.erase(owner)
            rebuild_search(engines)
        engines.search.take_over(engines.embedder.model)


def rebuild_search(engines: Engines) -> None:
    """The index in use, which is empty. What never had a vector, and cannot be given one now, is found by words."""
    bar = Bar(_count_users(engines))

    def report(done: Reindexed) -> None:
        bar.show(done.users, in_words(done))

    trusting = _Trusting(engines.embedder)
    ports = Indexing(
        engines.table, engines.objects, engines.search, trusting, engines.caches, engines.clock, engines.ids
    )
    multi = engines.multi and _Trusting(engines.multi)
    bar.end(in_words(reindex(ports, engines.search, _nothing, _nothing, report, multi)))


def refill(engines: Engines) -> None:
    bar = Bar(_count_users(engines))

    def report(done: Refilled) -> None:
        bar.show(done.users, _refilled(done))

    bar.end(_refilled(refill_queues(engines, report)))


def _refilled(done: Refilled) -> str:
    return f"{done.users:,} users, {done.rows:,} rows and {done.jobs:,} jobs queued again"


class Bar:
    """On a terminal one line that moves, elsewhere a line now and then."""

    def __init__(self, total: int) -> None:
        self._total = max(1, total)
        self._every_s = EVERY_S if sys.stdout.isatty() else LINE_EVERY_S
        self._shown_at = time.monotonic()

    def show(self, done: int, words: str) -> None:
        now = time.monotonic()
        if now - self._shown_at >= self._every_s:
            self._shown_at = now
            self._print(min(done / self._total, 1.0), words, end="" if sys.stdout.isatty() else "\n")

    def end(self, words: str) -> None:
        self._print(1.0, words, end="\n")

    def _print(self, share: float, words: str, end: str) -> None:
        filled = round(share * WIDTH)
        start = "\r\x1b[K" if sys.stdout.isatty() else ""
        print(f"{start}  [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}  {words}", end=end, flush=True)


@dataclass(frozen=True)
class _Trusting:
    """An embedder that is taken to work: the vectors that texts had are in the table, and need no encoder."""

    inner: Embedder

    @property
    def model(self) -> IndexModel:
        return self.inner.model

    @property
    def calibration(self) -> Calibration:
        return self.inner.calibration

    @property
    def languages(self) -> tuple[str, ...]:
        return self.inner.languages

    def embed_query(self, text: str) -> bytes:  # noqa: ARG002  (a reindex only tries whether it works)
        return b""

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return self.inner.embed_passages(texts)


def _nothing() -> None:
    """The index in use is the one that is filled."""


def _count_users(engines: Engines) -> int:
    return sum(1 for tenant in all_tenants(engines.table) for _ in users_of(engines.table, Keys(tenant)))
