"""Lists of a job that grow with a session or a user (docs/rules/jobs.md#long-lists).

A short list is in the job's row. A long one is in rows of its own, of some thousand entries each: the job's row says
how many entries there are, and names these parts by a hash of what they hold. So a part is never changed, and a worker
that writes a list again writes the same rows. A job from before there were parts has its lists in its row."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from neve.domain.records.jobs import Job
from neve.ports.table import Put, Table
from neve.scope import UserScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.keys import UserKeys
from neve.store.transact import batches, item_bytes

INLINE_BYTES = 20_000
"""*Chosen*: of JSON, for one list in the job's row, which is written with each step: 600 ids."""
PART_ENTRIES, PART_BYTES = 4_000, 200_000
"""*Chosen*: a row has 400 KB (*limit*, DynamoDB)."""
_PARTS = "parts"


def count(job: Job, name: str) -> int:
    """Return how many entries the list has."""
    kept = job.state.get(name, ())
    return kept if isinstance(kept, int) else len(kept)


def entries(table: Table, keys: UserKeys, job: Job, name: str) -> Iterator[Any]:
    """Yield the entries of a list of a job as its row is; a part is read when its first entry is asked for. Raises
    UserErased where a part is gone, StoreUnavailable."""
    kept = job.state.get(name, ())
    if not isinstance(kept, int):
        yield from kept
        return
    for part in job.state[_PARTS][name]:
        item = table.get(keys.job_list(job.id, name, part))
        if item is None:
            raise UserErased
        yield from rows.read_job_list(item)


def whole(table: Table, keys: UserKeys, job: Job) -> Job:
    """Return the job with all its lists in its state. Raises as ``entries``."""
    if _PARTS not in job.state:
        return job
    state = {name: value for name, value in job.state.items() if name != _PARTS}
    return replace(job, state=state | {name: list(entries(table, keys, job, name)) for name in job.state[_PARTS]})


def in_parts(scope: UserScope, job: Job, names: Collection[str], before: Job) -> Job:
    """Return the ``whole`` job as its row keeps it: long lists are left out, and their parts written. ``before``: the
    job as its row is, whose parts are there already. Nothing is written for a user who was erased. Raises UserErased,
    Conflict, StoreUnavailable."""
    known, parts, state = before.state.get(_PARTS, {}), dict[str, list[str]](), dict(job.state)
    for name in names:
        if is_long(job.state.get(name, ())):
            found = dict(_parts(job.state[name]))
            new = [part for part in found if part not in known.get(name, ())]
            _write(scope, job, [rows.put_job_list(scope.keys, job, name, part, found[part]) for part in new])
            state[name], parts[name] = len(job.state[name]), list(found)
    return replace(job, state=state | {_PARTS: parts} if parts else state)


def is_long(listed: Sequence[Any]) -> bool:
    """Say whether a list is too long for the job's row."""
    return len(rows.json_bytes(listed)) > INLINE_BYTES


def _parts(listed: Sequence[Any]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the parts of a list by their names. No two parts hold the same: no list names anything twice."""
    for part in batches(listed, lambda one: len(rows.json_bytes(one)), most=PART_ENTRIES, largest=PART_BYTES):
        yield sha256(rows.json_bytes(part)).hexdigest()[:16], part


def _write(scope: UserScope, job: Job, puts: Sequence[Put]) -> None:
    table, keys = scope.ports.table, scope.keys
    for some in batches(puts, lambda put: item_bytes(put.item)):
        head = rows.read_head(table.get(keys.head))
        still_there(head, head.incarnation if job.incarnation is None else job.incarnation)
        table.write([rows.check_head(keys, head), *some])
