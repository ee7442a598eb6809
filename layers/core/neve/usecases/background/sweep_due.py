"""Every ten minutes: pick up what a crash or an outage left behind (docs/rules/jobs.md#sweep)."""

from __future__ import annotations

from datetime import timedelta

from neve.domain.errors import NeveError
from neve.ports import Conflict, Item, Ports, StoreUnavailable, key_of
from neve.store import rows
from neve.store.partitions import due_rows
from neve.usecases.background.end_idle import end_idle
from neve.usecases.documents.unmade_documents import clear_unmade
from neve.usecases.indexing.requeue import logs_behind, requeue_logs, requeue_pending, waiting_for
from neve.usecases.jobs.queued_jobs import KINDS, send_again
from neve.usecases.observe.requeue_passes import requeue_passes
from neve.usecases.pack.build_pack import build_pack
from neve.usecases.reflect.replace_rows import ReplacementBusy, resolve_replacement
from neve.usecases.sessions.memory_lag import leave
from neve.usecases.sessions.retain_logs import send_expired
from neve.usecases.tenants.policy_in_force import tenant_scope

PENDING_FOR = timedelta(minutes=10)
"""What is still pending after this long has lost its message (docs/rules/indexing.md#sweep)."""


def sweep_due(ports: Ports) -> dict[str, int]:
    """Counts by kind of work: packs rebuilt, replacements resolved, erasures and exports that go on, sessions closed
    and ended, embeddings and passes queued again, sessions with events whose time is over, long texts that were
    announced an hour ago, and failures, which stay due and are tried again by the next sweep."""
    done = {"rebuilt": 0, "replacements": 0, "jobs": 0, "failed": 0}
    for kind, count, work in (
        ("rebuild", "rebuilt", _rebuild),
        ("replace", "replacements", resolve_due),
        *((kind, "jobs", send_again) for kind in KINDS),
    ):
        for item in due_rows(ports.table, kind):
            try:
                work(ports, item)
            except (StoreUnavailable, Conflict, ReplacementBusy, NeveError):
                done["failed"] += 1
            else:
                done[count] += 1
    done |= end_idle(ports)
    now, behind = ports.clock.now(), logs_behind(ports.table)
    lost = list(waiting_for(PENDING_FOR, now, behind))
    done["embeddings"] = requeue_pending(ports, older_than=now - PENDING_FOR) + requeue_logs(ports, lost)
    done["retained"] = send_expired(ports)
    done["texts"] = clear_unmade(ports)
    done["passes"] = requeue_passes(ports, lost)
    for keys, progress in behind:
        if progress.lag(now).none:
            leave(ports, keys, progress)
    return done


def _rebuild(ports: Ports, item: Item) -> None:
    """The index lags: the row itself says whether a rebuild is still due."""
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
