"""When a tenant's policy becomes ``rerank: late``: each of its users is told to encode what is there
(docs/rules/indexing.md#token-vectors). One message for the tenant, one for each user."""

from __future__ import annotations

from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Index
from neve.scope import TenantData, TenantScope, UserData
from neve.store.tenants.directory import users_of
from neve.store.token_vectors import LateProgress, put_late_users, read_late_progress
from neve.store.transact import transact
from neve.usecases.jobs.messages.indexing import late_tenant_message, late_user_message

MAX_USERS = 2_000
"""Counted, of those who are not done."""


def begin_tenant(data: TenantData[Ports], asked: str, after: str, ends_ms: float) -> Message | None:
    """Tell each user of the tenant behind ``after``, unless it was told for the same reason; what to send when there
    was no time for the rest. Raises StoreUnavailable; can be repeated."""
    ports, keys = data.ports, data.keys
    if not after:
        ports.table.write([put_late_users(keys, asked, done=False)])
    for user in map(data.of_user, users_of(ports.table, keys)):
        if user.keys.user <= after:
            continue
        if ports.clock.monotonic_ms() >= ends_ms:
            return late_tenant_message(keys, asked, after)
        _tell(user, asked)
        after = user.keys.user
    ports.table.write([put_late_users(keys, asked, done=True)])
    return None


def encode_again(data: TenantData[Ports], user: str | None, asked: str) -> None:
    """For whoever asks: look at everything again, of one user or of all. Whoever counts sees that something is to be
    done as soon as this returns. Raises StoreUnavailable."""
    if user is None:
        data.ports.table.write([put_late_users(data.keys, asked, done=False)])
        data.ports.queue.send(QueueName.EMBED, [late_tenant_message(data.keys, asked)])
    else:
        _tell(data.of_user(user), asked)


def _tell(data: UserData[Ports], asked: str) -> None:
    """A message that was lost between the two is made up for: who is not done is told again. Raises 409
    ``conflict``, StoreUnavailable."""
    ports, keys = data.ports, data.keys

    def attempt() -> bool:
        known = read_late_progress(ports.table.get(keys.late_progress))
        if known is not None and known.round == asked:
            return not known.done
        ports.table.write([LateProgress(asked, version=known.version if known else 0).put(keys)])
        return True

    if transact(ports, attempt):
        ports.queue.send(QueueName.EMBED, [late_user_message(keys)])


def users_being_encoded(scope: TenantScope, user: str | None = None) -> int:
    """How many users of the tenant have something that was not looked at yet, up to ``MAX_USERS``; the tenant itself
    counts as one while it has users who were not told. Or whether this one has. Raises StoreUnavailable."""
    table, keys = scope.ports.table, scope.keys
    if user is None:
        return len(table.query(keys.late, index=Index.DUE, limit=MAX_USERS).items)
    progress = read_late_progress(table.get(keys.of_user(user).late_progress))
    return int(progress is not None and not progress.done)
