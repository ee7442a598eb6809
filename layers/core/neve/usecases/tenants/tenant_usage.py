"""E16: what a tenant's memory has cost in model calls and embeddings, and what was reported of its prompts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields

from neve.domain.tenants.prompt_cache import PromptTotals
from neve.ports.table import Index, Item
from neve.scope import TenantScope
from neve.store.partitions import named_rows
from neve.usecases.tenants.prompt_usage import ByDay, tenant_days, tenant_prompts

PAGE = 500


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals since the beginning. ``embedded_texts`` were paid for, ``reused_vectors`` were not (identical text).
    ``encoded_texts``: token by token."""

    embedded_texts: int = 0
    reused_vectors: int = 0
    encoded_texts: int = 0
    model_calls: int = 0
    model_input_tokens: int = 0
    model_output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class TenantUsage:
    """``users``: how many have cost anything. ``days``: of the last ones those with reports."""

    users: int
    usage: Usage
    prompts: PromptTotals = field(default_factory=PromptTotals)
    days: ByDay = field(default_factory=dict)


def usage_of(item: Item | None) -> Usage:
    """The counters of one user's usage row."""
    return Usage(**{f.name: int((item or {}).get(f.name, 0)) for f in fields(Usage)})


def tenant_usage(scope: TenantScope, days: int = 0) -> TenantUsage:
    """Summed from the users' rows, in pages of ``PAGE``; the index may be a moment behind. Raises StoreUnavailable."""
    users, total = 0, dict.fromkeys((f.name for f in fields(Usage)), 0)
    for item in named_rows(scope.ports.table, scope.keys.usages, Index.DUE, page=PAGE):
        users += 1
        for name, n in asdict(usage_of(item)).items():
            total[name] += n
    return TenantUsage(users, Usage(**total), tenant_prompts(scope), tenant_days(scope, days))
