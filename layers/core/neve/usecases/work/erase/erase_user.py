"""The operator's call: one user and everything that is kept for them is erased; the id can then be used again, unless
the user is closed. A tenant asks by E15 (``request_erasure.py``).

In three steps (docs/rules/erase.md#user). ``begin_erasure`` raises the user's incarnation: from then on no commit of a
request or a worker that saw the old one succeeds, and new writes answer 409. ``erase_user`` removes. ``SETTLE_S`` later
it is called again, for what had no commit to be stopped by (a passage, a pack object, an uploaded image), and
``finish_erasure`` lets the id go. Every step can be repeated, also after a crash in the middle."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Literal

from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.table import Table
from neve.scope import UserData
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.tell.sessions.create_upload import EXPIRES_S
from neve.usecases.work.erase.user_stores import next_piece

SETTLE_S = EXPIRES_S + 60
"""The target of an upload, and the worker of a night, of jobs or of a librarian, live longest (900 s, template.yaml);
others have 300 s and a request 29 s. The 60 s beside them are for what is on its way to a store."""


class UserNotFound(LookupError):
    """There is no such user to erase; the message is the id."""


class ErasureUnderWay(RuntimeError):
    """A job erases the user already; the message is the job's id."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The counts of what one call removed; all zeros says that nothing was left."""

    users: int = 0
    rows: int = 0
    objects: int = 0
    passages: int = 0

    def __add__(self, other: Removed) -> Removed:
        return Removed(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


def begin_erasure(table: Table, keys: UserKeys) -> UserHead:
    """Begin an erasure, and give the head as it is now. One whose erasure has begun already stays as it is. Raises
    UserNotFound, also for a user who was erased and closed; ErasureUnderWay; Conflict when another writer moved the
    head; StoreUnavailable."""
    head = rows.read_head(table.get(keys.head))
    if head.version == 0 or head.state == "closed":
        raise UserNotFound(keys.user)
    if head.state == "erasing":
        if head.erasure_job is not None:
            raise ErasureUnderWay(head.erasure_job)
        return head
    begun = UserHead(gen=head.gen, incarnation=head.incarnation + 1, state="erasing", version=head.version)
    table.write([rows.put_head(keys, begun)])
    return replace(begun, version=head.version + 1)


def erase_user(data: UserData[Ports], *, shared: bool = True) -> Removed:
    """Remove everything of a user whose erasure has begun, but for the head and the receipts of erasures. ``shared``
    False: for a caller that removes the tenant's jobs and answers as a whole. Raises StoreUnavailable."""
    removed, piece = Counter[str](), next_piece(data, shared=shared)
    while piece is not None:
        removed[piece.store] += piece.removed
        if piece.ops:
            data.ports.table.write(piece.ops)
        piece = next_piece(data, piece.store, piece.behind, shared=shared)
    objects = sum(removed[name] for name in data.keys.objects)
    passages = removed["passages"]
    return Removed(1, removed.total() - objects - passages, objects, passages)


def finish_erasure(data: UserData[Ports], *, close: bool) -> None:
    """Let the id go. ``close``: the id stays refused (410) for good, else it is a new user. Raises UserNotFound unless
    an erasure has begun; Conflict when another writer moved the head; StoreUnavailable."""
    ports, keys = data.ports, data.keys
    head = rows.read_head(ports.table.get(keys.head))
    if head.state != "erasing":
        raise UserNotFound(keys.user)
    ports.table.write([rows.put_head(keys, let_go(head, ports.clock.now(), close=close))])


def let_go(head: UserHead, now: datetime, *, close: bool) -> UserHead:
    """Make the head of a user of whom nothing is left: closed for good, or as of a new one."""
    state: Literal["active", "closed"] = "closed" if close else "active"
    return UserHead(head.gen, head.incarnation, state, created_at=iso(now), erased=True, version=head.version)
