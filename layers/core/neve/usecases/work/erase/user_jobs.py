"""Find a user's jobs, which stand among those of the whole tenant, by their ids: all of them are read, page by page
(docs/rules/erase.md#jobs)."""

from __future__ import annotations

from neve.ports.engines import Ports
from neve.ports.table import Delete, Expect, Item, WriteOp, key_of
from neve.scope import UserData
from neve.store import rows
from neve.store.partitions import pages
from neve.usecases.core.jobs.queued_jobs import ERASURE
from neve.usecases.work.reflect.run_parts import part_put, part_row

PAGE = 1_000
"""Jobs of one read (*chosen*): mostly half a megabyte, which DynamoDB answers at once."""


def remove_jobs(data: UserData[Ports], behind: str, at_most: int) -> tuple[list[WriteOp], str]:
    """Look through the next page of the tenant's jobs behind a sort key, behind an empty one the first. Return what
    removes those of them that are the user's, but for receipts of erasures, and behind which row the next look goes on:
    no row, behind the last page. Raises StoreUnavailable."""
    ops: list[WriteOp] = []
    page = next(pages(data.ports.table, data.keys.jobs, between=data.keys.jobs_behind(behind), page=PAGE), [])
    for item in page:
        if item.get("user_id") == data.keys.user and item["kind"] != ERASURE:
            counted = _counted(data, item)
            ops += [Delete(key_of(item), Expect.ANY), *counted]
            if counted or len(ops) > at_most - 2:  # the next one may be counted in the same row
                return ops, str(item["sk"])
    return ops, str(page[-1]["sk"]) if page else ""


def _counted(data: UserData[Ports], item: Item) -> list[WriteOp]:
    """Count a job that has not ended in the run over all users that it is a part of: it ends with the user."""
    job, now = rows.read_job(item), data.ports.clock.now()
    parts = [] if job.ended else part_row(data.keys, job.state.get("run"))
    return [part_put(key, data.ports.table.get(key), {}, now, failed=False) for key in parts]
