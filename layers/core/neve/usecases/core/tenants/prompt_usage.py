"""E16: what prompts have cost by user, tenant and day, as it was reported (E18)."""

from __future__ import annotations

from datetime import datetime, timedelta

from neve.domain.tenants.prompt_cache import PromptTotals
from neve.domain.times import iso
from neve.ports.table import Index, Table
from neve.scope import TenantScope, UserScope
from neve.store.partitions import all_rows, named_rows
from neve.store.tenants.prompt_usage import read_totals
from neve.usecases.core.tenants.within_time import WithinTime

PAGE = 500
ByDay = dict[str, PromptTotals]


def user_days(scope: UserScope, days: int) -> ByDay:
    """Read the totals of the last days, today included, those with reports, oldest first. Raises StoreUnavailable."""
    wanted = _last_days(scope.ports.clock.now(), days)
    if not wanted:
        return {}
    bounds = scope.keys.prompts_between(wanted[0], wanted[-1])
    found = {
        scope.keys.day_of(item["sk"]): read_totals(item)
        for item in all_rows(scope.ports.table, scope.keys.partition, between=bounds)
    }
    return {day: found[day] for day in wanted if day in found}


def tenant_prompts(scope: TenantScope, within: WithinTime) -> PromptTotals:
    """Sum the totals of all users from their rows; the index may be a moment behind. Raises StoreUnavailable."""
    return _sum(scope.ports.table, scope.keys.prompts, within)


def tenant_days(scope: TenantScope, days: int, within: WithinTime) -> ByDay:
    """Sum the last days of all users, like ``user_days``; the newest days are read first. Raises StoreUnavailable."""
    wanted = _last_days(scope.ports.clock.now(), days)
    sums = {day: _sum(scope.ports.table, scope.keys.prompts_of(day), within) for day in reversed(wanted)}
    return {day: sums[day] for day in wanted if sums[day].reports}


def _last_days(now: datetime, days: int) -> list[str]:
    """Give the last days in UTC, oldest first."""
    return [iso(now - timedelta(days=ago))[:10] for ago in reversed(range(days))]


def _sum(table: Table, partition: str, within: WithinTime) -> PromptTotals:
    total = PromptTotals()
    for item in within.rows(named_rows(table, partition, Index.DUE, page=PAGE)):
        total = total.plus(read_totals(item))
    return total
