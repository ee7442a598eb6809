"""What has to happen in some run, so that green runs are about something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neve.store import rows
from neve.store.documents import REVISION
from neve.usecases.core.images import event_images
from neve.usecases.core.jobs.messages.indexing import memory_message
from neve.usecases.core.jobs.queued_jobs import EXPORT, FORGET
from neve.usecases.core.memories import replace_rows
from neve.usecases.core.pack import build_pack
from neve.usecases.core.pack.gather_pack import gather_pack
from neve.usecases.tell.documents import unmade_documents
from neve.usecases.tell.sessions import append_events
from neve.usecases.work.compact import compact_session, move_horizon
from neve.usecases.work.librarian import commit_filing
from neve.usecases.work.observe import commit_pass
from neve.usecases.work.reflect.reflect_session import fold_session
from tests.simulation.checks import compactions
from tests.simulation.checks.knowledge.packed_documents import Gathered
from tests.simulation.checks.prompts import by_epoch
from tests.simulation.checks.replay import of_kind, transactions
from tests.simulation.machine.swapped import swapped

if TYPE_CHECKING:
    from tests.simulation.run import Run

LIST = (
    *("lease lost", "message postponed", "dead letter", "stream gave up", "crash", "worker timed out"),
    *("own append recognised", "own pass recognised", "pack adopted"),
    *("replacement done", "replacement undone", "replacement busy", "horizon moved", "pass without memory"),
    *(
        "result put away in a prompt",
        "result put away behind a horizon",
        "epoch without a horizon",
        "summary folded in",
    ),
    *("compaction overtaken", "folded by a compaction"),
    *("person was faster", "filing overtaken", "proposal decided"),
    *("documents packed", "document without room", "history cut by a prompt", "prompt begins with another"),
    *("compaction inside an open turn", "prompt of an open turn"),
    *("memory changed under If-Match", "another rev", "erasure during a pass", "erasure by a job"),
    *("index switched", "key revoked"),
    *("image taken away", "image borrowed", "image shown to a pass", "image refused", "upload without its image"),
    "image erased by a retraction",
    *("long text", "long text of no document"),
    *("export withdrawn", "export taken up again", "export loaded", "export gone", "model locked"),
    "event removed",
    *("receiver refused", "receiver gave no answer"),
    *("forgotten by a list", "listed and moved", "listed and gone"),
    *("input taken back", "read again after a retraction", "came back after a retraction", "erased by a retraction"),
)
"""None may be zero over all workloads."""
NOT_IMAGES = ("validation_failed", "image_too_large")


@contextmanager
def watching(seen: Counter[str]) -> Iterator[None]:
    """Counts what shows nowhere but in the use cases themselves."""
    append, replacing, images = append_events.Append, replace_rows._Replacing, event_images.StoredImages
    with swapped(
        (append, "_answer_of", _counted(append._answer_of, seen, "own append recognised")),
        (replacing, "undo", _counted(replacing.undo, seen, "replacement undone")),
        (build_pack, "_store", _adopting(seen)),
        (build_pack, "gather_pack", _noting(gather_pack)),
        (commit_pass.PassCommit, "_attempt", _recognising(seen)),
        (move_horizon, "_moved_since", _overtaking(seen)),
        (compact_session, "fold_session", _finding(fold_session, seen, "folded by a compaction")),
        (commit_filing.FilingCommit, "write", _racing(seen)),
        (images, "take_away", _with_any("brought", images.take_away, seen, "image taken away")),
        (images, "keep", _with_any("borrowed", images.keep, seen, "image borrowed")),
        (unmade_documents, "memory_message", _counted(memory_message, seen, "long text of no document")),
    ):
        yield


def _racing(seen: Counter[str]) -> Any:
    write = commit_filing.FilingCommit.write

    def writing(self: Any) -> Any:
        try:
            return write(self)
        except commit_filing.EditConflict:
            seen["person was faster"] += 1
            raise
        except commit_filing.FilingOvertaken:
            seen["filing overtaken"] += 1
            raise

    return writing


def _counted(work: Any, seen: Counter[str], what: str) -> Any:
    def counting(*given: Any) -> Any:
        seen[what] += 1
        return work(*given)

    return counting


def _finding(work: Any, seen: Counter[str], what: str) -> Any:
    """Where it returns anything."""

    def counting(*given: Any) -> Any:
        found = work(*given)
        seen[what] += bool(found)
        return found

    return counting


def _with_any(name: str, work: Any, seen: Counter[str], what: str) -> Any:
    """Where there is anything of that name."""

    def counting(self: Any) -> Any:
        seen[what] += bool(getattr(self, name))
        return work(self)

    return counting


def _adopting(seen: Counter[str]) -> Any:
    store = build_pack._store

    def storing(scope: Any, built: Any) -> Any:
        stored = store(scope, built)
        seen["pack adopted"] += stored.manifest.built_at != built.manifest.built_at
        return stored

    return storing


def _noting(gather: Any) -> Any:
    def gathering(scope: Any, *also: Any, **given: Any) -> Any:
        cloud = scope.ports.process.cloud
        began_s = cloud.scheduler.now_s
        inputs, *rows = gather(scope, *also, **given)
        documents = inputs.documents
        read = Gathered(scope.keys, began_s, cloud.scheduler.now_s, documents.layers(), documents.left_out)
        cloud.gathered.append(read)
        cloud.sometimes["documents packed"] += any(read.layers.values())
        cloud.sometimes["document without room"] += bool(read.left_out)
        return (inputs, *rows)

    return gathering


def _recognising(seen: Counter[str]) -> Any:
    attempt = commit_pass.PassCommit._attempt

    def attempting(self: Any, memory_id: str) -> Any:
        try:
            done = attempt(self, memory_id)
        except commit_pass.InputRetracted:
            seen["input taken back"] += 1
            raise
        seen["own pass recognised"] += _stands(self, done)
        return done

    return attempting


def _stands(commit: Any, done: Any) -> bool:
    """A marker that was read, not made: it is as it is stored."""
    item = commit.scope.ports.process.cloud.table.rows.get(commit.scope.keys.marker)
    return item is not None and rows.read_marker(item) == done.marker


def _overtaking(seen: Counter[str]) -> Any:
    moved_since = move_horizon._moved_since

    def looking(then: Any, now: Any) -> bool:
        seen["compaction overtaken"] += moved_since(then, now)
        return moved_since(then, now)

    return looking


def _of_compactions(run: Run) -> Counter[str]:
    seen: Counter[str] = Counter()
    for together in transactions(run):
        moved = [written for written in together if compactions.epoch_moved(written)]
        put_away = any(map(compactions.put_away, together))
        seen["result put away in a prompt"] += put_away and bool(moved)
        seen["result put away behind a horizon"] += put_away and not moved
        for old, new in ((rows.read_epoch(w.old or {}), rows.read_epoch(w.new or {})) for w in moved):
            seen["epoch without a horizon"] += (old.covers_to, old.cut) == (new.covers_to, new.cut)
            seen["summary folded in"] += None is not old.covers_to != new.covers_to
    return seen


def _of_exports(run: Run) -> Counter[str]:
    seen: Counter[str] = Counter()
    workers: dict[str, set[str]] = {}
    for _, new in of_kind(run, "queued_job"):
        if new["kind"] == EXPORT and (worker := rows.read_job(new).state.get("worker")):
            workers.setdefault(new["sk"], set()).add(worker)
    seen["export taken up again"] = sum(len(some) > 1 for some in workers.values())
    for item in run.cloud.table.rows.values():
        seen["export withdrawn"] += item.get("kind") == EXPORT and item["status"] == "failed"
    loaded = [part.body for did in run.history.of("load") if did.ok for part in did.value]
    seen["export gone"] = loaded.count(None)
    seen["export loaded"] = len(loaded) - loaded.count(None)
    return seen


def _of_forgetting(run: Run) -> Counter[str]:
    seen: Counter[str] = Counter()
    for item in run.cloud.table.rows.values():
        if item.get("kind") == FORGET and item["status"] == "done":
            result = rows.read_job(item).result
            seen["forgotten by a list"] += result["forgotten"]
            seen["listed and moved"] += len(result["moved"])
            seen["listed and gone"] += len(result["gone"])
    return seen


def happened(run: Run) -> Counter[str]:
    """In one run."""
    seen = Counter(run.cloud.sometimes)
    failed = {name: count for name, count in seen.items() if " failed: " in name}
    seen["lease lost"] = sum(count for name, count in failed.items() if name.endswith("LeaseLost"))
    for item in run.cloud.table.rows.values():
        if item["type"] == "job":
            seen["replacement done"] += item["kind"] == "replace" and item["status"] == "done"
        if item.get("kind") == "retract":
            result = rows.read_job(item).result
            seen["read again after a retraction"] += len(result.get("written", ()))
            seen["came back after a retraction"] += result.get("restored", 0)
            seen["erased by a retraction"] += result.get("erased", {}).get("memories", 0)
            seen["image erased by a retraction"] += result.get("erased", {}).get("images", 0)
        if item["type"] == "epoch":
            seen["horizon moved"] += "covers_to" in item
            seen["compaction inside an open turn"] += "covers_keeps" in item
        seen["long text"] += item["type"] == REVISION and item.get("text_object") is not None
        seen["proposal decided"] += item["type"] == "proposal" and item["status"] != "inbox"
        if item["type"] == "marker":
            seen["pass without memory"] += item["offered_seq"] > item["observed_seq"]
    seen["prompt of an open turn"] = sum(did.ok and did.given.message is None for did in run.history.of("context"))
    seen["memory changed under If-Match"] = sum(did.ok for did in run.history.of("update"))
    seen["another rev"] = sum(did.code == "precondition_failed" for did in run.history.of("update"))
    seen["prompt begins with another"] = sum(len(list(some)) > 1 for _, some in by_epoch(run))
    seen["history cut by a prompt"] = sum("cut" in item for item in run.cloud.table.rows.values())
    seen["image shown to a pass"] = len(run.cloud.shown)
    seen["image refused"] = sum(did.code in NOT_IMAGES for did in run.history.of("append"))
    seen["upload without its image"] = sum(did.code == "upload_not_found" for did in run.history.of("append"))
    seen["event removed"] = sum(rows.read_epoch(new).removed_to > 0 for _, new in of_kind(run, "epoch"))
    seen["model locked"] = run.cloud.chaos.struck["model_locked"]
    seen["key revoked"] = sum(did.ok for did in run.history.of("revoke"))
    seen += _of_compactions(run)
    seen += _of_exports(run)
    seen += _of_forgetting(run)
    return seen
