"""Do a piece of work at most once for an Idempotency-Key, for work that cannot carry the record in its own
transaction."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from neve.domain.errors import NeveError
from neve.ports import Conflict, Delete, Expect, StoreUnavailable, Version, WriteOp
from neve.store import idempotency
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.wiring import Ports, Tenant


def run_once(ports: Ports, tenant: Tenant, idem: IdempotencyKey | None, work: Callable[[], StoredReply]) -> StoredReply:
    """The answer of ``work``, or the first one given to this key in the last 24 h. Without a key, just ``work``.

    Only answers are kept: when ``work`` raises, the key is free again. A claim left by a crash ends after 60 s, and
    the work is then done again. Raises 422 ``idempotency_mismatch``, 409 ``idempotency_in_progress``, what ``work``
    raises, and StoreUnavailable."""
    if idem is None:
        return work()
    now = ports.clock.now()
    claimed = _claim(ports, tenant, idem, now)
    if isinstance(claimed, StoredReply):
        return claimed
    try:
        reply = work()
    except Exception:
        _settle(ports, Delete(idempotency.row_key(tenant.keys, idem), claimed))
        raise
    _settle(ports, idempotency.done(tenant.keys, idem, reply, now, expect=claimed))
    return reply


def _claim(ports: Ports, tenant: Tenant, idem: IdempotencyKey, now: datetime) -> StoredReply | Version:
    """The first answer, or the version of the claim now held."""
    item = ports.table.get(idempotency.row_key(tenant.keys, idem))
    if (first := idempotency.replay(item, idem, now)) is not None:
        return first
    expect = Version(item["version"]) if item else Expect.ABSENT
    try:
        ports.table.write([idempotency.claim(tenant.keys, idem, now, expect)])
    except Conflict:
        detail = "Another call with this Idempotency-Key began at the same moment."
        raise NeveError("idempotency_in_progress", detail, retry_after_s=1) from None
    return Version(item["version"] + 1 if item else 1)


def _settle(ports: Ports, operation: WriteOp) -> None:
    """End a claim. The work is done or undone by now, so a claim that cannot be ended (the store is down, or the
    claim had expired and another call took it over) does not change the answer: it ends by itself."""
    try:
        ports.table.write([operation])
    except (Conflict, StoreUnavailable):
        return
