"""Every ten minutes: finish what a crash or an outage left behind."""

from __future__ import annotations

from typing import Any

from neve import observability, wiring
from neve.usecases.background.sweep_due import sweep_due
from neve.usecases.indexing.requeue import backlog_age_s

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, int]:  # noqa: ARG001
    ports = wiring.ports()
    done = sweep_due(ports)
    observability.measured("sweep", {"LastSuccess": 1, "EmbeddingBacklogAgeSeconds": backlog_age_s(ports)})
    return done
