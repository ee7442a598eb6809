"""Makes the messages of the index queue and the embed queue, each about a memory or a document whose rev moved or that
is gone, or new events of a session. The group is the user: the queues are fair between users, so the backlog of one
does not hold up another's."""

from __future__ import annotations

from typing import Literal

from neve.correlation import carried
from neve.ports.queue import Message
from neve.store.keys import SessionKeys, UserKeys


def memory_message(
    keys: UserKeys, incarnation: int, memory_id: str, rev: int, kind: Literal["memory", "document"] = "memory"
) -> Message:
    """Make the message of a memory. The worker reads the row again: ``rev`` only says what a removal removes."""
    body = {
        "kind": kind,
        "tenant": keys.tenant,
        "user": keys.user,
        "incarnation": incarnation,
        "id": memory_id,
        "rev": rev,
    }
    return Message(carried(body), group=_group(keys))


def events_message(
    keys: SessionKeys, incarnation: int, seq_from: int, seq_to: int, retraction: str | None = None
) -> Message:
    """Make the message that the events ``seq_from`` to ``seq_to`` of a session are new, or that a ``retraction`` took
    them back."""
    body = {
        "kind": "events",
        "tenant": keys.tenant,
        "user": keys.user,
        "incarnation": incarnation,
        "session": keys.session,
        "seq_from": seq_from,
        "seq_to": seq_to,
    }
    return Message(carried(body | ({"retraction": retraction} if retraction else {})), group=_group(keys))


def _group(keys: UserKeys) -> str:
    return f"{keys.tenant}#{keys.user}"
