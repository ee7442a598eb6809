"""When a tenant's policy becomes ``rerank: late``: each of its users is told to encode what is there
(docs/rules/indexing.md#token-vectors). One message for the tenant, one for each user."""

from __future__ import annotations

from dataclasses import replace

from neve.domain.times import iso, parse
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Index, Item, Version, key_of
from neve.scope import TenantData, TenantScope, UserData
from neve.store import rows
from neve.store.keys import Keys, tenant_row
from neve.store.tenants.directory import users_of
from neve.store.tenants.tenant_rows import read_tenant
from neve.store.token_vectors import LateProgress, LateUsers, read_late_progress, read_late_users
from neve.store.transact import transact
from neve.usecases.jobs.messages.indexing import late_tenant_message, late_user_message

MAX_USERS = 2_000
"""Counted, of those who are not done."""


def begin_tenant(data: TenantData[Ports], asked: str, after: str, ends_ms: float) -> Message | None:
    """Tell each user of the tenant behind ``after``, unless it was told for the same reason; what to send when there
    was no time for the rest. Raises StoreUnavailable; can be repeated."""
    ports, keys = data.ports, data.keys
    if ports.table.get(tenant_row(keys.tenant)) is None:
        return None  # it was removed, and would leave a row
    if not after:
        ports.table.write([LateUsers(asked, iso(ports.clock.now())).put(keys)])
    for user in map(data.of_user, users_of(ports.table, keys, after)):
        if ports.clock.monotonic_ms() >= ends_ms:
            ports.table.write([LateUsers(asked, iso(ports.clock.now())).put(keys)])
            return late_tenant_message(keys, asked, after)
        _tell(user, asked)
        after = user.keys.user
    ports.table.write([LateUsers(asked, iso(ports.clock.now()), done=True).put(keys)])
    return None


def begin_again(ports: Ports, item: Item) -> bool:
    """A tenant of the index ``due`` whose users nobody has been telling for ten minutes: the message was lost, or the
    change that asks for it. False where they have all been told, and where the tenant has stopped to rerank late.
    Raises Conflict, StoreUnavailable; then it is due again ten minutes later at the latest."""
    now, row = ports.clock.now(), ports.table.get(key_of(item))
    if row is None:
        return False
    known, keys = read_late_users(row), Keys(row["tenant_id"])
    if known.done or now - parse(known.at) < rows.SENT_WITHIN:
        return False
    tenant = ports.table.get(tenant_row(keys.tenant))
    is_late = tenant is not None and read_tenant(tenant).policy.rerank == "late"
    ports.table.write([replace(known, at=iso(now), done=not is_late).put(keys, Version(known.version))])
    if is_late:
        ports.queue.send(QueueName.EMBED, [late_tenant_message(keys, known.round)])
    return is_late


def encode_again(data: TenantData[Ports], user: str | None, asked: str) -> None:
    """For whoever asks: look at everything again, of one user or of all. Whoever counts sees that something is to be
    done as soon as this returns. Raises StoreUnavailable."""
    if user is None:
        data.ports.table.write([LateUsers(asked, iso(data.ports.clock.now())).put(data.keys)])
        data.ports.queue.send(QueueName.EMBED, [late_tenant_message(data.keys, asked)])
    else:
        _tell(data.of_user(user), asked)


def _tell(data: UserData[Ports], asked: str) -> None:
    """A message that was lost between the two is made up for: who is not done is told again. Of a user who is being
    erased nothing is left to encode, and no row may be. Raises 409 ``conflict``, StoreUnavailable."""
    ports, keys = data.ports, data.keys

    def attempt() -> bool:
        found = ports.table.get_many([keys.head, keys.late_progress])
        head, known = rows.read_head(found.get(keys.head)), read_late_progress(found.get(keys.late_progress))
        if rows.hidden(head):
            return False
        if known is not None and known.round == asked:
            return not known.done
        told = LateProgress(asked, version=known.version if known else 0)
        ports.table.write([rows.check_head(keys, head), told.put(keys)])
        return True

    if transact(ports, attempt):
        ports.queue.send(QueueName.EMBED, [late_user_message(keys)])


def users_being_encoded(scope: TenantScope, user: str | None = None) -> int:
    """How many users of the tenant have something that was not looked at yet, up to ``MAX_USERS``; the tenant itself
    counts as one while it has users who were not told. Or whether this one has. Raises StoreUnavailable."""
    table, keys = scope.ports.table, scope.keys
    if user is None:
        row = table.get(keys.late_users)
        telling = row is not None and not read_late_users(row).done
        return telling + len(table.query(keys.late, index=Index.DUE, limit=MAX_USERS).items)
    progress = read_late_progress(table.get(keys.of_user(user).late_progress))
    return int(progress is not None and not progress.done)
