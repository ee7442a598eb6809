"""The memory that a writer is about to change, with everything that may forbid it checked."""

from __future__ import annotations

from neve.domain.errors import NeveError, not_found
from neve.domain.records import Memory, UserHead
from neve.store import rows
from neve.wiring import Ports, Tenant


def memory_to_change(
    ports: Ports, tenant: Tenant, user: str, memory_id: str, if_match: int | None
) -> tuple[UserHead, Memory]:
    """One batch read. Raises memory_not_found, precondition_failed (another rev than ``if_match``), erasing,
    user_closed."""
    keys = tenant.keys
    found = ports.table.get_many([keys.head(user), keys.memory(user, memory_id)])
    head, item = rows.read_head(found.get(keys.head(user))), found.get(keys.memory(user, memory_id))
    if item is None or item["born_gen"] > head.gen:
        raise not_found("memory", memory_id)
    rows.writable(head)
    memory = rows.read_memory(item)
    if if_match is not None and memory.rev != if_match:
        raise NeveError("precondition_failed", f"The memory is at rev {memory.rev}.")
    return head, memory
