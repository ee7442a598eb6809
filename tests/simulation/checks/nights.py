"""Nights: what they take, what they count, and what they leave alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Memory, Scope, Status
from neve.domain.reflect.nightly import is_candidate
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import DUE_SHARDS, MEMORY, Keys, UserKeys
from neve.usecases.core.jobs.queued_jobs import HANDED_IN, handed_in_by
from tests.simulation.checks.replay import Found, of_kind, rows_of, transactions

if TYPE_CHECKING:
    from tests.simulation.run import Run


def a_night_takes_what_it_may(run: Run) -> Found:
    """Observations, and reflections of a session; what it makes are global reflections, which no other night takes."""
    written = {item["id"]: item for _, item in of_kind(run, "memory")}
    for keys, job in _replacements(run):
        for source in job.state["old"]:
            item = written[source]
            if not is_candidate(item["kind"], item["scope"]):
                yield f"{keys.user}: {source} is a {item['kind']} of scope {item['scope']}"
        for item in (written[made] for made in job.state["new"] if made in written):  # not all were, of what was undone
            if (item["kind"], item["scope"], item.get("session_id")) != (Kind.REFLECTION, Scope.GLOBAL, None):
                yield f"{keys.user}: {item['id']} is a {item['kind']} of scope {item['scope']}"


def a_night_leaves_packs_alone(run: Run) -> Found:
    """Its flip moves no session's epoch row, which holds the pointer to the pack and what makes it be rebuilt."""
    nightly = {job.id for _, job in _replacements(run)}
    for together in transactions(run):
        written = [w for w in together if w.old is not None and w.new is not None and w.new["type"] == "user"]
        heads = [w.new for w in written if w.new and w.old and w.new["gen"] != w.old["gen"]]
        if any(head.get("replaced_by") in nightly for head in heads):
            yield from (f"{w.key} moved with a night" for w in together if w.new and w.new["type"] == "epoch")


def what_jobs_count_is_what_was_done(run: Run) -> Found:
    """As many rows as all jobs of a user say, in the replacements that are done."""
    done: Counter[UserKeys] = Counter()
    for keys, job in _replacements(run):
        if job.status == "done":
            done[keys] += len(job.state["old"])
    counted: Counter[UserKeys] = Counter()
    for keys, job in _user_jobs(run):
        counted[keys] += job.result.get("replaced", 0)
    for keys in done.keys() | counted.keys():
        if done[keys] != counted[keys] and keys not in run.erased:
            yield f"{keys.user}: {done[keys]} rows were replaced, {counted[keys]} are counted"


def a_run_ends_each_user_once(run: Run) -> Found:
    """When nothing is left to do, every user that was told of has ended, and is counted once."""
    for item in run.cloud.table.rows.values():
        if item.get("kind") != "reflect" or "user_id" in item:
            continue
        job, keys = rows.read_job(item), Keys(item["pk"].split("#")[1])
        parts = [run.cloud.table.rows.get(keys.job_part(job.id, n)) for n in range(DUE_SHARDS)]
        ended = sum(int(part["users"]) for part in parts if part)
        if job.status != "done" or ended != job.result["users"]:
            yield f"{job.id}: {job.status}, {job.result.get('users', 0)} users were told of, {ended} ended"


def nobody_is_left_with_a_job(run: Run) -> Found:
    """When nothing is left to do, no user is taken up."""
    for item in run.cloud.table.rows.values():
        if item["type"] == "reflect_due" and "job" in item:
            yield f"{item['user_id']}: {item['job']}"


def what_was_condensed_is_reported_once(run: Run) -> Found:
    """Of a row that a night took, its rows name it, and it is no longer active."""
    for keys, job in _replacements(run):
        if job.status != "done":
            continue
        found = {m.id: m for m in _memories(run, keys)}
        for source in job.state["old"]:
            if source in found and found[source].status is not Status.SUPERSEDED:
                yield f"{keys.user}: {source} was condensed and is {found[source].status}"


def _memories(run: Run, keys: UserKeys) -> Iterator[Memory]:
    return map(rows.read_memory, rows_of(run, keys.partition, MEMORY))


def what_was_handed_in_is_deleted(run: Run) -> Found:
    """When nothing is left to do, whatever became of the job and of its user; unless the provider would not."""
    jobs = [rows.read_job(item) for _, item in of_kind(run, rows.QUEUED_JOB)]
    noted = {handed_in_by(job) for job in jobs}
    ended = [rows.read_job(item) for _, item in of_kind(run, "job") if item["kind"] == HANDED_IN]
    refused = {job.state.get("cursor", {}).get("name") for job in ended}
    yield from (f"{name} is still there" for name in noted & run.cloud.batches.keys() - refused)


def who_has_rows_for_a_night_is_due(run: Run) -> Found:
    """Of users whom no night has looked at yet."""
    seen = {keys for keys, _ in _user_jobs(run)}
    for keys in run.history.users():
        if keys in seen or keys.reflect_due in run.cloud.table.rows:
            continue
        for item in rows_of(run, keys.partition, MEMORY):
            if item["status"] == Status.ACTIVE and is_candidate(item["kind"], item["scope"]):
                yield f"{keys.user}: {item['id']} could be condensed, and no night knows of it"


def _replacements(run: Run) -> list[tuple[UserKeys, Job]]:
    """Of nights: those that belong to no session."""
    return [(keys, job) for keys, job in _jobs(run, "replace") if job.session_id is None]


def _user_jobs(run: Run) -> list[tuple[UserKeys, Job]]:
    return _jobs(run, "reflect")


def _jobs(run: Run, kind: str) -> list[tuple[UserKeys, Job]]:
    """Of users, as they last were."""
    last: dict[tuple[str, str], Item] = {}
    for _, item in of_kind(run, "job"):
        if item["kind"] == kind and "user_id" in item:
            last[item["pk"], item["sk"]] = item
    return [(UserKeys(pk.split("#")[1], item["user_id"]), rows.read_job(item)) for (pk, _), item in last.items()]


INVARIANTS = (
    a_night_takes_what_it_may,
    a_night_leaves_packs_alone,
    what_jobs_count_is_what_was_done,
    a_run_ends_each_user_once,
    nobody_is_left_with_a_job,
    what_was_condensed_is_reported_once,
    what_was_handed_in_is_deleted,
    who_has_rows_for_a_night_is_due,
)
