"""The planner: every hour, begin the night of each tenant whose 03:00 has come (docs/rules/reflect.md#planner).

A night has one job, whose id follows from tenant and night: of two planners one makes it, and who comes later finds
it. What is behind is told, too: an alarm watches it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.domain.reflect.nightly import last_night, old_enough
from neve.domain.times import parse
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.table import Item, Key
from neve.scope import Tenant, TenantScope
from neve.store import rows
from neve.store.keys import NOBODY, TENANTS, Keys
from neve.store.partitions import all_rows
from neve.store.tenants.tenant_rows import TenantRow, read_tenant
from neve.usecases.work.reflect.run import as_it_stands, new_night, night_run_id

TENANT_BATCH_SIZE = 50
"""Tenants whose two nights are read at once."""
A_MOMENT = timedelta(seconds=1)


@dataclass(slots=True)
class Planned:
    """The outcome of a round. ``unfinished_s``: how long ago the oldest night began of those that are not done yet, of
    any tenant; 0 when all are."""

    tenants: int = 0
    begun: int = 0
    unfinished_s: float = 0.0

    def metrics(self) -> dict[str, float]:
        return {
            "ScheduledRunsSucceeded": 1,
            "NightlyReflectionsStarted": self.begun,
            "NightlyReflectionAgeSeconds": self.unfinished_s,
        }


def plan_nights(ports: Ports) -> Planned:
    """Begin the nights that are due, and look after those under way. May be repeated at any time. Raises
    StoreUnavailable, in which case the next hour goes on."""
    now, planned = ports.clock.now(), Planned()
    tenants = (read_tenant(item) for item in all_rows(ports.table, TENANTS))
    while some := list(islice(tenants, TENANT_BATCH_SIZE)):
        nights = [_Night.of(tenant, now) for tenant in some]
        found = ports.table.get_many([key for night in nights for key in night.rows()])
        for night in nights:
            planned.tenants += 1
            _plan(ports, night, found, now, planned)
    return planned


@dataclass(frozen=True, slots=True)
class _Night:
    """The last night of a tenant, and the one before."""

    tenant: TenantRow
    began: datetime
    before: datetime

    @classmethod
    def of(cls, tenant: TenantRow, now: datetime) -> _Night:
        began = last_night(now, tenant.policy.timezone)
        return cls(tenant, began, last_night(began - A_MOMENT, tenant.policy.timezone))

    @property
    def keys(self) -> Keys:
        return Keys(self.tenant.id)

    def rows(self) -> list[Key]:
        return [self.keys.job(night_run_id(self.keys, night)) for night in (self.began, self.before)]

    def jobs(self, found: Mapping[Key, Item]) -> list[Job | None]:
        return [rows.read_job(found[key]) if key in found else None for key in self.rows()]

    def of_the_tenant(self) -> Iterator[datetime]:
        """Yield the nights that began since the tenant was made."""
        made = parse(self.tenant.created_at)
        return (night for night in (self.began, self.before) if night > made)


def _plan(ports: Ports, night: _Night, found: Mapping[Key, Item], now: datetime, planned: Planned) -> None:
    scope = TenantScope(ports, Tenant(night.tenant.id, night.tenant.policy))
    jobs = dict(zip((night.began, night.before), night.jobs(found), strict=True))
    nights = list(night.of_the_tenant())
    if night.began in nights and jobs[night.began] is None:
        planned.begun += _begin(scope, night.began, now)
    for began in nights:
        job = jobs[began]
        if job is not None and as_it_stands(scope, job).status == "done":
            return
        planned.unfinished_s = max(planned.unfinished_s, (now - began).total_seconds())


def _begin(scope: TenantScope, night: datetime, now: datetime) -> bool:
    """Begin a night, and say whether it was this planner that did."""
    keys, until = scope.keys.of_user(NOBODY), old_enough(now, scope.policy.reflection_min_age_days)
    job = new_night(keys, night_run_id(keys, night), now, until, regardless=False)
    try:
        scope.ports.table.write([rows.put_queued_job(keys, job, UserHead().incarnation)])
    except Conflict:
        return False
    return True
