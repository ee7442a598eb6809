"""The memory that a writer is about to change, with everything that may forbid it checked."""

from __future__ import annotations

from collections.abc import Collection

from neve.domain.errors import NeveError, not_found
from neve.domain.memories.visibility import born
from neve.domain.records.memories import Memory
from neve.domain.records.users import UserHead
from neve.scope import UserScope
from neve.store import rows


def memory_to_change(scope: UserScope, memory_id: str, if_match: Collection[int] | None) -> tuple[UserHead, Memory]:
    """Read the user's row and the memory, in one batch read. Raises memory_not_found, precondition_failed (a rev that
    ``if_match`` does not name), erasing, user_closed."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.memory(memory_id)])
    head, item = rows.read_head(found.get(keys.head)), found.get(keys.memory(memory_id))
    rows.writable(head)
    if item is None or not born(item["born_gen"], head.gen):
        raise not_found("memory", memory_id)
    memory = rows.read_memory(item)
    if if_match is not None and memory.rev not in if_match:
        raise NeveError("precondition_failed", f"The memory is at rev {memory.rev}.")
    return head, memory
