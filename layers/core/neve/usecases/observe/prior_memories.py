"""What a pass is shown of existing memory, so that it repeats nothing: at most 50 rows and the policy's cap, local
rows at least half of it, global rows of the frozen pack the rest (engine.md §3)."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.memories.visibility import status_at, visible
from neve.domain.records import Memory, SessionMarker, Status
from neve.observing import PriorMemory
from neve.store import rows
from neve.wiring import Ports, Tenant

MAX_ROWS = 50


def prior_memories(ports: Ports, tenant: Tenant, user: str, marker: SessionMarker) -> list[PriorMemory]:
    """Global rows in pack order, then local ones, oldest first. Newest local rows are preferred when not all fit."""
    keys, cap = tenant.keys, tenant.policy.prior_memory_cap
    found = ports.table.get_many([keys.head(user), keys.epoch(user, marker.session_id)])
    gen = rows.read_head(found.get(keys.head(user))).gen
    epoch = rows.read_epoch(found[keys.epoch(user, marker.session_id)])
    local = _read(ports, tenant, user, [row.id for row in marker.live[-MAX_ROWS:]], gen)
    frozen: list[Memory] = []
    if epoch.pack:
        manifest = ports.table.get(keys.pack(user, marker.session_id, epoch.pack.pack_version))
        entries = rows.read_manifest(manifest).layers["global"] if manifest else ()
        frozen = _read(ports, tenant, user, [entry.id for entry in entries[:MAX_ROWS]], gen)
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


def _read(ports: Ports, tenant: Tenant, user: str, ids: Sequence[str], gen: int) -> list[Memory]:
    keys = [tenant.keys.memory(user, i) for i in ids]
    found = ports.table.get_many(keys) if keys else {}
    memories = [rows.read_memory(found[key]) for key in keys if key in found]
    return [m for m in memories if visible(m.born_gen, m.died_gen, gen) and status_at(m, gen) is Status.ACTIVE]
