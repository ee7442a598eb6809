"""Carries the schedule out through the test controls of the local server."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from evals.soak.process_size import ProcessSize, process_size
from evals.soak.schedule import CALM, Step
from local.api_client import ApiClient

SWEEP_S = 60.0
"""Under test controls no schedule runs by itself. Every ten minutes on a stage; more often here, as the time is short.
The logged calls of the controls are forgotten then: they would grow with every embedding."""
LOOK_S = 0.2
DRAIN_SLICE_S = 40.0
DRAINED_WITHIN_S = 2_400.0
"""The 1,800 s that a librarian's message stays hidden whose receiver lost its server, and the work itself."""


class Patient(ApiClient):
    """Waits for a sweep on a busy machine: under test controls no time passes for it, so that it does all that is
    due."""

    timeout_s = 600.0


@dataclass
class Director:
    """``window`` is what is being done to the service now. ``sizes``: of the service's process, one a sweep. ``done``:
    each step with its start and end in seconds."""

    client: ApiClient
    pid: int
    window: str = CALM
    sizes: list[ProcessSize] = field(default_factory=list)
    done: list[dict[str, Any]] = field(default_factory=list)

    def run(self, steps: list[Step], seconds: float) -> None:
        """Returns after ``seconds``, or when the last step is over."""
        began = swept = time.monotonic()
        left = list(steps)
        self.measure(0.0)
        while left or time.monotonic() - began < seconds:
            if left and time.monotonic() - began >= left[0].at_s:
                self._carry_out(left.pop(0), began)
            if time.monotonic() - swept >= SWEEP_S:
                swept = time.monotonic()
                self.measure(swept - began)
                self.sweep()
            time.sleep(LOOK_S)

    def sweep(self) -> None:
        self.client.expect(200, "POST", "/__test/run", {"worker": "sweep"})
        self.client.expect(200, "POST", "/__test/calls/reset", {})

    def measure(self, at_s: float) -> ProcessSize:
        self.sizes.append(process_size(self.pid, at_s))
        return self.sizes[-1]

    def drain(self) -> dict[str, Any]:
        """Until stream and queues are empty. What is left when that takes too long is in the answer."""
        end = time.monotonic() + DRAINED_WITHIN_S
        while True:
            left: dict[str, Any] = self.client.expect(200, "POST", "/__test/drain", {"timeout_s": DRAIN_SLICE_S})
            if left["done"] or time.monotonic() > end:
                return left

    def advance(self, seconds: float) -> None:
        self.client.expect(200, "POST", "/__test/clock", {"advance_s": seconds})

    def _carry_out(self, step: Step, began: float) -> None:
        start, self.window = time.monotonic(), step.name
        if step.restart is not None:
            self.client.expect(200, "POST", "/__test/restart", {"server": step.restart, "kill": step.kill})
        else:
            self.client.expect(200, "POST", "/__test/faults", list(step.faults))
            time.sleep(step.lasts_s)
            self.client.expect(200, "POST", "/__test/faults", [])
        self.window = CALM
        self.done.append({"step": step.name, "from_s": round(start - began, 1), "to_s": _seconds_since(began)})
        print(f"  {self.done[-1]['from_s']:6.1f} s  {step.name}", flush=True)


def _seconds_since(began: float) -> float:
    return round(time.monotonic() - began, 1)
