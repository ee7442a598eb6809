"""What has to happen in some run, so that green runs are about something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

from neve.store import rows
from neve.usecases.observe import commit_pass
from neve.usecases.pack import build_pack
from neve.usecases.reflect import replace_rows
from neve.usecases.sessions import append_events

if TYPE_CHECKING:
    from tests.simulation.run import Run

LIST = (
    *("lease lost", "message postponed", "dead letter", "stream gave up", "crash", "worker timed out"),
    *("own append recognised", "own pass recognised", "pack adopted"),
    *("replacement done", "replacement undone", "replacement busy", "horizon moved", "pass without memory"),
    *("memory changed under If-Match", "another rev", "erasure during a pass", "index switched", "key revoked"),
)
"""None may be zero over all workloads."""


@contextmanager
def watching(seen: Counter[str]) -> Iterator[None]:
    """Counts what shows nowhere but in the use cases themselves."""
    replacing = replace_rows._Replacing
    with ExitStack() as stack:
        for where, name, what in (
            (append_events._Append, "_answer_of", "own append recognised"),
            (replacing, "undo", "replacement undone"),
        ):
            stack.enter_context(mock.patch.object(where, name, _counted(getattr(where, name), seen, what)))
        stack.enter_context(mock.patch.object(build_pack, "_store", _adopting(seen)))
        stack.enter_context(mock.patch.object(commit_pass.PassCommit, "_attempt", _recognising(seen)))
        yield


def _counted(work: Any, seen: Counter[str], what: str) -> Any:
    def counting(*given: Any) -> Any:
        seen[what] += 1
        return work(*given)

    return counting


def _adopting(seen: Counter[str]) -> Any:
    store = build_pack._store

    def storing(scope: Any, built: Any) -> Any:
        stored = store(scope, built)
        seen["pack adopted"] += stored.manifest.built_at != built.manifest.built_at
        return stored

    return storing


def _recognising(seen: Counter[str]) -> Any:
    attempt = commit_pass.PassCommit._attempt

    def attempting(self: Any, memory_id: str) -> Any:
        done = attempt(self, memory_id)
        seen["own pass recognised"] += _stands(self, done)
        return done

    return attempting


def _stands(commit: Any, done: Any) -> bool:
    """A marker that was read, not made: it is as it is stored."""
    item = commit.scope.ports.process.cloud.table.rows.get(commit.scope.keys.marker)
    return item is not None and rows.read_marker(item) == done.marker


def happened(run: Run) -> Counter[str]:
    """In one run."""
    seen = Counter(run.cloud.sometimes)
    failed = {name: count for name, count in seen.items() if " failed: " in name}
    seen["lease lost"] = sum(count for name, count in failed.items() if name.endswith("LeaseLost"))
    seen["replacement busy"] = sum(count for name, count in failed.items() if name.endswith("ReplacementBusy"))
    for item in run.cloud.table.rows.values():
        if item["type"] == "job":
            seen["replacement done"] += item["kind"] == "replace" and item["status"] == "done"
        if item["type"] == "epoch":
            seen["horizon moved"] += "covers_to" in item
        if item["type"] == "marker":
            seen["pass without memory"] += item["offered_seq"] > item["observed_seq"]
    seen["memory changed under If-Match"] = sum(did.ok for did in run.history.of("update"))
    seen["another rev"] = sum(did.code == "precondition_failed" for did in run.history.of("update"))
    seen["key revoked"] = sum(did.ok for did in run.history.of("revoke"))
    return seen
