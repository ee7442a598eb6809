"""What a pass is shown of existing memory, so that it repeats nothing: at most 50 rows and the policy's cap, local
rows at least half of it, global rows of the frozen pack the rest (docs/rules/observe.md#prior-memories)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from neve.domain.records import LiveRow, Memory, PackEntry, SessionMarker
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
    entries: Sequence[PackEntry] = ()
    if epoch.pack:
        manifest = table.get(keys.pack(epoch.pack.pack_version))
        entries = rows.read_manifest(manifest).layers["global"] if manifest else ()
    shown_global = _fit(partial(active_memories, table, keys, gen=gen), entries, cap // 2, MAX_ROWS // 2)
    room = cap - sum(memory.tokens for memory in shown_global)
    newest = tuple(reversed(marker.live))
    shown_local = _fit(partial(active_memories, table, keys, gen=gen), newest, room, MAX_ROWS - len(shown_global))
    return [PriorMemory(m.id, m.text, local=False) for m in shown_global] + [
        PriorMemory(m.id, m.text, local=True) for m in reversed(shown_local)
    ]


def _fit(
    read: Callable[[Sequence[str]], list[Memory]], listed: Sequence[PackEntry | LiveRow], budget: int, most: int
) -> list[Memory]:
    """The first ``most`` that fit, among as many again: those that are listed and not active any more leave room for
    others. What cannot fit is not read."""
    kept: list[Memory] = []
    left = [row for row in listed[:MAX_ROWS] if row.tokens <= budget]
    while left and len(kept) < most:
        part, left = left[: most - len(kept)], left[most - len(kept) :]
        for memory in read([row.id for row in part]):
            if memory.tokens <= budget:
                kept.append(memory)
                budget -= memory.tokens
        left = [row for row in left if row.tokens <= budget]
    return kept
