"""Keeps the list of what a caller was shown, until it is confirmed and forgotten (docs/rules/forget.md#list).

The list is that of the job that will forget it: rows of the user's that name ids and revs and no words, and go with the
job's. So a confirmed list is not copied, and no filter is asked again what it finds by then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from neve.domain.ids import TIME_DIGITS, ulid_time
from neve.domain.records.jobs import Job
from neve.domain.records.users import UserHead
from neve.domain.times import iso
from neve.ports.table import Item, Put
from neve.scope import UserScope
from neve.store import rows
from neve.store.transact import batches, transact
from neve.usecases.core.jobs.queued_jobs import FORGET

GOOD_FOR = timedelta(hours=1)
"""*Chosen*: what is shown is read, and decided on, by a person."""
PART_ENTRIES = 4_000
"""*Chosen*: 170 KB, in a row of 400 (*limit*, DynamoDB)."""
_NAME = "listed"
_CONFIRM = re.compile(r"forget_([0-7][0-9A-HJKMNP-TV-Z]{25})")


class Listed(NamedTuple):
    """Something that is to be forgotten, as it was when it was listed. ``at``: the rev of a memory; the last seq of a
    conversation."""

    kind: str
    id: str
    at: int


def new_list(scope: UserScope, listed: Sequence[Listed]) -> str:
    """Keep the list, and give the text that confirms it. Raises erasing, user_closed, conflict, StoreUnavailable."""
    now = scope.ports.clock.now()
    ulid = scope.ports.ids.ulid(now)
    job = Job(f"job_{ulid}", FORGET, "queued", iso(now), user_id=scope.user)
    parts = list(enumerate(batches(listed, most=PART_ENTRIES)))
    for n, part in reversed(parts):  # whoever finds the first one finds all
        put = rows.put_job_list(scope.keys, job, _NAME, str(n), part)

        def attempt(put: Put = put) -> None:
            head = rows.read_head(scope.ports.table.get(scope.keys.head))
            rows.writable(head)
            scope.ports.table.write([rows.check_head(scope.keys, head), put])

        transact(scope.ports, attempt)
    return f"forget_{ulid}"


def job_of(confirm: str, now: datetime) -> str | None:
    """Give the id of the job that a text confirms; None for any other text, and for one that is too old."""
    named = _CONFIRM.fullmatch(confirm)
    if named is None or named[1][:TIME_DIGITS] < ulid_time(now - GOOD_FOR):
        return None
    return f"job_{named[1]}"


def read_part(scope: UserScope, job_id: str, part: int) -> list[Listed]:
    """Read a part of the list of a job; empty behind the last one. Raises StoreUnavailable."""
    item = scope.ports.table.get(scope.keys.job_list(job_id, _NAME, str(part)))
    return _entries(item) if item else []


def read_confirmed(scope: UserScope, job_id: str) -> tuple[UserHead, Job | None, bool]:
    """Read the user's row, the job if there is one by now, and whether there is such a list. Raises
    StoreUnavailable."""
    keys = scope.keys
    list_row = keys.job_list(job_id, _NAME, "0")
    found = scope.ports.table.get_many([keys.head, keys.job(job_id), list_row])
    job = rows.read_job(found[keys.job(job_id)]) if keys.job(job_id) in found else None
    return rows.read_head(found.get(keys.head)), job, list_row in found


def _entries(item: Item) -> list[Listed]:
    return [Listed(*entry) for entry in rows.read_job_list(item)]
