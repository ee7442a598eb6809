"""E16: what a tenant's memory has cost in model calls and embeddings, and what was reported of its prompts."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields

from neve.domain.tenants.prompt_cache import PromptTotals
from neve.ports.table import Index, Item
from neve.scope import TenantScope
from neve.store.partitions import named_rows
from neve.usecases.core.tenants.prompt_usage import ByDay, tenant_days, tenant_prompts
from neve.usecases.core.tenants.within_time import WithinTime

PAGE = 500
TIME_LIMIT_MS = 15_000
"""*Chosen*: half of what API Gateway lets a call take. Some 10,000 rows are read in it (docs/limits.md)."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals since the beginning. ``embedded_texts`` were paid for, ``reused_vectors`` were not (identical text).
    ``model_input_tokens`` holds what was read from the provider's cache, and written to it; both sums hold what batches
    read and wrote."""

    embedded_texts: int = 0
    reused_vectors: int = 0
    model_calls: int = 0
    model_input_tokens: int = 0
    model_cache_read_tokens: int = 0
    model_cache_write_tokens: int = 0
    model_output_tokens: int = 0
    model_batch_input_tokens: int = 0
    model_batch_output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TenantUsage:
    """The usage of a tenant. ``users``: how many have cost anything. ``days``: of the last ones those with reports.
    ``complete`` False: there was no time to add up more."""

    users: int
    usage: Usage
    prompts: PromptTotals = field(default_factory=PromptTotals)
    days: ByDay = field(default_factory=dict)
    complete: bool = True


def usage_of(item: Item | None) -> Usage:
    """Read the counters of one user's usage row."""
    return Usage(**{f.name: int((item or {}).get(f.name, 0)) for f in fields(Usage)})


def tenant_usage(scope: TenantScope, days: int = 0, ends_ms: float = math.inf) -> TenantUsage:
    """Sum the users' rows, in pages of ``PAGE``, until ``ends_ms``; the index may be a moment behind. Raises
    StoreUnavailable."""
    within = WithinTime(scope.ports.clock, ends_ms)
    users, total = 0, dict.fromkeys((f.name for f in fields(Usage)), 0)
    for item in within.rows(named_rows(scope.ports.table, scope.keys.usages, Index.DUE, page=PAGE)):
        users += 1
        for name, n in asdict(usage_of(item)).items():
            total[name] += n
    prompts, by_day = tenant_prompts(scope, within), tenant_days(scope, days, within)
    return TenantUsage(users, Usage(**total), prompts, by_day, within.complete)
