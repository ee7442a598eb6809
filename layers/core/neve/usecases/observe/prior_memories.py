"""What a pass is shown of existing memory, so that it repeats nothing: at most 50 rows and the policy's cap, local
rows at least half of it, global rows of the frozen pack the rest (docs/rules/observe.md#prior-memories)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.records import Memory, SessionMarker
from neve.observing import PriorMemory
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import active_memories

MAX_ROWS = 50


def prior_memories(scope: SessionScope, marker: SessionMarker) -> list[PriorMemory]:
    """Global rows in pack order, then local ones, oldest first. Newest local rows are preferred when not all fit."""
    table, keys, cap = scope.ports.table, scope.keys, scope.policy.prior_memory_cap
    found = table.get_many([keys.head, keys.epoch])
    gen = rows.read_head(found.get(keys.head)).gen
    epoch = rows.read_epoch(found[keys.epoch])
    local = active_memories(table, keys, [row.id for row in marker.live[-MAX_ROWS:]], gen)
    frozen: list[Memory] = []
    if epoch.pack:
        manifest = table.get(keys.pack(epoch.pack.pack_version))
        entries = rows.read_manifest(manifest).layers["global"] if manifest else ()
        frozen = active_memories(table, keys, [entry.id for entry in entries[:MAX_ROWS]], gen)
    shown_global = _fit(frozen, cap // 2, MAX_ROWS // 2)
    room = cap - sum(memory.tokens for memory in shown_global)
    shown_local = _fit(list(reversed(local)), room, MAX_ROWS - len(shown_global))
    return [PriorMemory(m.id, m.text, local=False) for m in shown_global] + [
        PriorMemory(m.id, m.text, local=True) for m in reversed(shown_local)
    ]


def _fit(memories: Sequence[Memory], budget: int, most: int) -> list[Memory]:
    kept: list[Memory] = []
    for memory in memories:
        if len(kept) < most and memory.tokens <= budget:
            kept.append(memory)
            budget -= memory.tokens
    return kept
