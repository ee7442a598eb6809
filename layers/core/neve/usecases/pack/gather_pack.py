"""What a pack is made of: the rows of each layer as one generation sees them.

The global layer walks the rank index, whose sort key is the rank itself, so this costs O(budget) however many memories
the user has. Token counts are in the index; only the rows that fit are read whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from neve.domain.errors import not_found
from neve.domain.memories.visibility import status_at, visible
from neve.domain.pack.fit import candidate_limit, greedy_fit
from neve.domain.pack.render import PackLayers, render
from neve.domain.records import Kind, Memory, PackEntry, SessionEpoch, SessionMarker, Status, UserHead
from neve.domain.times import iso
from neve.ports import Index, Item
from neve.store import rows
from neve.wiring import Ports, Tenant

ATTEMPTS = 8
"""How often a gathering starts again because ``gen`` moved under it. One user has one replacement at a time, so more
than one repetition is already rare."""


@dataclass(frozen=True, slots=True)
class PackInputs:
    """The rows of the layers in rendered order, with the session rows they were read beside."""

    head: UserHead
    epoch: SessionEpoch | None
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

    def sha(self) -> str:
        """Names the inputs: two builds of the same rows in the same epoch are the same build."""
        named = [[layer, [[e.id, e.rev] for e in entries]] for layer, entries in sorted(self.layers().items())]
        epoch = self.epoch.epoch if self.epoch else None
        return hashlib.sha256(json.dumps([epoch, named]).encode()).hexdigest()


def _entry(memory: Memory) -> PackEntry:
    return PackEntry(memory.id, memory.rev, memory.fingerprint, memory.tokens, memory.kind)


def gather_pack(ports: Ports, tenant: Tenant, user: str, session: str | None) -> PackInputs:
    """The layers of one session, or without a session those of the user (global layer only). Raises session_not_found,
    StoreUnavailable."""
    for _ in range(ATTEMPTS):
        inputs = _gather_once(ports, tenant, user, session)
        if rows.read_head(ports.table.get(tenant.keys.head(user))).gen == inputs.head.gen:
            return inputs
    return inputs


def _gather_once(ports: Ports, tenant: Tenant, user: str, session: str | None) -> PackInputs:
    keys = tenant.keys
    wanted = [keys.head(user)]
    if session is not None:
        wanted += [keys.marker(user, session), keys.epoch(user, session)]
    found = ports.table.get_many(wanted)
    head = rows.read_head(found.get(keys.head(user)))
    marker = epoch = None
    if session is not None:
        if keys.marker(user, session) not in found or keys.epoch(user, session) not in found:
            raise not_found("session", session)
        marker = rows.read_marker(found[keys.marker(user, session)])
        epoch = rows.read_epoch(found[keys.epoch(user, session)])
    global_rows = _global_layer(ports, tenant, user, session, head)
    local_rows = _local_layer(ports, tenant, user, marker, head.gen) if marker else ()
    return PackInputs(head, epoch, global_rows, local_rows)


# --- global -------------------------------------------------------------------------------------


def _global_layer(ports: Ports, tenant: Tenant, user: str, session: str | None, head: UserHead) -> tuple[Memory, ...]:
    """In rank order, greedily: a row that does not fit is skipped and the walk goes on. The index may lag behind the
    rows, so a kept row that turns out invisible is left out and the fit is made again without it."""
    budget = tenant.policy.global_layer
    candidates = _candidates(ports, tenant, user, session, head, candidate_limit(budget))
    while True:
        kept = [candidates[i] for i in greedy_fit([int(c["tokens"]) for c in candidates], budget)]
        read = _read_memories(ports, tenant, user, [str(c["id"]) for c in kept])
        good = {m.id for m in read if _in_global(m, session, head.gen)}
        if len(good) == len(kept):
            return tuple(read)
        lost = {str(c["id"]) for c in kept} - good
        candidates = [c for c in candidates if str(c["id"]) not in lost]


def _candidates(ports: Ports, tenant: Tenant, user: str, session: str | None, head: UserHead, limit: int) -> list[Item]:
    """The first ``limit`` rows of the rank order that belong in this layer. Rows of the last replacement are read by
    id as well, because the index may not have them yet."""
    found: dict[str, Item] = {}
    cursor = None
    while len(found) < limit:
        page = ports.table.query(tenant.keys.user(user), index=Index.RANK, limit=limit, cursor=cursor)
        for item in page.items:
            if _eligible(item, session, head.gen):
                found[str(item["id"])] = item
        cursor = page.cursor
        if cursor is None:
            break
    if head.replaced_new and (head.replaced_until is None or head.replaced_until > iso(ports.clock.now())):
        late = ports.table.get_many([tenant.keys.memory(user, i) for i in head.replaced_new])
        found |= {str(i["id"]): i for i in late.values() if "rank_sk" in i and _eligible(i, session, head.gen)}
    return sorted(found.values(), key=lambda item: str(item["rank_sk"]))[:limit]


def _eligible(item: Item, session: str | None, gen: int) -> bool:
    own = item["scope"] == "session" and session is not None and item.get("session_id") == session
    return not own and visible(int(item["born_gen"]), item.get("died_gen"), gen)


def _in_global(memory: Memory, session: str | None, gen: int) -> bool:
    own = memory.scope == "session" and session is not None and memory.session_id == session
    return not own and _shown(memory, gen)


def _shown(memory: Memory, gen: int) -> bool:
    return visible(memory.born_gen, memory.died_gen, gen) and status_at(memory, gen) is Status.ACTIVE


# --- local --------------------------------------------------------------------------------------

_CHRONICLE = (Kind.OBSERVATION, Kind.REFLECTION)


def _local_layer(ports: Ports, tenant: Tenant, user: str, marker: SessionMarker, gen: int) -> tuple[Memory, ...]:
    """Observations and reflections in the order of the conversation, whole; then note, manual and fact rows, newest
    first, as far as they fit their budget."""
    read = _read_memories(ports, tenant, user, [row.id for row in marker.live])
    shown = [memory for memory in read if _shown(memory, gen)]
    chronicle = [memory for memory in shown if memory.kind in _CHRONICLE]
    others = [memory for memory in reversed(shown) if memory.kind not in _CHRONICLE]
    fitting = greedy_fit([memory.tokens for memory in others], tenant.policy.local_rows)
    return tuple(chronicle) + tuple(others[i] for i in fitting)


def _read_memories(ports: Ports, tenant: Tenant, user: str, ids: Iterable[str]) -> list[Memory]:
    """In the order asked for; ids without a row are left out."""
    keys = [tenant.keys.memory(user, i) for i in ids]
    found = ports.table.get_many(keys) if keys else {}
    return [rows.read_memory(found[key]) for key in keys if key in found]
