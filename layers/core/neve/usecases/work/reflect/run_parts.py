"""Counts what came of the users of a tenant's run: counters in a few rows, each moved in the transaction that ends a
user's job. So they count every user once, and workers that end at the same moment rarely meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from neve.ports.table import Expect, Item, Key, Put, Version
from neve.scope import TenantScope
from neve.store.keys import DUE_SHARDS, UserKeys, due_shard
from neve.store.rows import JOB_DAYS

COUNTS = (
    *("batches", "replaced", "written", "kept", "refused", "changed"),
    *("reflection_left_out", "reflection_cut", "reflection_over_target"),
)
"""The counters in the result of a user's job: batches that were asked about; rows that were replaced; rows that replace
them; rows whose batch came to nothing, and of those the ones that the model would not read, and the ones of a batch of
which a person changed a row meanwhile; rows of answers for which there was no room as a whole, and of those the ones of
which a part is kept; tokens above the target, of lines that stay."""


def part_row(keys: UserKeys, run: str | None) -> list[Key]:
    """Return the key of the row in which a user is counted; none without a run."""
    return [] if run is None else [keys.job_part(run, due_shard(keys))]


def part_put(key: Key, current: Item | None, result: Mapping[str, Any], now: datetime, *, failed: bool) -> Put:
    """Count one user more."""
    before = current or {}
    counted = {name: int(before.get(name, 0)) + int(result.get(name, 0)) for name in COUNTS}
    counted["users"] = int(before.get("users", 0)) + 1
    counted["failed"] = int(before.get("failed", 0)) + failed
    item: Item = {**before, "pk": key.pk, "sk": key.sk, "type": "job_part", **counted}
    item.setdefault("expires_at", int((now + timedelta(days=JOB_DAYS)).timestamp()))
    return Put(item, Version(int(before["version"])) if before else Expect.ABSENT)


def sum_of_parts(scope: TenantScope, run: str) -> Counter[str]:
    """Sum the ``users`` that ended, ``failed`` ones among them, and what was done. Raises StoreUnavailable."""
    found = scope.ports.table.get_many([scope.keys.job_part(run, number) for number in range(DUE_SHARDS)])
    total: Counter[str] = Counter()
    for item in found.values():
        total.update({name: int(item.get(name, 0)) for name in ("users", "failed", *COUNTS)})
    return total
