"""What the index queue and the embed queue carry: a memory or a document whose rev moved or that is gone, or new
events of a session. The group is the user: the queues are fair between users, so the backlog of one does not hold up
another's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from neve.correlation import carried
from neve.ports.queue import Message
from neve.store.keys import Keys, SessionKeys, UserKeys


def memory_message(
    keys: UserKeys, incarnation: int, memory_id: str, rev: int, kind: Literal["memory", "document"] = "memory"
) -> Message:
    """The worker reads the row again: ``rev`` only says what a removal removes."""
    body = {
        "kind": kind,
        "tenant": keys.tenant,
        "user": keys.user,
        "incarnation": incarnation,
        "id": memory_id,
        "rev": rev,
    }
    return Message(carried(body), group=_group(keys))


def events_message(keys: SessionKeys, incarnation: int, seq_from: int, seq_to: int) -> Message:
    """The events ``seq_from`` to ``seq_to`` of a session are new."""
    body = {
        "kind": "events",
        "tenant": keys.tenant,
        "user": keys.user,
        "incarnation": incarnation,
        "session": keys.session,
        "seq_from": seq_from,
        "seq_to": seq_to,
    }
    return Message(carried(body), group=_group(keys))


def retraction_message(keys: SessionKeys, incarnation: int, retraction_id: str) -> Message:
    """The events that a retraction has taken back are to leave the index."""
    body = {
        "kind": "retraction",
        "tenant": keys.tenant,
        "user": keys.user,
        "incarnation": incarnation,
        "session": keys.session,
        "id": retraction_id,
    }
    return Message(carried(body), group=_group(keys))


def tokens_message(keys: UserKeys, incarnation: int, ids: Sequence[str]) -> Message:
    """These memories and utterances may lack their token vectors."""
    body = {
        "kind": "tokens",
        "tenant": keys.tenant,
        "user": keys.user,
        "incarnation": incarnation,
        "ids": list(ids),
    }
    return Message(carried(body), group=_group(keys))


def late_user_message(keys: UserKeys) -> Message:
    """Everything that the user has may lack its token vectors; how far that was looked at, its row says."""
    body = {"kind": "late_user", "tenant": keys.tenant, "user": keys.user}
    return Message(carried(body), group=_group(keys))


def late_tenant_message(keys: Keys, asked: str, after: str = "") -> Message:
    """And so may everything of every user of the tenant behind the id ``after``. ``asked``: what asked for it; a user
    who was told already for the same reason is not told again."""
    body = {"kind": "late_tenant", "tenant": keys.tenant, "round": asked, "after": after}
    return Message(carried(body), group=keys.tenant)


def _group(keys: UserKeys) -> str:
    return f"{keys.tenant}#{keys.user}"
