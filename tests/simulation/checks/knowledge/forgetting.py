"""What was listed and confirmed is forgotten, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neve.domain.records.jobs import Job
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import MEMORY, UserKeys
from neve.usecases.core.jobs.queued_jobs import FORGET
from neve.usecases.tell.forget.listed import Listed
from tests.simulation.checks.replay import Found, of_kind, rows_of, transactions

if TYPE_CHECKING:
    from tests.simulation.run import Run


def a_job_deletes_what_was_listed(run: Run) -> Found:
    """Each memory that goes by a job is on its list, and goes at the rev that was listed."""
    lists = _lists(run)
    for written in transactions(run):
        removed = [one.old for one in written if one.old and one.new is None and one.old["type"] == "memory"]
        gone = {old["id"]: old["rev"] for old in removed}
        for by in (one.new.get("write_id", "") for one in written if one.new and one.new["type"] == "deleted_memory"):
            listed = {entry.id: entry.at for entry in lists.get(by, ())}
            for memory, rev in gone.items() if by in lists else ():
                if listed.get(memory) != rev:
                    yield f"{by}: {memory} at rev {rev}, listed at {listed.get(memory)}"


def a_list_is_what_was_shown(run: Run) -> Found:
    """What a caller has read, with the revs that it had."""
    lists = _lists(run)
    for did in run.history.of("list_to_forget"):
        if did.ok and did.value.confirm:
            kept = {(entry.id, entry.at) for entry in lists[did.value.confirm.replace("forget_", "job_")]}
            if kept != set(did.value.memories):
                yield f"{did.who} at {did.began_s:.1f}: shown {did.value.memories}, kept {kept}"


def forgetting_ends(run: Run) -> Found:
    """When calm: the job is done, nobody comes for it any more, and its receipt accounts for the whole list. What it
    has not named is not there."""
    lists = _lists(run)
    for keys in run.history.users():
        there = {item["id"] for item in rows_of(run, keys.partition, MEMORY)}
        for job, item in _jobs(run, keys):
            if "due_pk" in item or job.status != "done":
                yield f"{job.id}: {job.status}, due {item.get('due_sk')}"
                continue
            listed, moved = {entry.id for entry in lists[job.id]}, job.result["moved"]
            told = job.result["forgotten"] + len(moved) + len(job.result["gone"])
            if told != len(listed) or (listed & there) - set(moved):
                yield f"{job.id}: {told} of {len(listed)} are told of, {sorted(listed & there)} are there"


def _lists(run: Run) -> dict[str, list[Listed]]:
    """What is to be forgotten, by the job; of a run's few memories a list has one part."""
    kept = (new for _, new in of_kind(run, "job_list") if "#listed#" in new["sk"])
    return {f"job_{new['sk'].split('#')[1]}": [Listed(*one) for one in rows.read_job_list(new)] for new in kept}


def _jobs(run: Run, keys: UserKeys) -> Iterator[tuple[Job, Item]]:
    for item in run.cloud.table.rows.values():
        if item["type"] in ("job", rows.QUEUED_JOB) and item["kind"] == FORGET:
            job = rows.read_job(item)
            if job.user_id == keys.user and item["pk"] == keys.jobs:
                yield job, item


INVARIANTS = (a_job_deletes_what_was_listed, a_list_is_what_was_shown, forgetting_ends)
