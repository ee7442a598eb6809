"""Keeps the job of a retraction: how far it has come (docs/rules/retract.md#job)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from neve.domain.memories.made_of import whole_range
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Memory
from neve.ports.table import Table, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.core.jobs import long_lists

REPLACED, REVERTED, SUMMARY, ERASED, PACK = "replaced", "unfiled", "summary", "erased", "pack"
"""Steps of the job that are noted in its state when they are done."""
NARROWED = "narrowed"
"""The part of the state that says what the observer would not read of what is left, until a pass over it is
committed."""
MEANWHILE = "pack meanwhile"
"""The step that builds the pack without what the model refuses to read. It is built again behind that."""
TOUCHED, KEPT, REVISIONS, DESCRIBED, GONE, PURGED = "touched", "kept", "revisions", "described", "gone", "purged"
"""Lists of the job's state that grow with the user: ids of memories that are to be erased, and of facts of which
something is kept; id and rev of documents' revisions, of those that stay and say something of them, and of what was
deleted before; ids of sessions whose packs were purged."""
LATER, WRITTEN = "later", "written"
"""Further lists: what is to be read again behind that which ``again`` in the state names; ids of memories that were
made of what was read before, which ``written`` in the result does not name any more."""
REBUILT = "rebuilt"
"""Ids of the sessions whose packs have been built again: while others are to be, and where they are too many for the
result."""
SESSIONS, EMPTIED, AT_PATHS = "sessions", "emptied", "at_paths"
"""Lists of the documents that are taken back: ids of the other sessions whose words go with them, of those that are
deleted, and of those that stay where such words have put them."""
FILE_AGAIN, WAITING = "file_again", "waiting"
"""Lists of what follows them: ids of the sessions that are to be filed again; id and kind of the jobs that wait for
that."""
COUNTED = "counted"
"""Counts of documents for the receipt: how many revisions, and how many vectors."""
LOOKS, MOVED, CHANGED, ASKED = "looks", "moved", "changed", "asked"
"""Counts of how far the documents are: how often documents were found that are to be taken back; of how many of those
sessions the cursor has moved since then; how much of the documents workers that had no time for more have changed; how
many of the sessions have been asked to be filed again."""
LONG_LISTS = (
    *(TOUCHED, KEPT, REVISIONS, DESCRIBED, GONE, PURGED, LATER, WRITTEN, REBUILT),
    *(SESSIONS, EMPTIED, AT_PATHS, FILE_AGAIN, WAITING),
)
ROUND_S = 30.0
"""Seconds of a worker's time that a further part of the work needs to begin (*chosen*): with less the next worker goes
on. To look at all that the user has takes some ten seconds for 100,000 events."""
AT_ONCE = 500
"""*Chosen*: places in ``again``, which is written with each of them."""
STILL_NEW = 100
"""*Chosen*: ids that stay in the result: those that a pack's index may not have yet are read by them."""
_PURGING = "purging"
"""The state that says, by step, how far the packs are looked through for versions that are to go, while there are
others."""
_TAKEN = "taken"
"""The count of ``later`` that have been in ``again``."""
REBUILDING = "rebuilding"
"""The state that says, by step, how many of those sessions have been tried, while others are to be."""


class JobEnded(Exception):
    """Another worker has ended the job: one that still works at it has nothing left to do."""


def is_done(job: Job, step: str) -> bool:
    return step in job.state.get("done", ())


def after(job: Job, step: str, result: dict[str, Any] | None = None, **state: Any) -> Job:
    """Give the running job once a step is done."""
    done = [*job.state.get("done", ()), step]
    return replace(
        job, status="running", state={**job.state, **state, "done": done}, result={**job.result, **(result or {})}
    )


def note(scope: SessionScope, job_id: str, change: Callable[[Job], Job]) -> Job:
    """Change the job, and give it as it is after that. The change sees its long lists whole, and so does the caller
    that gets the job. Raises UserErased, JobEnded, StoreUnavailable."""

    def attempt() -> Job:
        changed, ops = to_note(scope, job_id, change)
        if ops:
            scope.ports.table.write(ops)
        return replace(changed, version=changed.version + len(ops))

    return transact(scope.ports, attempt)


def to_note(scope: SessionScope, job_id: str, change: Callable[[Job], Job]) -> tuple[Job, list[WriteOp]]:
    """Change the job as ``note`` does, for a transaction that writes more: give the changed job, at the version that it
    was read at, and what writes its row, which is nothing where nothing changes. The parts of long lists that the row
    is to name are there by then; where it is not written after all, they expire. Raises Conflict, UserErased, JobEnded,
    StoreUnavailable."""
    job = read(scope, job_id)
    seen = with_lists(scope, job)
    changed = change(seen)
    return changed, [] if changed == seen else to_write(scope, changed, job)


def to_write(scope: SessionScope, changed: Job, before: Job) -> list[WriteOp]:
    """Write the row of the changed job, with its long lists whole. ``before``: as its row was read. Raises as
    ``to_note``."""
    return [rows.put_job(scope.keys, long_lists.in_parts(scope, changed, LONG_LISTS, before))]


def read(scope: SessionScope, job_id: str) -> Job:
    """Read the job as its row is: what it says of a long list is for ``read_list``. Raises UserErased when its row is
    gone, JobEnded."""
    item = scope.ports.table.get(scope.keys.job(job_id))
    if item is None:
        raise UserErased
    job = rows.read_job(item)
    if job.status == "done":
        raise JobEnded
    return job


def read_list(scope: SessionScope, job: Job, name: str) -> Iterator[Any]:
    """Read a long list of a job as its row is, page by page. Raises UserErased, StoreUnavailable."""
    return long_lists.entries(scope.ports.table, scope.keys, job, name)


def with_lists(scope: SessionScope, job: Job) -> Job:
    """Read the long lists into a job as its row is. Raises UserErased, StoreUnavailable."""
    return long_lists.whole(scope.ports.table, scope.keys, job)


# --- what is to be read again -----------------------------------------------------------------------


def place_to_read(observation: Memory) -> list[Any]:
    """Make the entry of an observation in ``again``."""
    return [observation.id, *whole_range(observation, observation.provenance.session_id)]


def to_read(job: Job, places: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Give the part of the state of a job that has read nothing yet, with these places behind those that it has. Each:
    as ``place_to_read`` has it."""
    places = [*job.state.get("again", ()), *places]
    later = [*job.state.get(LATER, ()), *places[AT_ONCE:]]
    return {"again": places[:AT_ONCE]} | ({LATER: later} if later else {})


def has_more_to_read(job: Job) -> bool:
    """Say whether there are places behind ``again``."""
    return long_lists.count(job, LATER) > int(job.state.get(_TAKEN, 0))


def with_next_to_read(job: Job) -> Job:
    """Move the next places into ``again`` of the job, with its long lists whole; as it is where there are some."""
    taken, written = job.state.get(_TAKEN, 0), job.result.get("written", [])
    if job.state.get("again") or not has_more_to_read(job):
        return job
    moved = {"again": job.state[LATER][taken : taken + AT_ONCE], _TAKEN: taken + AT_ONCE}
    moved[WRITTEN] = [*job.state.get(WRITTEN, ()), *written[:-STILL_NEW]]
    return replace(job, state=job.state | moved, result=job.result | {"written": written[-STILL_NEW:]})


# --- packs that are purged --------------------------------------------------------------------------


def purging_so_far(job: Job, step: str) -> Mapping[str, Any]:
    """Give what ``after_pages`` has noted; empty where nothing was."""
    noted: Mapping[str, Any] = job.state.get(_PURGING, {}).get(step, {})
    return noted


def after_pages(job: Job, step: str, purge: Mapping[str, Any]) -> Job:
    """Note how far a purge is. ``purge``: how far a worker has come that has no time for more."""
    return replace(job, state={**job.state, _PURGING: {**job.state.get(_PURGING, {}), step: dict(purge)}})


# --- packs that are built again -----------------------------------------------------------------------


def purging(sessions: Sequence[str], job: Job) -> Job:
    """Note sessions whose packs are built again when the job is done, as are those that a worker before has noted. To
    be noted before the packs are purged: afterwards the sessions cannot be found."""
    purged = list(dict.fromkeys([*job.state.get(PURGED, ()), *sessions]))
    return replace(job, state={**job.state, PURGED: purged}) if sessions else job


def rebuilt_so_far(job: Job, step: str) -> int:
    """Give of how many sessions that are ``purged`` an earlier worker has built the packs."""
    return int(job.state.get(REBUILDING, {}).get(step, 0))


def rebuilding(step: str, done: int, rebuilt: Sequence[str], job: Job) -> Job:
    """Note how far packs are built again. ``done``: sessions that were tried; ``rebuilt``: those that have a pack
    now."""
    return replace(job, state={**job.state, REBUILDING: {step: done}, REBUILT: list(rebuilt)})


def after_packs(step: str, rebuilt: Sequence[str], job: Job) -> Job:
    """Give the job behind a step that built packs again."""
    state = {name: value for name, value in job.state.items() if name not in (REBUILDING, REBUILT)}
    if long_lists.is_long(rebuilt):
        state, rebuilt = state | {REBUILT: rebuilt}, []
    erased = {**job.result.get("erased", {}), "rebuilt_packs": list(rebuilt)}
    return after(replace(job, state=state), step, {"erased": erased})


# --- what is told of it -----------------------------------------------------------------------------


def with_whole_result(table: Table, keys: UserKeys, job: Job) -> Job:
    """Read into the job what of its result its row has no room for. Raises UserErased, StoreUnavailable."""
    result = dict(job.result)
    if written := list(long_lists.entries(table, keys, job, WRITTEN)):
        result["written"] = [*written, *result.get("written", ())]
    if "erased" in result and (rebuilt := list(long_lists.entries(table, keys, job, REBUILT))):
        result["erased"] = result["erased"] | {"rebuilt_packs": rebuilt}
    return replace(job, result=result)
