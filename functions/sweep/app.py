"""Every ten minutes: finish what a crash or an outage left behind."""

from __future__ import annotations

from typing import Any

from neve import observability, wiring
from neve.usecases.background.sweep_due import sweep_due
from neve.usecases.indexing.requeue import backlog_age_s

wiring.prepare()

SESSIONS = {
    "closed": "SessionsClosed",
    "orphans": "OrphansEnded",
    "idle_failed": "SessionsNotEnded",
    "idle_left": "SessionsLeft",
}
"""What the sweep says of sessions that nobody ended; ``idle_left``: more were due than one sweep looks at."""


def handler(event: dict[str, Any], context: Any) -> dict[str, int]:  # noqa: ARG001
    ports = wiring.ports()
    done = sweep_due(ports)
    told = {"LastSuccess": 1.0, "EmbeddingBacklogAgeSeconds": backlog_age_s(ports)}
    told |= {metric: float(done[name]) for name, metric in SESSIONS.items() if done[name]}
    observability.measured("sweep", told)
    return done
