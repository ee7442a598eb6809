"""Every ten minutes: finish what a crash or an outage left behind."""

from __future__ import annotations

from typing import Any

from neve import observability, wiring
from neve.domain.tenants.policy import Policy
from neve.http.tenancy import policies
from neve.usecases.background.sweep_due import sweep_due
from neve.usecases.indexing.requeue import backlog_age_s


def handler(event: dict[str, Any], context: Any) -> dict[str, int]:  # noqa: ARG001
    ports = wiring.ports()

    def policy_of(tenant_id: str) -> Policy:
        return policies.tenant(ports, tenant_id, without_store=False).policy

    done = sweep_due(ports, policy_of)
    observability.measured("sweep", {"LastSuccess": 1, "EmbeddingBacklogAgeSeconds": backlog_age_s(ports)})
    return done
