"""Remove archived events whose time is over (docs/rules/sessions.md#retention): the sweep finds them, a worker removes
them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice, takewhile

from neve.domain.indexing.utterances import texts_of_event
from neve.domain.jobs.time_share import TimeShare
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event
from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.ports.table import Check, Delete, Index, Item, Version, WriteOp
from neve.scope import SessionScope, Tenant, TenantScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.keys import TENANTS, archives_until
from neve.store.partitions import all_rows
from neve.store.tenants.tenant_rows import read_tenant
from neve.store.transact import batches, item_bytes
from neve.store.vectors import erase_vectors
from neve.usecases.core.images.image_objects import IMAGE_BATCH_SIZE, remove_images
from neve.usecases.core.images.shown_images import ShownImages
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run, Wait
from neve.usecases.core.jobs.queued_jobs import RETENTION, job_message
from neve.usecases.work.compact.artifacts import artifacts_of
from neve.usecases.work.indexing.changed_events import take_out, write_beside
from neve.usecases.work.indexing.indexed_log import read_log

SESSION_BATCH_SIZE = 200
"""Sessions of a tenant that one sweep sends; the next one goes on with others, those of before being done."""
NEVER = ""
"""A stored time that nothing was before."""
EVENT_BATCH_SIZE = 30
"""Events that one transaction removes: with an artifact for each, the head, two rows of the session and four events
beside them it stays below 100 actions."""


# --- the sweep's part ---------------------------------------------------------------------------


def send_expired(ports: Ports, share: TimeShare) -> int:
    """Count the sessions that were sent, of the tenants that there was time for: beginning with any of them, so that
    none is always the last. The share also says where a tenant has more than ``SESSION_BATCH_SIZE``. Raises
    StoreUnavailable."""
    tenants = (read_tenant(item) for item in all_rows(ports.table, TENANTS))
    some = [(one, days) for one in tenants if (days := one.policy.retention_days) is not None]
    first = int(ports.ids.token(), 16) % len(some) if len(some) > 1 else 0
    scopes = ((TenantScope(ports, Tenant(one.id, one.policy)), days) for one, days in some[first:] + some[:first])
    return sum(_send_of(scope, days, share) for scope, days in share.of(scopes))


def _send_of(scope: TenantScope, days: int, share: TimeShare) -> int:
    ports, keys, until = scope.ports, scope.keys, expired_before(scope.ports, days)
    found = all_rows(ports.table, keys.archives, index=Index.DUE, between=archives_until(until))
    some = list(islice(found, SESSION_BATCH_SIZE + 1))
    share.left = share.left or len(some) > SESSION_BATCH_SIZE
    some = some[:SESSION_BATCH_SIZE]
    messages = [job_message(keys.of_user(item["user_id"]), RETENTION, item["session_id"]) for item in some]
    if messages:
        ports.queue.send(QueueName.JOBS, messages)
    return len(messages)


def expired_before(ports: Ports, days: int) -> str:
    """Make the stored time before which an event's time is over."""
    return iso(ports.clock.now() - timedelta(days=days))


# --- the worker's part --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Batch:
    """Hold the oldest archived events. ``items``: the rows of those whose time is over, or whose removal has begun.
    ``left``: when the archived event behind them was, None when they are all. ``thought``: seqs with thinking."""

    epoch: SessionEpoch
    items: list[Item]
    left: str | None
    thought: Collection[int]

    @property
    def events(self) -> list[Event]:
        return list(map(rows.read_event, self.items))


def retain(shown: ShownImages, run: Run) -> Outcome:
    """Do one step of removing a session's archived events that are older than the policy allows, in the order of the
    log up to the first that is not, with their artifacts, images, passages and vectors. The summary stays, and so do
    client ids. ``shown``: what this worker has read for images so far.

    First the epoch says that they leave the index, and whoever reads the log from then on steps over them; then what is
    not in a transaction goes, of which the rows say what there is; the rows go last, with their artifacts. Raises
    StoreUnavailable."""
    session = run.scope.of_session(run.work.id)
    batch = _oldest(session)
    if batch is None:
        return Done()
    now = run.scope.ports.clock.now()
    last = batch.items[-1]["seq"] if batch.items else 0
    if batch.epoch.removing_to < last:
        return More(run.cursor, [rows.put_epoch(session.keys, replace(batch.epoch, removing_to=last), now)])
    if shows := list(filter(rows.shows_images, batch.items)):
        return More(run.cursor, list(map(rows.put_without_images, next(batches(shows, item_bytes)))))
    if showing := [item for item in batch.items if rows.images_of_row(item)]:
        return More(run.cursor, _remove_images(session, shown, next(batches(showing, item_bytes))))
    try:
        _leave_index(session, run.head.incarnation, batch)
    except UserErased:
        return Wait(run.cursor, now)
    ops = _removal(session, run.head.incarnation, batch)
    if batch.left is None:
        return Done(ops=ops)
    full, cursor = len(batch.items) == EVENT_BATCH_SIZE, {"since": batch.left}
    return More(cursor, ops) if full else Wait(cursor, now, ops)


def _oldest(scope: SessionScope) -> _Batch | None:
    """Read the next batch; None when the session holds no archived events."""
    keys, table, days = scope.keys, scope.ports.table, scope.policy.retention_days
    found = table.get_many([keys.epoch, keys.session_head])
    if keys.epoch not in found:
        return None
    epoch = rows.read_epoch(found[keys.epoch])
    if epoch.covers_from is None or epoch.covers_to is None:
        return None
    first = max(epoch.covers_from, epoch.removed_to + 1)
    log = all_rows(table, keys.log, between=keys.events(first, epoch.covers_to), page=EVENT_BATCH_SIZE + 1)
    items = list(islice(log, EVENT_BATCH_SIZE + 1))
    before = NEVER if days is None else expired_before(scope.ports, days)
    over = list(
        takewhile(
            lambda item: item["created_at"] < before or item["seq"] <= epoch.removing_to, items[:EVENT_BATCH_SIZE]
        )
    )
    left = str(items[len(over)]["created_at"]) if len(over) < len(items) else None
    thought = rows.read_session(found[keys.session_head]).thinking if keys.session_head in found else ()
    return _Batch(epoch, over, left, thought)


def _remove_images(scope: SessionScope, shown: ShownImages, items: list[Item]) -> list[WriteOp]:
    """Remove those of the images of these events that no other event shows, as many as fit one step; return what notes
    it."""
    images = {image for item in items for image in rows.images_of_row(item)}
    some = frozenset(sorted(images)[:IMAGE_BATCH_SIZE])
    remove_images(scope, some, sent=True, shown=shown)
    return [rows.put_without_images(item, some) for item in items if not some.isdisjoint(rows.images_of_row(item))]


def _leave_index(scope: SessionScope, incarnation: int, batch: _Batch) -> None:
    """Remove their passages, their words beside them, and their vectors. Vectors are kept by content: what is still
    needed of them is made again. Raises UserErased."""
    if not batch.items:
        return
    data, keys = scope.data, scope.keys
    log, span = read_log(data, incarnation), (batch.items[0]["seq"], batch.items[-1]["seq"])
    write_beside(data, log, span)
    take_out(data, log, span)
    gone = (texts_of_event(scope.session, event) for event in batch.events)
    erase_vectors(scope.ports.table, keys, set[str]().union(*gone))


def _removal(scope: SessionScope, incarnation: int, batch: _Batch) -> list[WriteOp]:
    keys, epoch = scope.keys, batch.epoch
    if not batch.items:
        return [Check(keys.epoch, Version(epoch.version))]
    seqs = [item["seq"] for item in batch.items]
    moved = replace(epoch, removed_to=max(epoch.removed_to, seqs[-1]))
    ops: list[WriteOp] = [rows.put_epoch(keys, moved, scope.ports.clock.now())]
    ops += [Delete(keys.event(item["seq"]), Version(item["version"])) for item in batch.items]
    ops += [Delete(keys.thinking(seq)) for seq in seqs if seq in batch.thought]
    return ops + [Delete(keys.document(path)) for path in artifacts_of(scope, incarnation, batch.events)]
