"""Tells how far the work of a job has come, from what was said to what can be found (docs/rules/jobs.md#stages).

The last stages are others' work, about which no job is told: they are read from the rows when a caller asks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from neve.domain.records.jobs import Job
from neve.domain.records.memories import EmbeddingState
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import rows

STAGED = ("observe", "compact", "librarian")
"""Kinds of jobs that make something of what was said."""
MAX_ROWS = 100
"""The most of the session's newest memories that are looked at (*chosen*)."""
State = Literal["done", "running", "waiting", "failed"]


def stages_of(scope: UserScope, job: Job) -> list[dict[str, str]]:
    """Return the stages of a job. ``job``: with its paths. ``analyse``: the events were read. ``extract``: what is
    worth keeping of them is written. ``embed``, ``upsert``: it has its vectors, and is in the index. ``ready``: it can
    be found. Empty for another kind of job. Two reads. Raises StoreUnavailable."""
    if job.kind not in STAGED or job.session_id is None:
        return []
    read = job.status == "done" or "observed_seq" in job.result
    states: dict[str, State] = {"analyse": _of(job, read), "extract": _of(job, job.status == "done", began=read)}
    if job.status == "done":
        items = _written(scope, job)
        embedded = all(item.get("embedding_state") != EmbeddingState.PENDING for item in items)
        indexed = all("rev_at" not in item or "words_at" in item for item in items)
        found = embedded and all("rev_at" not in item for item in items)
        states |= {"embed": _as(embedded), "upsert": _as(indexed), "ready": _as(found)}
    else:
        states |= {"embed": "waiting", "upsert": "waiting", "ready": "waiting"}
    return [{"stage": stage, "state": state} for stage, state in states.items()]


def _of(job: Job, done: bool, *, began: bool = True) -> State:
    if done:
        return "done"
    if job.status == "failed":
        return "failed"
    return "running" if job.status == "running" and began else "waiting"


def _as(done: bool) -> State:
    return "done" if done else "running"


def _written(scope: UserScope, job: Job) -> list[Item]:
    """Read the rows of what the job wrote, and of the session's newest memories, which an earlier pass may have
    written. A row that is gone by now cannot be found."""
    keys = scope.keys.of_session(str(job.session_id))
    marker = scope.ports.table.get(keys.marker)
    live = [row.id for row in rows.read_marker(marker).live[-MAX_ROWS:]] if marker else []
    ids = {*live, *_ids(job.result)}
    wanted: list[Key] = [keys.memory(i) for i in sorted(ids)]
    wanted += [keys.document(path) for path in _paths(job.result)]
    found = scope.ports.table.get_many(list(dict.fromkeys(wanted))) if wanted else {}
    return list(found.values())


def _ids(result: Mapping[str, Any]) -> Iterable[str]:
    yield from result.get("written", ())
    summary = result.get("session_summary", {})
    if "memory_id" in summary:
        yield summary["memory_id"]


def _paths(result: Mapping[str, Any]) -> Iterable[str]:
    yield from (one["path"] for one in result.get("documents", ()) if "path" in one)
    summary = result.get("session_summary", {})
    if "path" in summary:
        yield summary["path"]
