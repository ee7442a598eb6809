"""Picks up, every ten minutes, what a crash or an outage left behind (docs/rules/jobs.md#sweep)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from neve.domain.jobs.time_share import TimeShare, shares
from neve.observing import SecondsLeft, for_ever
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Item, key_of
from neve.scope import SessionData
from neve.store import rows
from neve.store.outgoing import DELIVER
from neve.store.partitions import due_rows
from neve.usecases.core.lag.memory_lag import leave
from neve.usecases.core.memories.replace_rows import ReplacementBusy, resolve_replacement
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.documents.unmade_documents import clear_unmade
from neve.usecases.work.background.end_idle import Failed, end_idle, ignore_failure
from neve.usecases.work.background.send_lost import Lost, ignore_job, resend_deletion, send_lost
from neve.usecases.work.compact.retain_logs import send_expired
from neve.usecases.work.indexing.requeue import (
    MAX_ROWS,
    first_shard,
    lagging_logs,
    requeue_logs,
    requeue_pending,
    row_parts,
    waiting_for,
)
from neve.usecases.work.observe.requeue_passes import Waiting, passes_due, requeue_passes
from neve.usecases.work.outgoing.wake import wake_due

PENDING_FOR = timedelta(minutes=10)
"""The time after which what is still pending has lost its message (docs/rules/indexing.md#sweep)."""
SPARE_S = 30.0
"""Seconds kept of the worker's time for the last piece of work of each kind, and for the messages of what was found."""
COUNTS = (
    *("rebuilt", "replacements", "busy", "failed", "closed", "orphans", "idle_failed", "idle_left"),
    *("embeddings", "passes", "silent", "retained", "texts", "lost", "deletions", "deliveries", "left"),
)

BUSY = (Conflict, ReplacementBusy)
"""Errors that say that another worker is at it: nothing that an operator has to look into."""

Counts = dict[str, int]


def sweep_due(
    ports: Ports, seconds_left: SecondsLeft = for_ever, on_failure: Failed = ignore_failure, lost: Lost = ignore_job
) -> Counts:
    """Do what is due, and give counts by kind of work: packs rebuilt, replacements resolved, sessions closed and ended,
    embeddings and passes queued again, passes of sessions that fell ``silent``, sessions with events whose time is
    over, long texts that were announced an hour ago, what the outbox had given up (jobs ``lost``, of each of which
    ``lost`` hears, and ``deletions``), ``deliveries`` whose next attempt is due, and what was ``busy`` or ``failed``,
    which stays due and is tried again by the next sweep. ``left``: kinds of which more was due than their share of the
    time allowed. Neither a row that nothing can be done with nor a kind whose store fails keeps any other waiting;
    ``on_failure`` hears of them. Raises StoreUnavailable behind the last kind when a store failed one."""
    kinds: list[tuple[str, Callable[[TimeShare], Counts]]] = [
        ("rebuild", partial(_due, ports, "rebuild", "rebuilt", _rebuild, on_failure)),
        ("replace", partial(_due, ports, "replace", "replacements", resolve_due, on_failure)),
        (rows.QUEUED, partial(_due, ports, rows.QUEUED, "lost", partial(send_lost, lost=lost), on_failure)),
        (rows.LEAVE, partial(_due, ports, rows.LEAVE, "deletions", resend_deletion, on_failure)),
        (DELIVER, partial(_due, ports, DELIVER, "deliveries", wake_due, on_failure)),
        ("idle", partial(end_idle, ports, on_failure=on_failure)),
        ("embed", partial(_unindexed, ports, on_failure)),
        ("behind", partial(_lagging_logs, ports, on_failure)),
        ("archives", lambda share: {"retained": send_expired(ports, share)}),
        ("text", lambda share: {"texts": clear_unmade(ports, share)}),
    ]
    done: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    failure: StoreUnavailable | None = None
    for (kind, work), share in zip(kinds, shares(seconds_left, len(kinds), SPARE_S), strict=True):
        try:
            done.update(work(share))
        except StoreUnavailable as error:
            failure = failure or error
        except Exception as error:
            on_failure(kind, error)
            done["failed"] += 1
        done["left"] += share.left
    if failure is not None:
        raise failure
    return dict(done)


def _due(
    ports: Ports, kind: str, count: str, work: Callable[[Ports, Item], object], on_failure: Failed, share: TimeShare
) -> Counts:
    """Do ``work`` on each row that is due, which answers False where there was nothing to do. What was asked for a
    moment ago is on its way and is not read."""
    done: Counter[str] = Counter()
    until = ports.clock.now() if kind in (rows.QUEUED, rows.LEAVE, DELIVER) else None
    for item in share.of(due_rows(ports.table, kind, until)):
        try:
            counts = work(ports, item) is not False
        except BUSY:
            done["busy"] += 1
        except Exception as error:
            on_failure(kind, error)
            done["failed"] += 1
        else:
            done[count] += counts
    return done


@dataclass
class _Unreadable:
    """A counter of rows that this version cannot read: another one, which was taken back, may have written them."""

    kind: str
    on_failure: Failed
    count: int = 0

    def __call__(self, error: Exception) -> None:
        self.on_failure(self.kind, error)
        self.count += 1


def _unindexed(ports: Ports, on_failure: Failed, share: TimeShare) -> Counts:
    unreadable = _Unreadable("embed", on_failure)
    queued = requeue_pending(ports, ports.clock.now() - PENDING_FOR, share, unreadable)
    return {"embeddings": queued, "failed": unreadable.count}


def _lagging_logs(ports: Ports, on_failure: Failed, share: TimeShare) -> Counts:
    """Queue again the logs that the index is behind of, and the passes of those that fell silent or whose pass was
    lost. Those that nothing lags behind leave first: they are in the way of others."""
    now, reading, sent = ports.clock.now(), share.half(), 0
    unreadable = _Unreadable("behind", on_failure)
    unobserved: list[Waiting] = []
    logs = lagging_logs(ports.table, reading, first=first_shard(now), unreadable=unreadable)
    for part in row_parts(logs):
        for keys, progress in part:
            if progress.lag(now).none:
                leave(SessionData(ports, keys), progress, now)
        lost = list(waiting_for(PENDING_FOR, now, part))
        sent += requeue_logs(ports, lost)
        unobserved += passes_due(ports, part, now, unreadable)
        if sent >= MAX_ROWS:
            reading.left = True
            break
    share.left = share.left or reading.left
    passes = requeue_passes(ports, share.of(unobserved))
    return {"embeddings": sent, "passes": passes["lost"], "silent": passes["silent"], "failed": unreadable.count}


def _rebuild(ports: Ports, item: Item) -> None:
    """Rebuild a pack. The index lags: the row itself says whether a rebuild is still due."""
    row = ports.table.get(key_of(item))
    epoch = rows.read_epoch(row) if row else None
    if epoch and epoch.rebuild_due:
        user = tenant_scope(ports, item["tenant_id"]).of_user(item["user_id"])
        build_pack(user.of_session(epoch.session_id), epoch.rebuild_due)


def resolve_due(ports: Ports, item: Item) -> None:
    """Finish or undo a replacement of the index ``due`` whose worker died. Raises ReplacementBusy while it may live."""
    row = ports.table.get(key_of(item))
    job = rows.read_job(row) if row else None
    if job is None or job.status != "running" or job.user_id is None:
        return
    user = tenant_scope(ports, item["tenant_id"]).of_user(job.user_id)
    head = rows.read_head(ports.table.get(user.keys.head))
    if head.replacement_job == job.id:
        resolve_replacement(user, head)
