"""Finds where the documents stand that a job wrote (docs/rules/jobs.md#record).

A job's row names them by id: a path is made of what the user said, and goes with the document. It is read when a caller
asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neve.domain.records.jobs import Job
from neve.scope import UserScope


def with_paths(scope: UserScope, job: Job) -> Job:
    """Return the job with ``path`` beside the id of each document that is there. One read, of a job that wrote some.
    Raises StoreUnavailable."""
    keys, written, summary = scope.keys, job.result.get("documents", []), job.result.get("session_summary", {})
    also = job.result.get("also_in", [])
    copies = [one.get("id") for one in also if one["where"] == "document"]
    named = [*(one.get("id") for one in written), summary.get("document_id"), *copies]
    places = {one: keys.document_place(one) for one in named if one is not None}
    if not places:
        return job
    found = scope.ports.table.get_many(list(places.values()))
    paths = {one: found[place]["path"] for one, place in places.items() if place in found}
    result: dict[str, Any] = {
        name: [_placed(one, "id", paths) for one in rows]
        for name, rows in (("documents", written), ("also_in", also))
        if rows
    }
    if summary:
        result["session_summary"] = _placed(summary, "document_id", paths)
    return replace(job, result=job.result | result)


def _placed(named: Mapping[str, Any], by: str, paths: Mapping[str, str]) -> dict[str, Any]:
    path = paths.get(str(named.get(by)))
    return dict(named) if path is None else {**named, "path": path}
