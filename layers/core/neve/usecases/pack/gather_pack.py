"""What a pack is made of: the rows of each layer as one generation sees them.

The global layer walks the rank index, whose sort key is the rank itself, so this costs O(budget) however many memories
the user has. Token counts are in the index; only the rows that fit are read whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from neve.domain.errors import not_found
from neve.domain.memories.visibility import active, visible
from neve.domain.pack.fit import candidate_limit, greedy_fit
from neve.domain.pack.render import PackLayers, render
from neve.domain.records import Kind, Memory, PackEntry, SessionEpoch, SessionMarker, UserHead
from neve.domain.times import iso
from neve.domain.tokens import estimate
from neve.ports import Index, Item
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.memories import active_memories, memories_of
from neve.store.partitions import all_rows

T = TypeVar("T")

ATTEMPTS = 8
"""How often a gathering starts again because ``gen`` moved under it. One user has one replacement at a time, so more
than one repetition is already rare."""


@dataclass(frozen=True, slots=True)
class PackInputs:
    """The rows of the layers in rendered order."""

    global_rows: tuple[Memory, ...]
    local_rows: tuple[Memory, ...]

    def text(self) -> str:
        return render(
            PackLayers(
                global_=[(memory.text, memory.kind) for memory in self.global_rows],
                local=[(memory.text, memory.kind) for memory in self.local_rows],
            )
        )

    def layers(self) -> dict[str, tuple[PackEntry, ...]]:
        return {
            "always": (),
            "profile": (),
            "global": tuple(_entry(m) for m in self.global_rows),
            "local": tuple(_entry(m) for m in self.local_rows),
        }

    def tokens(self, text: str) -> int:
        """Of the rendered text. A row counts as it was counted when it was written, by the policy's counter, whose data
        are not where packs are read; what stands around the rows counts by the estimate (docs/rules/tokens.md)."""
        rows_ = (*self.global_rows, *self.local_rows)
        return max(0, estimate(text) + sum(memory.tokens - estimate(memory.text) for memory in rows_))

    def sha(self, epoch: int) -> str:
        """Names the inputs: two builds of the same rows in the same epoch are the same build."""
        named = [[layer, [[e.id, e.rev] for e in entries]] for layer, entries in sorted(self.layers().items())]
        return hashlib.sha256(json.dumps([epoch, named]).encode()).hexdigest()


def _entry(memory: Memory) -> PackEntry:
    return PackEntry(memory.id, memory.rev, memory.fingerprint, memory.tokens, memory.kind)


def gather_pack(scope: SessionScope) -> tuple[PackInputs, SessionEpoch]:
    """The layers of a session, and its epoch row as it was read with them. Raises session_not_found,
    StoreUnavailable."""

    def gather() -> tuple[UserHead, tuple[PackInputs, SessionEpoch]]:
        keys = scope.keys
        found = scope.ports.table.get_many([keys.head, keys.marker, keys.epoch])
        if keys.marker not in found or keys.epoch not in found:
            raise not_found("session", scope.session)
        head, marker = rows.read_head(found.get(keys.head)), rows.read_marker(found[keys.marker])
        global_rows = _global_layer(scope, scope.session, head)
        local_rows = _local_layer(scope, marker, head.gen)
        return head, (PackInputs(global_rows, local_rows), rows.read_epoch(found[keys.epoch]))

    return _of_one_generation(scope, gather)


def gather_preview(scope: UserScope) -> PackInputs:
    """The layers of a user without a session: the global one. Raises StoreUnavailable."""

    def gather() -> tuple[UserHead, PackInputs]:
        head = rows.read_head(scope.ports.table.get(scope.keys.head))
        return head, PackInputs(_global_layer(scope, None, head), ())

    return _of_one_generation(scope, gather)


def _of_one_generation(scope: UserScope, gather: Callable[[], tuple[UserHead, T]]) -> T:
    """Again while ``gen`` moved under the reading. ``gather`` returns the head that it read first."""
    for _ in range(ATTEMPTS):
        head, gathered = gather()
        if rows.read_head(scope.ports.table.get(scope.keys.head)).gen == head.gen:
            break
    return gathered


# --- global -------------------------------------------------------------------------------------


def _global_layer(scope: UserScope, session: str | None, head: UserHead) -> tuple[Memory, ...]:
    """In rank order, greedily: a row that does not fit is skipped and the walk goes on. The index may lag behind the
    rows, so a kept row that turns out invisible is left out and the fit is made again without it."""
    budget = scope.policy.global_layer
    candidates = _candidates(scope, session, head, candidate_limit(budget))
    while True:
        kept = [candidates[i] for i in greedy_fit([int(c["tokens"]) for c in candidates], budget)]
        read = memories_of(scope.ports.table, scope.keys, [str(c["id"]) for c in kept])
        good = {m.id for m in read if _in_global(m, session, head.gen)}
        if len(good) == len(kept):
            return tuple(read)
        lost = {str(c["id"]) for c in kept} - good
        candidates = [c for c in candidates if str(c["id"]) not in lost]


def _candidates(scope: UserScope, session: str | None, head: UserHead, limit: int) -> list[Item]:
    """The first ``limit`` rows of the rank order that belong in this layer. Rows of the last replacement are read by
    id as well, because the index may not have them yet."""
    found: dict[str, Item] = {}
    for item in all_rows(scope.ports.table, scope.keys.partition, index=Index.RANK, page=limit):
        if _eligible(item, session, head.gen):
            found[str(item["id"])] = item
        if len(found) == limit:
            break
    if head.replaced_new and (head.replaced_until is None or head.replaced_until > iso(scope.ports.clock.now())):
        late = scope.ports.table.get_many([scope.keys.memory(i) for i in head.replaced_new])
        found |= {str(i["id"]): i for i in late.values() if "rank_sk" in i and _eligible(i, session, head.gen)}
    return sorted(found.values(), key=lambda item: str(item["rank_sk"]))[:limit]


def _eligible(item: Item, session: str | None, gen: int) -> bool:
    own = item["scope"] == "session" and session is not None and item.get("session_id") == session
    return not own and visible(int(item["born_gen"]), item.get("died_gen"), gen)


def _in_global(memory: Memory, session: str | None, gen: int) -> bool:
    own = memory.scope == "session" and session is not None and memory.session_id == session
    return not own and active(memory, gen)


# --- local --------------------------------------------------------------------------------------

_CHRONICLE = (Kind.OBSERVATION, Kind.REFLECTION)


def _local_layer(scope: UserScope, marker: SessionMarker, gen: int) -> tuple[Memory, ...]:
    """Observations and reflections in the order of the conversation, whole; then note, manual and fact rows, newest
    first, as far as they fit their budget."""
    shown = active_memories(scope.ports.table, scope.keys, [row.id for row in marker.live], gen)
    chronicle = [memory for memory in shown if memory.kind in _CHRONICLE]
    others = [memory for memory in reversed(shown) if memory.kind not in _CHRONICLE]
    fitting = greedy_fit([memory.tokens for memory in others], scope.policy.local_rows)
    return tuple(chronicle) + tuple(others[i] for i in fitting)
