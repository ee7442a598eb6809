"""E16: what a tenant's memory has cost in model calls and embeddings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from neve.ports import Index, Item, key_of
from neve.scope import TenantScope

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
    """``users``: how many have cost anything."""

    users: int
    usage: Usage


def usage_of(item: Item | None) -> Usage:
    """The counters of one user's usage row."""
    return Usage(**{f.name: int((item or {}).get(f.name, 0)) for f in fields(Usage)})


def tenant_usage(scope: TenantScope) -> TenantUsage:
    """Summed from the users' rows, in pages of ``PAGE``; the index may be a moment behind. Raises StoreUnavailable."""
    users, total = 0, dict.fromkeys((f.name for f in fields(Usage)), 0)
    cursor: str | None = None
    while True:
        listed = scope.ports.table.query(scope.keys.usages, index=Index.DUE, limit=PAGE, cursor=cursor)
        for item in scope.ports.table.get_many([key_of(item) for item in listed.items]).values():
            users += 1
            for name, n in asdict(usage_of(item)).items():
                total[name] += n
        cursor = listed.cursor
        if cursor is None:
            break
    return TenantUsage(users, Usage(**total))
