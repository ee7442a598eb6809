"""Do a piece of work at most once for an Idempotency-Key: of one transaction, which takes the record along, or of
several, behind which it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from neve.domain.errors import NeveError
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Delete, Table, Version, WriteOp
from neve.scope import TenantScope
from neve.store import idempotency
from neve.store.idempotency import Beside, IdempotencyKey, StoredReply


def run_once(
    scope: TenantScope, idem: IdempotencyKey, work: Callable[[Beside[StoredReply]], StoredReply]
) -> StoredReply:
    """Return the answer of ``work``, or the first one given to this key in the last 24 h.

    ``work`` of one transaction writes what it is given beside it: a caller that repeats the call after a crash gets the
    answer then, and so does the call itself where ``work`` raises behind a transaction whose response was lost. Other
    work leaves that, and its answer is kept behind it: a claim left by a crash ends after 60 s, and it is done again.
    What ``work`` returns may say more than what it wrote, and is kept in its place.

    Only answers are kept: when ``work`` raises, the key is free again. Raises 422 ``idempotency_mismatch``, 409
    ``idempotency_in_progress``, what ``work`` raises, and StoreUnavailable."""
    now = scope.ports.clock.now()
    claimed = _claim(scope, idem, now)
    if isinstance(claimed, StoredReply):
        return claimed
    written: list[StoredReply] = []

    def beside(reply: StoredReply) -> Sequence[WriteOp]:
        written[:] = [reply]
        return [idempotency.done(scope.keys, idem, reply, now, expect=claimed)]

    try:
        reply = work(beside)
    except Exception:
        if written and (kept := _kept(scope, idem, now)) is not None:
            return kept
        _settle(scope.ports.table, Delete(idempotency.row_key(scope.keys, idem), claimed))
        raise
    if written != [reply]:
        expect = Version(claimed.n + 1) if written else claimed
        _settle(scope.ports.table, idempotency.done(scope.keys, idem, reply, now, expect=expect))
    return reply


def _claim(scope: TenantScope, idem: IdempotencyKey, now: datetime) -> StoredReply | Version:
    """Return the first answer, or the version of the claim now held."""
    item = scope.ports.table.get(idempotency.row_key(scope.keys, idem))
    if (first := idempotency.replay(item, idem, now)) is not None:
        return first
    try:
        claim = idempotency.claim(scope.keys, idem, now, idempotency.taken_over(item))
        scope.ports.table.write([claim])
    except Conflict:
        detail = "Another call with this Idempotency-Key began at the same moment."
        raise NeveError("idempotency_in_progress", detail, retry_after_s=1) from None
    return Version(item["version"] + 1 if item else claim.first)


def _kept(scope: TenantScope, idem: IdempotencyKey, now: datetime) -> StoredReply | None:
    """Return the answer, if there is one by now; None also where the store cannot say."""
    try:
        return idempotency.replay(scope.ports.table.get(idempotency.row_key(scope.keys, idem)), idem, now)
    except (NeveError, StoreUnavailable):
        return None


def _settle(table: Table, operation: WriteOp) -> None:
    """End a claim. The work is done or undone by now, so a claim that cannot be ended (the store is down, or the
    claim had expired and another call took it over) does not change the answer: it ends by itself."""
    try:
        table.write([operation])
    except (Conflict, StoreUnavailable):
        return
