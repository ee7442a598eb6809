"""Every ten minutes: pick up what a crash or an outage left behind (engine.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

from neve.domain.tenants.policy import Policy
from neve.ports import Conflict, Index, Item, Key, StoreUnavailable
from neve.store import rows
from neve.store.keys import DUE_SHARDS, Keys, due_partition
from neve.usecases.indexing.requeue import requeue_pending
from neve.usecases.pack.build_pack import build_pack
from neve.usecases.reflect.replace_rows import ReplacementBusy, resolve_replacement
from neve.wiring import Ports, Tenant

PENDING_FOR = timedelta(minutes=10)
"""An embedding still pending after this long has lost its message (engine.md §5)."""
PAGE = 100


def sweep_due(ports: Ports, policy_of: Callable[[str], Policy]) -> dict[str, int]:
    """Counts by kind of work: packs rebuilt, replacements resolved, embeddings queued again, and failures, which stay
    due and are tried again by the next sweep."""
    done = {"rebuilt": 0, "replacements": 0, "failed": 0}
    for item in _due(ports, "rebuild"):
        _count(done, "rebuilt", lambda item=item: _rebuild(ports, policy_of, item))  # type: ignore[misc]
    for item in _due(ports, "replace"):
        _count(done, "replacements", lambda item=item: _resolve(ports, policy_of, item))  # type: ignore[misc]
    done["embeddings"] = requeue_pending(ports, older_than=ports.clock.now() - PENDING_FOR)
    return done


def _count(done: dict[str, int], kind: str, work: Callable[[], None]) -> None:
    try:
        work()
    except (StoreUnavailable, Conflict, ReplacementBusy):
        done["failed"] += 1
    else:
        done[kind] += 1


def _due(ports: Ports, kind: str) -> Iterator[Item]:
    for shard in range(DUE_SHARDS):
        cursor = None
        while True:
            page = ports.table.query(due_partition(kind, shard), index=Index.DUE, limit=PAGE, cursor=cursor)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                break


def _tenant(policy_of: Callable[[str], Policy], item: Item) -> Tenant:
    return Tenant(item["tenant_id"], policy_of(item["tenant_id"]))


def _rebuild(ports: Ports, policy_of: Callable[[str], Policy], item: dict[str, Any]) -> None:
    """The index lags: the row itself says whether a rebuild is still due."""
    row = ports.table.get(Key(item["pk"], item["sk"]))
    epoch = rows.read_epoch(row) if row else None
    if epoch and epoch.rebuild_due:
        build_pack(ports, _tenant(policy_of, item), item["user_id"], epoch.session_id, epoch.rebuild_due)


def _resolve(ports: Ports, policy_of: Callable[[str], Policy], item: dict[str, Any]) -> None:
    row = ports.table.get(Key(item["pk"], item["sk"]))
    job = rows.read_job(row) if row else None
    if job is None or job.status != "running" or job.user_id is None:
        return
    tenant = _tenant(policy_of, item)
    head = rows.read_head(ports.table.get(Keys(tenant.id).head(job.user_id)))
    if head.replacement_job == job.id:
        resolve_replacement(ports, tenant, job.user_id, head)
