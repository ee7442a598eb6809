"""When a tenant's policy becomes ``rerank: late``: encode what is there, user by user, a little at a time
(docs/rules/indexing.md#token-vectors).

One message for the tenant, one for each user. A user's row says how far its items have been looked at; who finds no
time for the rest sends the message again. Who meets another delivery of the same message leaves the rest to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neve.ports import Conflict, Index, Message, Ports, QueueName, Table
from neve.store.keys import INDEXED, Keys, UserKeys
from neve.store.partitions import all_rows
from neve.store.token_vectors import LateProgress, put_late_users, read_late_progress
from neve.usecases.indexing.indexed_row import read_indexed
from neve.usecases.indexing.late.encode_items import ITEMS, encode_items
from neve.usecases.indexing.messages import late_tenant_message, late_user_message
from neve.usecases.indexing.utterances import event_id
from neve.usecases.tenants.directory import users_of

MOST_USERS = 2_000
"""Counted, of those who are not done."""
_BEHIND_MEMORIES = "S#"
"""What a place in the logs begins with; no memory's key does. A user's items are gone through memories first."""


def begin_tenant(ports: Ports, tenant: str, asked: str) -> None:
    """Tell each user of the tenant, unless it was told for the same reason. Raises StoreUnavailable; can be
    repeated."""
    keys = Keys(tenant)
    ports.table.write([put_late_users(keys, asked, done=False)])
    for user in map(keys.of_user, users_of(ports.table, keys)):
        if _begin_user(ports.table, user, asked):
            ports.queue.send(QueueName.EMBED, [late_user_message(user)])
    ports.table.write([put_late_users(keys, asked, done=True)])


def encode_again(ports: Ports, keys: Keys, user: str | None, asked: str) -> None:
    """For whoever asks: look at everything again, of one user or of all. Whoever counts sees that something is to be
    done as soon as this returns. Raises StoreUnavailable."""
    if user is None:
        ports.table.write([put_late_users(keys, asked, done=False)])
        ports.queue.send(QueueName.EMBED, [late_tenant_message(keys.tenant, asked)])
    elif _begin_user(ports.table, keys.of_user(user), asked):
        ports.queue.send(QueueName.EMBED, [late_user_message(keys.of_user(user))])


def _begin_user(table: Table, keys: UserKeys, asked: str) -> bool:
    """Whether there is something to do. A message that was lost between the two is made up for: who is not done is
    told again."""
    known = read_late_progress(table.get(keys.late_progress))
    if known is not None and known.round == asked:
        return not known.done
    try:
        table.write([LateProgress(asked, version=known.version if known else 0).put(keys)])
    except Conflict:
        return _begin_user(table, keys, asked)
    return True


def encode_user(ports: Ports, keys: UserKeys, ends_ms: float) -> Message | None:
    """Go on where the user's row says; what to send when there was no time for the rest. Raises EmbedAgain,
    StoreUnavailable."""
    progress = read_late_progress(ports.table.get(keys.late_progress))
    if progress is None or progress.done:
        return None
    for ids, place in _items(ports.table, keys, progress.after):
        if ports.clock.monotonic_ms() >= ends_ms or encode_items(ports, keys, ids, None, ends_ms):
            return late_user_message(keys)
        moved = replace(progress, after=place, items=progress.items + len(ids))
        if not _note(ports.table, keys, moved):
            return None
        progress = replace(moved, version=moved.version + 1)
    _note(ports.table, keys, replace(progress, done=True))
    return None


def _note(table: Table, keys: UserKeys, progress: LateProgress) -> bool:
    """False when somebody else is at it."""
    try:
        table.write([progress.put(keys)])
    except Conflict:
        return False
    return True


def _items(table: Table, keys: UserKeys, after: str) -> Iterator[tuple[list[str], str]]:
    """Ids of a user's memories, then of what was said in its sessions, with the place of the last one: what lies behind
    ``after``. Raises StoreUnavailable."""
    if not after.startswith(_BEHIND_MEMORIES):
        yield from _memories(table, keys, after)
        after = ""
    session, _, seq = after.removeprefix(_BEHIND_MEMORIES).rpartition("#")
    for item in all_rows(table, keys.partition, prefix=INDEXED):
        row = read_indexed(item["session_id"], item)
        if row.session < session:
            continue
        first = int(seq) + 1 if row.session == session else 1
        for start in range(first, row.indexed_seq + 1, ITEMS):
            last = min(start + ITEMS - 1, row.indexed_seq)
            ids = [event_id(row.session, one) for one in range(start, last + 1)]
            yield ids, f"{_BEHIND_MEMORIES}{row.session}#{last}"


def _memories(table: Table, keys: UserKeys, after: str) -> Iterator[tuple[list[str], str]]:
    while True:
        page = table.query(keys.partition, between=keys.memories_behind(after or None), limit=ITEMS)
        if not page.items:
            return
        after = page.items[-1]["sk"]
        yield [item["id"] for item in page.items], after


def users_being_encoded(table: Table, keys: Keys, user: str | None = None) -> int:
    """How many users of the tenant have something that was not looked at yet, up to ``MOST_USERS``; the tenant itself
    counts as one while it has users who were not told. Or whether this one has. Raises StoreUnavailable."""
    if user is None:
        return len(table.query(keys.late, index=Index.DUE, limit=MOST_USERS).items)
    progress = read_late_progress(table.get(keys.of_user(user).late_progress))
    return int(progress is not None and not progress.done)
