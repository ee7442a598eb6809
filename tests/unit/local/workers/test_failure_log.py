"""What cannot be said of a failure keeps nobody from working."""

from __future__ import annotations

import errno
import io
import os
import sys
import threading
from typing import Any, cast

import pytest

from local.workers.driver import Driver, Sources
from local.workers.failure_log import report, report_given_up
from neve.adapters.clock import SystemClock
from tests.patience import PATIENCE_S


class FullDisk(io.StringIO):
    """A log in a file, on the disk that is full."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FailingOnce:
    """A queue's worker, as far as the driver asks for it."""

    name = "embed"
    consumers = 1

    def __init__(self) -> None:
        self.works_again = threading.Event()
        self._failed = False

    def step(self, *, hurry: bool) -> bool:
        if not self._failed:
            self._failed = True
            raise RuntimeError("the disk is full")
        self.works_again.set()
        return False

    def wait(self, _: float) -> None:
        """There may be something to do again at once."""


def test_a_failure_that_cannot_be_written_down_is_none_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", FullDisk())
    report("worker embed", ValueError("of a person's words"))
    report_given_up("outbox", 3, 5)


def test_a_worker_goes_on_where_its_failure_cannot_be_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its thread is the only one that does its work: without it nothing would be observed until the next start."""
    monkeypatch.setattr(sys, "stderr", FullDisk())
    monkeypatch.setattr("local.workers.driver.AFTER_FAILURE_S", 0.0)
    worker = FailingOnce()
    sources = Sources([], [cast("Any", worker)], [])
    driver = Driver(sources, lambda *_: None, SystemClock(), lambda _: 0, lambda _: None)
    driver.start(schedules=False)
    assert worker.works_again.wait(PATIENCE_S)
    assert driver.stop()
