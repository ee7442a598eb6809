"""CodeDeploy asks before it lets traffic on a new version: T0 on the new versions decides. The canary asks
the same of what has the traffic, every five minutes."""

from __future__ import annotations

import os
from typing import Any

from neve import observability, wiring
from neve.deployment import deployment
from neve.usecases.work.background.probe_versions import Probe, Versions

connect = deployment
"""A process that has no deployment puts its own here."""


LIVE = "live"
"""The alias that has the traffic (template.yaml)."""


def handler(event: dict[str, Any], _context: object) -> dict[str, bool]:
    """``event``: ``DeploymentId`` and ``LifecycleEventHookExecutionId``; without them it is the schedule's. Without a
    verdict CodeDeploy would wait for an hour, so that any failure is one. A canary that fails is one that says nothing:
    no point of ``ProbesPassed`` is what its alarm waits for."""
    connected = connect()
    deployment_id = event.get("DeploymentId")
    try:
        arns = (os.environ[f"{name}_VERSION"] for name in ("RECORDS", "INDEX", "EMBED", "RECALL"))
        ports = wiring.ports()
        versions = Versions(*(arns if deployment_id else (f"{arn.rpartition(':')[0]}:{LIVE}" for arn in arns)))
        # 24 users for all canaries: each probe takes back what it has written, and a user is a row for good.
        user = f"t0-{ports.ids.token()}" if deployment_id else f"canary-{ports.clock.now().hour}"
        Probe(versions, connected.invoke, user, ports.clock).run()
        passed = True
    except Exception as error:
        observability.failed("pre_traffic", deployment_id or LIVE, error)
        observability.logger.error(
            "pre-traffic check failed", extra={"reason": str(error), "correlation_id": deployment_id or LIVE}
        )
        passed = False
    if deployment_id:
        connected.report(event, passed=passed)
    else:
        observability.emit_metrics("pre_traffic", {"ProbesPassed": float(passed)})
    return {"passed": passed}
