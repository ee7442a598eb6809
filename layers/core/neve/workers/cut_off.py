"""A worker that runs out of its time is cut off, and what it had taken up is hidden until its message comes again. That
is told: in health, by a metric and in the log (docs/rules/degradation.md#workers)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from neve import observability
from neve.observing import time_left_of
from neve.ports.engines import Ports
from neve.usecases.work.background.note_cut_off import note_cut_off

TELL_S = 1.0
"""Seconds before the end, because nothing runs behind it (*chosen*: one write takes some 10 ms)."""
LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"


@contextmanager
def telling_if_cut_off(ports: Ports, function: str, context: Any) -> Iterator[None]:
    """Watch the work of an invocation that Lambda ends. ``context``: Lambda's. On one machine the process that runs the
    function knows, and tells it."""
    if context is None or LAMBDA not in os.environ:
        yield
        return
    clock = Timer(time_left_of(context)() - TELL_S, tell_of_cut_off, (ports, function))
    clock.daemon = True
    clock.start()
    try:
        yield
    finally:
        clock.cancel()


def tell_of_cut_off(ports: Ports, function: str) -> None:
    """Tell of a worker that had not finished when its time was over."""
    observability.worker_cut_off(function)
    observability.emit_metrics(function, {"WorkersCutOff": 1})
    note_cut_off(ports, function)
