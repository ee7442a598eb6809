"""E16: what is kept of one user, counted from the rows themselves.

The cost grows with what is counted: one read of the head, then every memory, session and vector row in pages of
``PAGE``. A user with 100,000 memories takes a few hundred pages, some seconds. Nothing on the chat path asks for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from neve.domain.memories.visibility import status_at, visible
from neve.domain.records.memories import Status
from neve.domain.tenants.prompt_cache import PromptTotals
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import MEMORY, SESSION
from neve.store.partitions import all_rows
from neve.store.tenants.prompt_usage import read_totals
from neve.usecases.ask.tenants.tenant_usage import Usage, usage_of
from neve.usecases.core.lag.memory_lag import MemoryLag, user_lag
from neve.usecases.core.tenants.prompt_usage import ByDay, user_days
from neve.usecases.core.tenants.within_time import WithinTime

PAGE = 500


@dataclass(frozen=True, slots=True)
class UserStats:
    """The numbers of one user. ``memories_by_*`` count every memory row that can be read by id, whatever its status, by
    the generation in force; ``active_by_tier`` the active ones. ``embeddings`` counts those rows by embedding state.
    ``vectors``: stored (text, model) pairs. ``days``: of the last ones those with reports. ``other_language``: messages
    in languages that the observer did not know. ``complete`` False: there was no time to count more."""

    sessions: int
    events: int
    memories: int
    memories_by_kind: Mapping[str, int] = field(default_factory=dict)
    memories_by_tier: Mapping[str, int] = field(default_factory=dict)
    memories_by_status: Mapping[str, int] = field(default_factory=dict)
    active_by_tier: Mapping[str, int] = field(default_factory=dict)
    embeddings: Mapping[str, int] = field(default_factory=dict)
    vectors: int = 0
    usage: Usage = field(default_factory=Usage)
    lag: MemoryLag = field(default_factory=MemoryLag)
    prompts: PromptTotals = field(default_factory=PromptTotals)
    days: ByDay = field(default_factory=dict)
    other_language: int = 0
    complete: bool = True


def user_stats(scope: UserScope, days: int = 0, ends_ms: float = math.inf) -> UserStats:
    """Count a user's rows until ``ends_ms``: sessions, then memories and vectors. All zero for a user never seen
    before. Raises StoreUnavailable."""
    table, keys, within = scope.ports.table, scope.keys, WithinTime(scope.ports.clock, ends_ms)
    found = table.get_many([keys.head, keys.usage, keys.user_prompts])
    head = rows.read_head(found.get(keys.head))
    if rows.hidden(head):
        return UserStats(sessions=0, events=0, memories=0)
    gen = head.gen
    sessions = events = other_language = 0
    for item in within.rows(all_rows(table, keys.partition, prefix=SESSION, page=PAGE)):
        if not (session := rows.read_session(item)).deleted:
            sessions, events = sessions + 1, events + session.last_seq
            other_language += session.other_language
    kinds: Counter[str] = Counter()
    tiers: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    active_tiers: Counter[str] = Counter()
    embeddings: Counter[str] = Counter()
    for item in within.rows(all_rows(table, keys.partition, prefix=MEMORY, page=PAGE)):
        memory = rows.read_memory(item)
        if not visible(memory.born_gen, None, gen):
            continue
        kinds[memory.kind] += 1
        tiers[memory.tier] += 1
        statuses[status_at(memory, gen)] += 1
        active_tiers[memory.tier] += status_at(memory, gen) is Status.ACTIVE
        embeddings[memory.embedding_state] += 1
    vectors = sum(1 for _ in within.rows(all_rows(table, keys.vectors, page=PAGE)))
    return UserStats(
        sessions=sessions,
        events=events,
        memories=kinds.total(),
        memories_by_kind=kinds,
        memories_by_tier=tiers,
        memories_by_status=statuses,
        active_by_tier=active_tiers,
        embeddings=embeddings,
        vectors=vectors,
        usage=usage_of(found.get(keys.usage)),
        lag=user_lag(scope),
        prompts=read_totals(found.get(keys.user_prompts)),
        days=user_days(scope, days),
        other_language=other_language,
        complete=within.complete,
    )
