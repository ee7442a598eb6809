"""What the embed queue carries: a memory whose rev moved or that is gone, or new events of a session."""

from __future__ import annotations

from neve.correlation import carried
from neve.ports import Message


def memory_message(tenant: str, user: str, incarnation: int, memory_id: str, rev: int) -> Message:
    """The worker reads the row again: ``rev`` only says what a removal removes. The group makes the queue fair."""
    body = {
        "kind": "memory",
        "tenant": tenant,
        "user": user,
        "incarnation": incarnation,
        "id": memory_id,
        "rev": rev,
    }
    return Message(carried(body), group=tenant)


def events_message(tenant: str, user: str, incarnation: int, session: str, seq_from: int, seq_to: int) -> Message:
    """The events ``seq_from`` to ``seq_to`` of a session are new."""
    body = {
        "kind": "events",
        "tenant": tenant,
        "user": user,
        "incarnation": incarnation,
        "session": session,
        "seq_from": seq_from,
        "seq_to": seq_to,
    }
    return Message(carried(body), group=tenant)
