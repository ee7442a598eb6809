"""Every hour: begin the night of each tenant whose 03:00 has come."""

from __future__ import annotations

from typing import Any

from neve import observability, wiring
from neve.usecases.work.reflect.plan_nights import plan_nights

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, float]:  # noqa: ARG001
    planned = plan_nights(wiring.ports()).metrics()
    observability.emit_metrics("reflect_planner", planned)
    return planned
