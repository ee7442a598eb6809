"""The operator's call: one user and everything that is kept for them is erased; the id can then be used again, unless
the user is closed. No API key can do this.

In three steps (docs/rules/erase.md#user). ``begin_erasure`` raises the user's incarnation: from then on no commit of a
request or a worker that saw the old one succeeds, and new writes answer 409. ``erase_user`` removes. ``SETTLE_S`` later
it is called again, for what had no commit to be stopped by (a passage, a pack object, an uploaded image), and
``finish_erasure`` lets the id go. Every step can be repeated, also after a crash in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from neve.domain.records import UserHead
from neve.domain.times import iso
from neve.ports import MAX_WRITE_OPS, Delete, Expect, Index, Key, Ports, Table, key_of
from neve.store import rows
from neve.store.keys import UserKeys, session_of
from neve.store.partitions import all_rows
from neve.usecases.sessions.create_upload import EXPIRES_S

SETTLE_S = EXPIRES_S + 60
"""The target of an upload lives longest (900 s), then a worker (60 s, template.yaml) and a request (29 s)."""
WRITES = ("POST", "PUT", "PATCH", "DELETE")
"""Calls whose first answer is kept for a day."""


class NoSuchUser(LookupError):
    """The message is its id."""


@dataclass(frozen=True, slots=True)
class Removed:
    """What was removed by one call; all zeros says that nothing was left."""

    users: int = 0
    rows: int = 0
    objects: int = 0
    passages: int = 0


def begin_erasure(table: Table, keys: UserKeys) -> UserHead:
    """The head as it is now. One whose erasure has begun already stays as it is. Raises NoSuchUser, also for a user who
    was erased and closed; Conflict when somebody else moved the head; StoreUnavailable."""
    head = rows.read_head(table.get(keys.head))
    if head.version == 0 or head.state == "closed":
        raise NoSuchUser(keys.user)
    if head.state == "erasing":
        return head
    begun = UserHead(gen=head.gen, incarnation=head.incarnation + 1, state="erasing", version=head.version)
    table.write([rows.put_head(keys, begun)])
    return replace(begun, version=head.version + 1)


def erase_user(ports: Ports, keys: UserKeys) -> Removed:
    """Everything of a user whose erasure has begun, but for the head. Raises StoreUnavailable."""
    removed = erase_user_data(ports, keys)
    jobs = [key_of(item) for item in all_rows(ports.table, keys.jobs) if item.get("user_id") == keys.user]
    answers = [
        key_of(item)
        for method in WRITES
        for item in all_rows(ports.table, keys.answers, prefix=f"{method} /v1/users/{keys.user}/")
    ]
    return replace(removed, rows=removed.rows + delete_rows(ports.table, [*jobs, *answers]))


def finish_erasure(ports: Ports, keys: UserKeys, *, close: bool) -> None:
    """``close``: the id stays refused (410) for good, else it is a new user. Raises NoSuchUser unless an erasure has
    begun; Conflict when somebody else moved the head; StoreUnavailable."""
    head = rows.read_head(ports.table.get(keys.head))
    if head.state != "erasing":
        raise NoSuchUser(keys.user)
    left = replace(head, state="closed" if close else "active", created_at=iso(ports.clock.now()))
    ports.table.write([rows.put_head(keys, left)])


# --- also for whoever removes a whole tenant ------------------------------------------------------


def erase_user_data(ports: Ports, keys: UserKeys) -> Removed:
    """Passages, objects and rows of one user. The head stays: it is how the user is found again. Raises
    StoreUnavailable."""
    passages = ports.search.erase(keys.owner)
    prefixes = (keys.packs_prefix, keys.images_prefix, keys.uploads_prefix)
    objects = [name for prefix in prefixes for name in ports.objects.list(prefix)]
    for name in objects:
        ports.objects.delete(name)
    own = keys_of(ports.table, keys.partition)
    sessions = [session for key in own if (session := session_of(key)) is not None]
    beside = [*(keys.of_session(session).log for session in sessions), keys.ledger, keys.vectors, keys.token_vectors]
    deleted = sum(delete_rows(ports.table, keys_of(ports.table, partition)) for partition in beside)
    deleted += delete_rows(ports.table, [key for key in own if key != keys.head])
    return Removed(1, deleted, len(objects), passages)


def keys_of(table: Table, partition: str, index: Index = Index.MAIN) -> list[Key]:
    """Those of the whole partition."""
    return [key_of(item) for item in all_rows(table, partition, index=index)]


def delete_rows(table: Table, keys: Sequence[Key]) -> int:
    """In transactions of at most 100; how many keys."""
    for start in range(0, len(keys), MAX_WRITE_OPS):
        table.write([Delete(key, Expect.ANY) for key in keys[start : start + MAX_WRITE_OPS]])
    return len(keys)
