"""Legs that fail again and again are said by health and once in the log; one that works again is taken back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from neve.ports.engines import Ports
from neve.ports.errors import Conflict, StoreUnavailable
from neve.store.tenants.leg_health import no_leg_trouble, put_leg_trouble
from neve.usecases.ask.recall.stages.legs import LegReport


def note_legs(ports: Ports, legs: Mapping[str, LegReport]) -> None:
    """Tell health how the legs went, with a write when that changes, and none otherwise. A leg without time is the
    caller's budget, not a failure."""
    troubles = ports.caches.troubles
    for leg, report in legs.items():
        reason = f"{leg} leg of recall: {report.why or 'error'}"
        with suppress(StoreUnavailable, Conflict):  # this process knows, and says so again in five minutes
            if report.status == "error" and not report.late and troubles.failed(leg, reason):
                ports.table.write([put_leg_trouble(leg, reason, ports.clock.now())])
            elif report.status == "complete" and troubles.worked(leg):
                ports.table.write([no_leg_trouble(leg, ports.clock.now())])
