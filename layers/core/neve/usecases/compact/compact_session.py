"""Move a session's horizon: observe everything first, then cover the middle of the log (docs/rules/compact.md#order).

Coverage comes before eviction: if the observer cannot answer, nothing moves. The written summary of the covered turns
is a later step; until then the local layer of the pack stands for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neve.domain.records import Event, SessionEpoch
from neve.domain.sessions.transcript import kept_by_compaction, turns
from neve.observing import SecondsLeft, for_ever
from neve.ports import Item, Key, ModelRefused
from neve.scope import SessionScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.erase.incarnation import UserErased, still_there
from neve.usecases.jobs.finish_job import carry_on_job, finish_job
from neve.usecases.observe.extract_session import refused, report_so_far
from neve.usecases.observe.observe_session import observe_session
from neve.usecases.observe.report import ObservationReport
from neve.usecases.pack.build_pack import build_pack
from neve.usecases.sessions.memory_lag import leave_if_caught_up


def compact_session(
    scope: SessionScope, body: dict[str, Any], seconds_left: SecondsLeft = for_ever
) -> ObservationReport | None:
    """One message of the compact queue: what its passes did, None for a user who was erased. Where the report says
    ``left_off_at``, the message is to be sent again. Raises LeaseHeld, which postpones it, and what a retry may cure.
    Repeating it is safe, because a log that is already covered has nothing left to cover."""
    report = report_so_far(scope, body["job_id"])
    try:
        observe_session(scope, body["incarnation"], report, closing=True, seconds_left=seconds_left)
        if report.left_off_at is not None:
            carry_on_job(scope, body["job_id"], "compact", report.result())
            return report
        leave_if_caught_up(scope.ports, scope.keys, scope.ports.clock.now())
        result = _move_horizon(scope, body) | {"trigger": body["reason"]} | report.left_out()
    except UserErased:
        return None
    except ModelRefused as refusal:
        finish_job(scope, body["job_id"], "compact", "failed", refused(refusal))
        return report
    if "covers" in result:
        result["pack_version"] = build_pack(scope, "horizon").manifest.pack_version
    finish_job(scope, body["job_id"], "compact", "done", result)
    return report


def _move_horizon(scope: SessionScope, body: dict[str, Any]) -> dict[str, Any]:
    """One commit: covers, epoch + 1, ``rebuild_due``. A message that was handled before finds its own commit by the job
    id on the epoch row, and only the pack is left to do."""
    ports, keys = scope.ports, scope.keys

    def attempt() -> dict[str, Any]:
        found = ports.table.get_many([keys.head, keys.epoch, keys.marker])
        head = rows.read_head(found.get(keys.head))
        still_there(head, body["incarnation"])
        epoch = rows.read_epoch(found[keys.epoch])
        if epoch.compacted_by == body["job_id"]:
            return _result(epoch)
        covered = _covered(_observed(scope, found), scope.policy.kept_verbatim)
        if covered is None or covered[1] <= (epoch.covers_to or 0):
            return {"outcome": "nothing_to_cover", "epoch": epoch.epoch}
        moved = replace(
            epoch,
            epoch=epoch.epoch + 1,
            covers_from=covered[0],
            covers_to=covered[1],
            rebuild_due="horizon",
            compacted_by=body["job_id"],
        )
        now = ports.clock.now()
        ports.table.write([rows.guard_user(keys, head, now), rows.put_epoch(keys, moved, now)])
        return _result(moved)

    return transact(ports, attempt)


def _result(epoch: SessionEpoch) -> dict[str, Any]:
    return {
        "outcome": "covered",
        "epoch": epoch.epoch,
        "covers": {"from": epoch.covers_from, "to": epoch.covers_to},
        "horizon_seq": epoch.covers_to,
    }


def _covered(events: list[Event], keep_budget: int) -> tuple[int, int] | None:
    """Seqs of the turns between the first two and the newest ones that are kept."""
    spans = turns(events)
    tokens = {event.seq: event.original_tokens for event in events}
    middle = kept_by_compaction([sum(tokens[seq] for seq in span) for span in spans], keep_budget)
    return (spans[middle[0]][0], spans[middle[-1]][-1]) if middle else None


def _observed(scope: SessionScope, found: Mapping[Key, Item]) -> list[Event]:
    """The log up to the marker."""
    last = rows.read_marker(found[scope.keys.marker]).observed_seq
    if not last:
        return []
    log = all_rows(scope.ports.table, scope.keys.log, between=scope.keys.events(1, last))
    return [rows.read_event(item) for item in log]
