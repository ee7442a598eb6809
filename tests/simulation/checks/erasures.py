"""Receipts of erasures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.rows import read_job
from neve.usecases.core.jobs.queued_jobs import ERASURE
from neve.usecases.work.erase.user_stores import FEED, JOBS, ROWS, SHARED
from tests.simulation.checks.replay import Found
from tests.simulation.engines.memory_table import Written

if TYPE_CHECKING:
    from tests.simulation.run import Run


def an_erasure_ends_with_a_receipt_of_every_store(run: Run) -> Found:
    """Its job is done, says of each store when it was seen empty, and has left the index of due work."""
    for key, item in run.cloud.table.rows.items():
        if item.get("kind") != ERASURE:
            continue
        job = read_job(item)
        stores = {"passages", *UserKeys("t", "u").objects, *ROWS, *SHARED, JOBS, FEED}
        receipt = job.result.get("receipt", {})
        if (
            job.status != "done"
            or set(receipt) != stores
            or not all(one["verified_empty_at"] for one in receipt.values())
        ):
            yield f"{key}: {job.status} with {sorted(receipt)}"
        if "due_pk" in item:
            yield f"{key}: still due"


def the_second_look_is_late_enough(run: Run) -> Found:
    """Between the tombstone and the last look lies the time in which what was under way runs out, but for what clocks
    are apart. Not counted from the answer: it may come much later, or a repeat may bring it."""
    for keys, (_, done_s) in run.erased.items():
        stood_s = (w.at_s for w in run.cloud.table.log if w.key == keys.head and w.at_s <= done_s and _tombstone(w))
        waited = done_s - max(stood_s)
        if waited < SETTLED_S:
            yield f"{keys.partition}: erased within {waited:.0f} s"


def _tombstone(written: Written) -> bool:
    before = rows.read_head(written.old) if written.old else None
    after = rows.read_head(written.new) if written.new else None
    erasing = after is not None and after.state == "erasing"
    return erasing and (before is None or before.state != "erasing")


SETTLED_S = 960.0 - 2 * 300.0
"""Of the operator's way, which pauses for as long by the true time, and of jobs, whose workers' clocks are wrong by up
to five minutes each."""

INVARIANTS = (an_erasure_ends_with_a_receipt_of_every_store, the_second_look_is_late_enough)
