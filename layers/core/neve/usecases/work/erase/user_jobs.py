"""Find a user's jobs, which stand among those of the whole tenant, by their ids: all of them are read, page by page
(docs/rules/erase.md#jobs)."""

from __future__ import annotations

from dataclasses import replace

from neve.ports.engines import Ports
from neve.ports.table import Delete, Expect, Item, WriteOp, key_of
from neve.scope import UserData
from neve.store import rows
from neve.store.partitions import pages
from neve.usecases.core.jobs.messages.reflection import KIND
from neve.usecases.core.jobs.queued_jobs import ERASURE

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
            ops.append(_removal(data, item))
        if len(ops) == at_most:
            return ops, str(item["sk"])
    return ops, str(page[-1]["sk"]) if page else ""


def _removal(data: UserData[Ports], item: Item) -> WriteOp:
    """Remove a job. Where it is the user's part in a tenant's run that has ended, a row without their name stays: it
    was counted, and a message that is delivered once more would count it again."""
    job = rows.read_job(item) if item["kind"] == KIND else None
    if job is not None and job.ended and "run" in job.state:
        return rows.put_job(data.keys, replace(job, user_id=None, state={}, result={}))
    return Delete(key_of(item), Expect.ANY)
