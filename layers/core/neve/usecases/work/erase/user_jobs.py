"""Removes a user's jobs, which stand among those of the whole tenant, by their ids. The worker reads all of them, page
by page, and can go on behind a page (docs/rules/erase.md#jobs)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from neve.ports.engines import Ports
from neve.ports.table import Check, Delete, Expect, Item, WriteOp, key_of
from neve.scope import UserData
from neve.store import rows
from neve.store.delete_rows import write_fenced
from neve.store.partitions import pages
from neve.usecases.core.jobs.messages.reflection import KIND
from neve.usecases.core.jobs.queued_jobs import ERASURE

PAGE = 1_000
"""Jobs of one read (*chosen*): mostly half a megabyte, which DynamoDB answers at once."""


class JobsPage(NamedTuple):
    """A page of jobs that was looked through. ``behind``: sort key of the last row that was read, of any user.
    ``removed``: how many were the user's."""

    behind: str
    removed: int


def remove_jobs(data: UserData[Ports], behind: str, fence: Check | None) -> Iterator[JobsPage]:
    """Remove the user's jobs among the tenant's jobs behind a sort key, behind an empty one among all, but for receipts
    of erasures; after each page, of any users, yields how far that is. Raises as ``remove_everything`` does."""
    table, keys = data.ports.table, data.keys
    for page in pages(table, keys.jobs, between=keys.jobs_behind(behind), page=PAGE):
        removals = _removals(data, page)
        write_fenced(table, removals, fence)
        yield JobsPage(page[-1]["sk"], len(removals))


def _removals(data: UserData[Ports], page: Sequence[Item]) -> list[WriteOp]:
    own = (item for item in page if item.get("user_id") == data.keys.user)
    return [_removal(data, item) for item in own if item["kind"] != ERASURE]


def _removal(data: UserData[Ports], item: Item) -> WriteOp:
    """Remove a job. Where it is the user's part in a tenant's run that has ended, a row without their name stays: it
    was counted, and a message that is delivered once more would count it again."""
    job = rows.read_job(item) if item["kind"] == KIND else None
    if job is not None and job.ended and "run" in job.state:
        return rows.put_job(data.keys, replace(job, user_id=None, state={}, result={}))
    return Delete(key_of(item), Expect.ANY)
