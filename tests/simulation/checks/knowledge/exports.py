"""Exports of what is kept of a user."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neve.domain.memories.visibility import born
from neve.domain.records.jobs import Job
from neve.ports.table import Item, Key, key_of
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys, job_of_export
from neve.usecases.core.jobs.queued_jobs import EXPORT
from neve.usecases.work.export.withdraw_exports import REASON
from tests.simulation.checks.memories import memories_of
from tests.simulation.checks.replay import Found, log_of, row

if TYPE_CHECKING:
    from tests.simulation.run import Run


def an_export_ends(run: Run) -> Found:
    """When calm: it is done, or says that messages were deleted, which somebody has asked for; nobody comes for it any
    more."""
    for keys in run.history.users():
        for job, item in _exports(run, keys):
            if "due_pk" in item or not job.ended:
                yield f"{job.id}: {job.status}, due {item.get('due_sk')}"
            if job.status == "failed" and (job.result != {"reason": REASON} or not _may_delete(run, keys)):
                yield f"{job.id}: failed with {job.result}"


def its_parts_are_what_it_says(run: Run) -> Found:
    """When calm: a part, its bytes and its lines by type, and no other part; none of one that failed, and none without
    a job."""
    for keys in run.history.users():
        told = {job.id: job for job, _ in _exports(run, keys)}
        there = _parts(run, keys)
        yield from (
            f"{job_id}: {len(parts)} parts, and no job" for job_id, parts in there.items() if job_id not in told
        )
        for job in told.values():
            parts = there.get(job.id, [])
            said = [(part["bytes"], part["lines"]) for part in job.result.get("parts", ())]
            is_there = [(len(part), len(part.splitlines())) for part in parts]
            if said != is_there:
                yield f"{job.id}: {said} is said, there is {is_there}"
            if job.status == "done" and job.result["lines"] != Counter(line["type"] for line in _lines(parts)):
                yield f"{job.id}: {job.result['lines']} is said of its lines"


def an_export_is_whole(run: Run) -> Found:
    """Of one that is done: what was there when a worker took it up, and is there when calm, is in it; and each once,
    however many workers have written it."""
    for keys in run.history.users():
        there = _parts(run, keys)
        for job, _ in _exports(run, keys):
            if job.status != "done":
                continue
            found = Counter(map(_name, _lines(there.get(job.id, []))))
            yield from (f"{job.id}: {name} {count} times" for name, count in found.items() if count > 1 and name[1])
            missing = [name for name in _lasting(run, keys, job) if not found[name]]
            if missing:
                yield f"{job.id}: {missing[:5]} is missing"


def what_is_loaded_is_what_was_told(run: Run) -> Found:
    """From an address that is signed: the bytes that the job says, or nothing any more, once messages were deleted or
    the user is erased."""
    for did in run.history.of("load"):
        for part in did.value if did.ok else ():
            gone = part.body is None and (_may_delete(run, did.keys) or _erased(run, did.keys))
            if not gone and (part.body is None or len(part.body) != part.size):
                yield f"{did.who} at {did.began_s:.1f}: told {part.size}, got {part.body and len(part.body)}"


def _exports(run: Run, keys: UserKeys) -> Iterator[tuple[Job, Item]]:
    """Of the user as they are by now: an erasure takes the jobs, too."""
    for item in run.cloud.table.rows.values():
        if item["type"] == "job" and item["kind"] == EXPORT and key_of(item) == keys.job(item["id"]):
            job = rows.read_job(item)
            if job.user_id == keys.user:
                yield job, item


def _parts(run: Run, keys: UserKeys) -> dict[str, list[bytes]]:
    parts: dict[str, list[bytes]] = {}
    objects = run.cloud.objects.objects
    for name in sorted(name for name in objects if name.startswith(keys.exports_prefix)):
        parts.setdefault(job_of_export(name), []).append(objects[name].body)
    return parts


def _lines(parts: list[bytes]) -> Iterator[dict[str, Any]]:
    for part in parts:
        yield from map(json.loads, part.splitlines())


Name = tuple[str, object]


def _name(line: dict[str, Any]) -> Name:
    """Without one where a line may come again: what is moved meanwhile is read at both paths."""
    kind = line["type"]
    if kind == "event":
        return kind, (line["session_id"], line["seq"])
    return kind, {"memory": line.get("id"), "session": line.get("session_id"), "export": "first"}.get(kind)


def _lasting(run: Run, keys: UserKeys, job: Job) -> Iterator[Name]:
    """Memories and events whose rows stood before a worker took the job up first, and stand now."""
    taken_s = next(
        written.at_s
        for written in run.cloud.table.log
        if written.key == keys.job(job.id) and written.new is not None and written.new["status"] == "running"
    )
    made_s = {written.key: written.at_s for written in run.cloud.table.log if written.old is None}
    before = {key for key, at_s in made_s.items() if at_s < taken_s}
    head = rows.read_head(_before(run, keys.head, taken_s))
    for memory in memories_of(run, keys):
        if born(memory.born_gen, head.gen) and keys.memory(memory.id) in before:
            yield "memory", memory.id
    for session in _sessions(run, keys):
        for item in log_of(run, session):
            if Key(item["pk"], item["sk"]) in before:
                yield "event", (session.session, item["seq"])


def _before(run: Run, key: Key, at_s: float) -> Item | None:
    found: Item | None = None
    for written in run.cloud.table.log:
        if written.key == key and written.at_s < at_s:
            found = written.new
    return found


def _sessions(run: Run, keys: UserKeys) -> list[SessionKeys]:
    mine = (session for session in run.history.sessions() if (session.tenant, session.user) == (keys.tenant, keys.user))
    return [session for session in mine if row(run, session, "session_head")]


def _may_delete(run: Run, keys: UserKeys) -> bool:
    asked = (did for did in run.history.of("retract") if did.given.reason == "deleted")
    return any((did.keys.tenant, did.keys.user) == (keys.tenant, keys.user) for did in asked)


def _erased(run: Run, keys: UserKeys) -> bool:
    return UserKeys(keys.tenant, keys.user) in run.erased


INVARIANTS = (an_export_ends, its_parts_are_what_it_says, an_export_is_whole, what_is_loaded_is_what_was_told)
