"""Workers give way to requests, and come to their end nevertheless."""

from __future__ import annotations

import threading

import pytest

from local.workers import requests_first
from local.workers.requests_first import RequestsFirst, give_way
from tests.patience import PATIENCE_S


class Worker:
    """A thread that stands behind ``first`` and gives way once."""

    def __init__(self, first: RequestsFirst) -> None:
        self._first = first
        self.done = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        self._first.run_as_worker(0)
        give_way()
        self.done.set()


def test_a_worker_waits_until_the_request_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests_first, "MAX_YIELD_S", PATIENCE_S)
    first = RequestsFirst(lambda: 0.0)
    with first.one():
        worker = Worker(first)
        assert not worker.done.wait(0.05)
    assert worker.done.wait(PATIENCE_S)


def test_a_worker_goes_on_however_many_requests_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests_first, "MAX_YIELD_S", 0.01)
    first = RequestsFirst(lambda: 0.0)
    with first.one():
        assert Worker(first).done.wait(PATIENCE_S)


def test_nobody_waits_for_a_request_that_waits_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests_first, "MAX_YIELD_S", 2 * PATIENCE_S)
    times = iter([0.0, 1.0, 1.0])
    first = RequestsFirst(lambda: next(times))
    with first.one():
        assert Worker(first).done.wait(PATIENCE_S)


def test_a_thread_that_stands_behind_nothing_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests_first, "MAX_YIELD_S", PATIENCE_S)
    first = RequestsFirst(lambda: 0.0)
    went_on = threading.Event()

    def work() -> None:
        give_way()
        went_on.set()

    with first.one():
        threading.Thread(target=work, daemon=True).start()
        assert went_on.wait(PATIENCE_S / 2)
