"""E9 ``memories/used``: the caller says which memories its answer cited. Only a citation moves ``last_used_at``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.memories.visibility import active
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store import rows
from neve.store.transact import transact


@dataclass(frozen=True, slots=True)
class Marked:
    """The outcome of a call. ``unknown``: ids that name no active memory of this user; they are ignored."""

    used: list[str]
    unknown: list[str]


def mark_used(scope: UserScope, ids: Sequence[str]) -> Marked:
    """Mark at most 50 memories as used; duplicates count once. Raises erasing, user_closed, conflict."""
    wanted = list(dict.fromkeys(ids))
    return transact(scope.ports, lambda: _mark_once(scope, wanted))


def _mark_once(scope: UserScope, wanted: Sequence[str]) -> Marked:
    keys, now = scope.keys, scope.ports.clock.now()
    found = scope.ports.table.get_many([keys.head, *(keys.memory(i) for i in wanted)])
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    memories = [rows.read_memory(found[key]) for key in (keys.memory(i) for i in wanted) if key in found]
    cited = [memory for memory in memories if active(memory, head.gen, iso(now))]
    used = [memory.id for memory in cited]
    if cited:
        bumps = [rows.put_memory(keys, replace(memory, last_used_at=iso(now))) for memory in cited]
        scope.ports.table.write([rows.guard_user(keys, head, now), *bumps])
    return Marked(used, [i for i in wanted if i not in used])
