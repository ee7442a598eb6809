"""Forget what was listed and confirmed: these memories and no others (docs/rules/forget.md#job)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neve.domain.errors import NeveError
from neve.domain.memories.copies import Copy, in_order
from neve.scope import UserScope
from neve.store.incarnation import UserErased
from neve.store.memories import memories_of
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run
from neve.usecases.core.pack.purge_versions import BEGINNING, Holds, PackVersion, PurgePlace, packs_with, purge_pages
from neve.usecases.tell.forget.listed import Listed, read_part
from neve.usecases.tell.memories.copies.also_in import MAX_NAMED, also_in
from neve.usecases.tell.memories.copies.derived_memories import derived_memories
from neve.usecases.tell.memories.delete_memory import delete_listed
from neve.usecases.tell.requests.retract_events import Retract, retract_events

BATCH = 20
"""Memories of one step (*chosen*): some hundred table calls."""
MAX_LOOKED = 500
"""*Chosen*: memories of which is looked for where else their words stand, ten reads each."""
MAX_TOLD = 1_000
"""Ids that a receipt has of each list (*chosen*): 30 KB."""


def forget_next(run: Run) -> Outcome | None:
    """Do one step. Of the next memories of the list first look where else stands what they say, which nobody can once
    they are gone; then delete those that are as they were listed. Behind the list look through the packs. A step that
    is repeated finds what it has deleted by the job's name on what is left of it. Raises StoreUnavailable, conflict."""
    at: dict[str, Any] = {"part": 0, "n": 0, "looked": 0} | run.cursor
    if at.get("packs") is not None:
        return _packs(run, at)
    part = read_part(run.scope, run.work.id, at["part"])
    listed = part[at["n"] : at["n"] + BATCH]
    if not part:
        return More(at | {"packs": list(BEGINNING)}, result=_blank() | run.work.result)
    if not listed:
        return More(at | {"part": at["part"] + 1, "n": 0, "looked": 0})
    if at["looked"] <= at["n"]:
        result = _with_copies(run, listed, {one.id for one in part})
        return More(at | {"looked": at["n"] + BATCH}, result=result)
    return More(at | {"n": at["n"] + BATCH}, result=_forget(run, listed))


def _blank() -> dict[str, Any]:
    return {"forgotten": 0, "moved": [], "gone": [], "derived": [], "also_in": [], "also_in_complete": True}


# --- the list -----------------------------------------------------------------------------------


def _with_copies(run: Run, listed: Sequence[Listed], known: set[str]) -> dict[str, Any]:
    """Give the result with where else stands what these memories say. ``known``: ids that are to go, too."""
    scope, result = run.scope, _blank() | run.work.result
    ids = [one.id for one in listed if one.kind == "memory"]
    looked = int(run.work.result.get("forgotten", 0)) + len(result["moved"]) + len(result["gone"])
    for memory in memories_of(scope.ports.table, scope.keys, ids):
        if len(result["also_in"]) >= MAX_NAMED or looked >= MAX_LOOKED:
            return result | {"also_in_complete": False}
        looked += 1
        derived = [row.id for row in derived_memories(scope, memory) if row.id not in known]
        result["derived"] = list(dict.fromkeys([*result["derived"], *derived]))[:MAX_TOLD]
        found = also_in(scope, memory, known | set(derived))
        told = [*result["also_in"], *(_told(copy) for copy in in_order(found.copies))]
        distinct = {str(sorted(one.items())): one for one in told}
        result["also_in"] = list(distinct.values())[:MAX_NAMED]
        result["also_in_complete"] &= found.complete and len(distinct) <= MAX_NAMED
    return result


def _told(copy: Copy) -> dict[str, Any]:
    """Write a place into a job's row, which names a document by its id: a path holds words."""
    named: dict[str, Any] = {"where": copy.place, "because": copy.because, "id": copy.id, "session_id": copy.session_id}
    named |= {"status": copy.status, "seq_from": copy.seq_from, "seq_to": copy.seq_to}
    return {name: value for name, value in named.items() if value is not None}


def _forget(run: Run, listed: Sequence[Listed]) -> dict[str, Any]:
    """Forget those that are as they were listed, and give the result."""
    result = _blank() | run.work.result
    for one in listed:
        became = _retract(run.scope, one, result) if one.kind == "conversation" else _delete(run, one)
        if became == "forgotten":
            result["forgotten"] += one.kind == "memory"
        else:
            result[became] = [*result[became], one.id][:MAX_TOLD]
    return result


def _delete(run: Run, one: Listed) -> str:
    try:
        delete_listed(run.scope, one.id, one.at, run.work.id)
    except NeveError as refusal:
        return _left(refusal, {"precondition_failed": "moved", "memory_not_found": "gone"})
    return "forgotten"


def _retract(scope: UserScope, one: Listed, result: dict[str, Any]) -> str:
    """Take a conversation back as far as it was listed. What it was made of goes with the retraction's own job."""
    try:
        taken = retract_events(scope.of_session(one.id), Retract(1, one.at, "deleted"))
    except NeveError as refusal:
        return _left(refusal, {"session_not_found": "gone"})
    named = {"session_id": one.id, "to_seq": taken.to_seq, "job_id": taken.job_id}
    result["conversations"] = [*result.get("conversations", []), named]
    return "forgotten"


def _left(refusal: NeveError, reasons: Mapping[str, str]) -> str:
    """Say why something was left. Raises UserErased of a user who is being erased, and every other refusal."""
    if refusal.code in ("erasing", "user_closed"):
        raise UserErased from refusal
    if refusal.code not in reasons:
        raise refusal
    return reasons[refusal.code]


# --- packs --------------------------------------------------------------------------------------


def _packs(run: Run, at: Mapping[str, Any]) -> Outcome | None:
    """Name the frozen packs that hold what is forgotten, or take them away, where that was asked for."""
    holds = _of_listed(run)
    if not run.work.state.get("purge_packs"):
        named: list[PackVersion] = []
        for version in packs_with(run.scope, holds):
            named += [version] if version else []
            if len(named) > MAX_TOLD or run.out_of_time():
                return _done(run, {"in_packs": _versions(named), "packs_complete": False})
        return _done(run, {"in_packs": _versions(named), "packs_complete": True})
    purged = list(run.work.result.get("purged_packs", []))
    for page in purge_pages(run.scope, holds, PurgePlace(*at["packs"])):
        purged = [*purged, *_versions(page.versions)][: MAX_TOLD + 1]
        if run.out_of_time():
            more = More(dict(at) | {"packs": list(page.place)}, result=run.work.result | {"purged_packs": purged})
            run.scope.ports.table.write([run.moved(more)])  # the purge has moved the user's row
            return None
    done = {"purged_packs": purged[:MAX_TOLD], "packs_complete": len(purged) <= MAX_TOLD}
    run.scope.ports.table.write([run.moved(_done(run, done))])
    return None


def _of_listed(run: Run) -> Holds:
    """Make the test of a pack's entry: whether it is of what was listed, and is not there any more."""
    ids, part = set[str](), 0
    while listed := read_part(run.scope, run.work.id, part):
        names = [one.id for one in listed if one.kind == "memory"]
        there = {memory.id for memory in memories_of(run.scope.ports.table, run.scope.keys, names)}
        ids.update(set(names) - there)
        part += 1
    return lambda entry: entry.id in ids


def _versions(versions: Sequence[PackVersion]) -> list[dict[str, Any]]:
    return [{"session_id": session, "version": version} for session, version in versions]


def _done(run: Run, packs: Mapping[str, Any]) -> Done:
    """End the job, with those places alone that are still there."""
    result = _blank() | run.work.result
    taken_back = {one["session_id"] for one in result.get("conversations", [])}
    result["also_in"] = [one for one in result["also_in"] if one.get("session_id") not in taken_back]
    named = [one["id"] for one in result["also_in"] if one["where"] == "memory"] + result["derived"]
    there = {memory.id for memory in memories_of(run.scope.ports.table, run.scope.keys, named)}
    result["also_in"] = [one for one in result["also_in"] if one["where"] != "memory" or one["id"] in there]
    result["derived"] = [one for one in result["derived"] if one in there]
    return Done(result | dict(packs))
