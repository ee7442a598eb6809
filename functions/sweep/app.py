"""Every ten minutes: finish what a crash or an outage left behind."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.workers.sweep import sweep

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, int]:  # noqa: ARG001
    return sweep(wiring.ports(), context)
