"""CodeDeploy asks before it lets traffic on a new version: T0 on the new versions decides."""

from __future__ import annotations

import os
from typing import Any

from neve import observability, wiring
from neve.deployment import deployment
from neve.usecases.work.background.probe_versions import Probe, Versions

connect = deployment
"""A process that has no deployment puts its own here."""


def handler(event: dict[str, Any], _context: object) -> dict[str, bool]:
    """``event``: ``DeploymentId`` and ``LifecycleEventHookExecutionId``. Without a verdict CodeDeploy would wait for an
    hour, so that any failure is one."""
    connected = connect()
    try:
        versions = Versions(*(os.environ[f"{name}_VERSION"] for name in ("RECORDS", "INDEX", "EMBED", "RECALL")))
        ports = wiring.ports()
        Probe(versions, connected.invoke, f"t0-{ports.ids.token()}", ports.clock).run()
        passed = True
    except Exception as error:
        observability.failed("pre_traffic", event["DeploymentId"], error)
        observability.logger.error(
            "pre-traffic check failed", extra={"reason": str(error), "correlation_id": event["DeploymentId"]}
        )
        passed = False
    connected.report(event, passed=passed)
    return {"passed": passed}
