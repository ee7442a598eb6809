"""E12: the recall ledger, newest first."""

from __future__ import annotations

from neve.domain.errors import not_found
from neve.store import rows
from neve.usecases.recall.record_recall import RecallRecord, read_record
from neve.wiring import Ports, Tenant


def list_recalls(
    ports: Ports, tenant: Tenant, user: str, limit: int, cursor: str | None
) -> tuple[list[RecallRecord], str | None]:
    """Rows whose 90 days are over are left out, so a page may hold fewer than ``limit``. Raises BadCursor,
    StoreUnavailable."""
    page = ports.table.query(tenant.keys.ledger(user), prefix="RCL#", reverse=True, limit=limit, cursor=cursor)
    now = ports.clock.now()
    return [read_record(item) for item in page.items if rows.live(item, now)], page.cursor


def get_recall(ports: Ports, tenant: Tenant, user: str, recall_id: str) -> RecallRecord:
    """Raises recall_not_found, StoreUnavailable."""
    item = rows.live(ports.table.get(tenant.keys.recall(user, recall_id)), ports.clock.now())
    if item is None:
        raise not_found("recall", recall_id)
    return read_record(item)
