"""Notes that a worker ran out of its time and was cut off: health says so (docs/rules/degradation.md#workers)."""

from __future__ import annotations

from contextlib import suppress

from neve.ports.engines import Ports
from neve.ports.errors import Conflict, StoreUnavailable
from neve.store.tenants.leg_health import WORKERS, put_leg_trouble


def note_cut_off(ports: Ports, function: str) -> None:
    """Note that a worker was cut off. Best effort where it is about the row, which other processes read."""
    reason = f"a worker of {function} ran out of its time: what it had taken up waits for its message to come again"
    if ports.caches.troubles.note(WORKERS, "failing", reason):
        with suppress(StoreUnavailable, Conflict):
            ports.table.write([put_leg_trouble(WORKERS, reason, ports.clock.now())])
