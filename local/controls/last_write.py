"""The end of the process, behind a write that a test chose: what ``kill -9`` leaves does not depend on how fast the
machine is."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from neve.ports.table import Delete, Item, Key, Put, Version, WriteOp, key_of
from neve.store.rows import QUEUED_JOB

OPEN = ("queued", "running")
GONE = 2**63
"""Behind every version: no row is written again under the id of a job that was deleted."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The ``writes``-th write of the function, None: of all functions; or the first one behind it that leaves a job of
    the kind ``job`` unfinished, where one is named."""

    function: str | None
    writes: int
    job: str | None = None


class LastWrite:
    """Counts the writes to stores by function: transactions, objects, messages, changes of the search index."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._moment: Moment | None = None
        self._jobs: dict[Key, tuple[int, str | None]] = {}
        """The newest version of each job that this process has written, and its kind while it is unfinished; of rows
        that it deletes, an erasure those of a user's jobs too, ``GONE`` and no kind."""

    def arm(self, moment: Moment) -> None:
        """Let that write, counted from now on, be the last thing that the process does."""
        with self._lock:
            self._counts.clear()
            self._moment = moment

    def counts(self) -> dict[str, int]:
        """Since the start, or since it was armed."""
        with self._lock:
            return dict(self._counts)

    def writes(self, rows: Sequence[WriteOp]) -> None:
        """A transaction begins. A job that it ends or deletes counts as ended from now on: another thread may be told
        of its own write before this one is."""
        with self._lock:
            self._jobs |= {op.key: (GONE, None) for op in rows if isinstance(op, Delete)}
            for version, job in _jobs(rows):
                if job["status"] not in OPEN:
                    self._jobs[key_of(job)] = (version, None)

    def wrote(self, function: str, rows: Sequence[WriteOp] = ()) -> None:
        """What was written is there; whoever wrote it has not heard so yet, and may hear it behind somebody who has
        ended the job since."""
        with self._lock:
            self._counts[function] += 1
            for version, job in _jobs(rows):
                newest, _ = self._jobs.get(key_of(job), (version, None))
                if job["status"] in OPEN and version >= newest:
                    self._jobs[key_of(job)] = (version, job["kind"])
            if self._moment is not None and self._has_come(self._moment):
                _die()

    def _has_come(self, moment: Moment) -> bool:
        counted = self._counts.total() if moment.function is None else self._counts[moment.function]
        unfinished = {kind for _, kind in self._jobs.values()}
        return counted >= moment.writes and (moment.job is None or moment.job in unfinished)


def _jobs(rows: Sequence[WriteOp]) -> list[tuple[int, Item]]:
    """With the versions that they get."""
    puts = [op for op in rows if isinstance(op, Put) and op.item.get("type") in ("job", QUEUED_JOB)]
    return [(put.expect.n + 1 if isinstance(put.expect, Version) else put.first, put.item) for put in puts]


def _die() -> NoReturn:
    """Without the lock's release: no other thread writes meanwhile and goes on."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()
    raise AssertionError("nobody survives SIGKILL")
