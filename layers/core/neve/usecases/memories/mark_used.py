"""E9 ``memories/used``: the caller says which memories its answer cited. Only a citation moves ``last_used_at``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.memories.visibility import status_at, visible
from neve.domain.records import Status
from neve.domain.times import iso
from neve.ports import Conflict
from neve.store import rows
from neve.wiring import Ports, Tenant


@dataclass(frozen=True, slots=True)
class Marked:
    """``unknown``: ids that name no active memory of this user; they are ignored."""

    used: list[str]
    unknown: list[str]


def mark_used(ports: Ports, tenant: Tenant, user: str, ids: Sequence[str]) -> Marked:
    """At most 50 ids; duplicates count once. Raises erasing, user_closed, conflict."""
    keys, wanted = tenant.keys, list(dict.fromkeys(ids))
    while True:
        now = ports.clock.now()
        found = ports.table.get_many([keys.head(user), *(keys.memory(user, i) for i in wanted)])
        head = rows.read_head(found.get(keys.head(user)))
        rows.writable(head)
        memories = [rows.read_memory(found[key]) for key in (keys.memory(user, i) for i in wanted) if key in found]
        shown = [
            m for m in memories if visible(m.born_gen, m.died_gen, head.gen) and status_at(m, head.gen) is Status.ACTIVE
        ]
        used = [memory.id for memory in shown]
        marked = Marked(used, [i for i in wanted if i not in used])
        if not shown:
            return marked
        bumps = [rows.put_memory(keys, user, replace(memory, last_used_at=iso(now))) for memory in shown]
        try:
            ports.table.write([rows.guard_user(keys, user, head, now), *bumps])
        except Conflict:
            continue
        return marked
