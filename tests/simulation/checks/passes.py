"""Observation passes, their markers, and the horizon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neve.domain.records.memories import Kind
from neve.domain.tenants.observe_after import IDLE_S
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.keys import MEMORY
from tests.simulation.checks.replay import Found, before_erasure, row, rows_of, transactions
from tests.simulation.machine.workers import SWEEP_EVERY_S

if TYPE_CHECKING:
    from tests.simulation.run import Run

READ_WITHIN_S = IDLE_S + 2 * SWEEP_EVERY_S
"""Once it is calm: the silence, the sweep behind it, and one more for what an outage has left to be delivered again."""


def spans_of_passes_are_apart_and_leave_no_gap(run: Run) -> Found:
    """Each committed pass takes the marker on from where it stood, and its row is about just those events."""
    for rows_together in transactions(run):
        moved = next((w for w in rows_together if w.new is not None and w.new["type"] == "marker"), None)
        if moved is None or moved.old is None or moved.new is None:
            continue
        before, after = rows.read_marker(moved.old), rows.read_marker(moved.new)
        if after.observed_seq < before.observed_seq:
            yield f"{moved.key}: the marker went back from {before.observed_seq} to {after.observed_seq}"
        if after.last_pass == before.last_pass:
            continue
        for written in rows_together:
            if written.old is None and written.new is not None and written.new["type"] == "memory":
                memory = rows.read_memory(written.new)
                provenance = memory.provenance
                if memory.supersedes or memory.kind is not Kind.OBSERVATION:
                    continue  # read again after a retraction, apart from the passes that move the marker; or a fact
                span = (before.observed_seq + 1, after.observed_seq)
                if (provenance.seq_from, provenance.seq_to) != span:
                    yield f"{moved.key}: a row about {provenance.seq_from}-{provenance.seq_to} in the pass over {span}"


def no_event_is_observed_twice(run: Run) -> Found:
    """The ranges of the rows that passes wrote are disjoint, those of replaced rows included. What is read again after
    a retraction, and what comes back, names what it stands for."""
    for keys in run.history.sessions():
        spans = [
            (item["provenance"]["seq_from"], item["provenance"]["seq_to"])
            for item in rows_of(run, keys.partition, MEMORY)
            if item["kind"] == "observation" and item.get("session_id") == keys.session and not item.get("supersedes")
        ]
        for (_, last), (first, to) in zip(sorted(spans), sorted(spans)[1:], strict=False):
            if first <= last:
                yield f"{keys.log}: rows up to {last} and from {first} to {to}"


def the_marker_is_behind_the_log(run: Run) -> Found:
    """At every moment: ``observed_seq`` and ``offered_seq`` are at most ``last_seq``."""
    last: dict[tuple[str, str], int] = {}
    for written in run.cloud.table.log:
        item = written.new
        if item is not None and item["type"] == "session":
            last[written.key.pk, item["session_id"]] = item["last_seq"]
        if item is not None and item["type"] == "marker":
            known = last.get((written.key.pk, item["session_id"]), 0)
            if max(item["observed_seq"], item["offered_seq"]) > known:
                yield f"{written.key}: {item['observed_seq']}, {item['offered_seq']} above {known}"


def a_complete_turn_is_read(run: Run) -> Found:
    """When calm."""
    for keys in run.history.sessions():
        head, marker = row(run, keys, "session_head"), row(run, keys, "marker")
        if head is not None and marker is not None:
            read = max(marker["observed_seq"], marker["offered_seq"])
            if read < head["complete_seq"]:
                yield f"{keys.log}: read to {read}, complete to {head['complete_seq']}"


def what_waits_is_read_in_time(run: Run) -> Found:
    """Once nothing fails: within the longest silence of a policy and a sweep, and not with the session's end, which
    reads everything an hour later."""
    if not run.workload.waits:
        return
    spoken: dict[Key, tuple[int, float]] = {}
    read: dict[Key, list[tuple[int, float]]] = {}
    for written in run.cloud.table.log:
        item = written.new
        if item is not None and item["type"] == "session" and item["complete_seq"]:
            known = spoken.get(written.key, (0, 0.0))
            grown = item["complete_seq"] > known[0] or item["last_seq"] > (written.old or item)["last_seq"]
            spoken[written.key] = (item["complete_seq"], written.at_s if grown else known[1])
        if item is not None and item["type"] == "marker":
            read.setdefault(written.key, []).append((max(item["observed_seq"], item["offered_seq"]), written.at_s))
    for keys in run.history.sessions():
        if keys.session_head not in spoken or row(run, keys, "session_head") is None:
            continue
        complete, spoken_s = spoken[keys.session_head]
        latest_s = max(spoken_s, run.calm_s) + READ_WITHIN_S
        read_s = next((at_s for seq, at_s in read.get(keys.marker, ()) if seq >= complete), None)
        if read_s is not None and read_s > latest_s:
            yield f"{keys.log}: said up to {complete} at {spoken_s:.0f}, read at {read_s:.0f}, not by {latest_s:.0f}"


def the_horizon_never_goes_back(run: Run) -> Found:
    """It begins where it began, moves forward with each epoch, and covers nothing that was not observed then."""
    observed: dict[str, int] = {}
    for written in run.cloud.table.log:
        item, old = written.new, written.old
        if item is not None and item["type"] == "marker":
            observed[f"{written.key.pk} {item['session_id']}"] = item["observed_seq"]
        if item is not None and item["type"] == "epoch" and old is not None:
            yield from (f"{written.key}: {wrong}" for wrong in _wrong_horizon(old, item, observed))


def _wrong_horizon(old: Item, new: Item, observed: dict[str, int]) -> Found:
    before, after = rows.read_epoch(old), rows.read_epoch(new)
    if before.covers_to is not None and before.covers_from != after.covers_from:
        yield f"covers from {before.covers_from}, then from {after.covers_from}"
    if (before.covers_to or 0) > (after.covers_to or 0):
        yield f"covers to {before.covers_to}, then to {after.covers_to}"
    steps = after.epoch - before.epoch
    if steps not in (0, 1) or (after.covers_to != before.covers_to and steps == 0):
        yield f"epoch {before.epoch} to {before.covers_to}, epoch {after.epoch} to {after.covers_to}"
    known = observed.get(f"{new['pk']} {new['session_id']}", 0)
    if (after.covers_to or 0) > known:
        yield f"covers to {after.covers_to}, observed to {known}"


def every_job_ends(run: Run) -> Found:
    """And so does every job that a caller was told of."""
    jobs = (item for item in run.cloud.table.rows.values() if item["type"] in ("job", rows.QUEUED_JOB))
    known = {rows.read_job(item).id: item["status"] for item in jobs}
    yield from (f"{one} is {status}" for one, status in known.items() if status not in ("done", "failed"))
    for did in run.history.of("observe", "compact", "end", "retract"):
        if did.ok and did.value.id not in known and not before_erasure(run, did.keys, did.began_s):
            yield f"{did.value.id} is nowhere"


def a_session_that_is_not_over_is_looked_at(run: Run) -> Found:
    """Who said something and never ended the session is not waited for."""
    table = run.cloud.table.rows
    for keys in run.history.sessions():
        item = table.get(keys.session_head)
        head = rows.read_session(item) if item else None
        if head and head.last_seq and head.status != "extracted" and keys.open_session not in table:
            yield f"{keys.log} is {head.status}, and nobody will look whether it is idle"


INVARIANTS = (
    spans_of_passes_are_apart_and_leave_no_gap,
    no_event_is_observed_twice,
    the_marker_is_behind_the_log,
    a_complete_turn_is_read,
    what_waits_is_read_in_time,
    the_horizon_never_goes_back,
    every_job_ends,
    a_session_that_is_not_over_is_looked_at,
)
