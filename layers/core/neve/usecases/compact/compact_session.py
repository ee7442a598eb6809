"""Move a session's horizon: observe everything first, then cover the middle of the log (context.md §4).

Coverage comes before eviction: if the observer cannot answer, nothing moves. The written summary of the covered turns
is a later step; until then the local layer of the pack stands for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from neve.domain.records import Event, SessionEpoch
from neve.domain.sessions.transcript import kept_by_compaction, turns
from neve.ports import Conflict, ModelRefused
from neve.store import rows
from neve.usecases.jobs.finish_job import finish_job
from neve.usecases.observe.observe_session import UserGone, observe_session
from neve.usecases.pack.build_pack import build_pack
from neve.wiring import Ports, Tenant

READ_PAGE = 200


def compact_session(ports: Ports, tenant: Tenant, body: dict[str, Any]) -> None:
    """One message of the compact queue. Raises LeaseHeld, which postpones it, and what a retry may cure. Repeating it
    is safe, because a log that is already covered has nothing left to cover."""
    user, session = body["user"], body["session"]
    try:
        observe_session(ports, tenant, user, session, body["incarnation"], closing=True)
        result = _move_horizon(ports, tenant, user, session, body)
    except UserGone:
        return
    except ModelRefused as refusal:
        failed = {"reason": f"the language model refused the request: {refusal}"}
        finish_job(ports, tenant, body["job_id"], "compact", user, session, "failed", failed)
        return
    if "covers" in result:
        result["pack_version"] = build_pack(ports, tenant, user, session, "horizon").manifest.pack_version
    finish_job(ports, tenant, body["job_id"], "compact", user, session, "done", result)


def _move_horizon(ports: Ports, tenant: Tenant, user: str, session: str, body: dict[str, Any]) -> dict[str, Any]:
    """One commit: covers, epoch + 1, ``rebuild_due``. A message that was handled before finds its own commit by the job
    id on the epoch row, and only the pack is left to do."""
    keys = tenant.keys
    while True:
        found = ports.table.get_many([keys.head(user), keys.epoch(user, session), keys.marker(user, session)])
        head = rows.read_head(found.get(keys.head(user)))
        if head.incarnation != body["incarnation"] or head.state != "active":
            raise UserGone(user)
        epoch = rows.read_epoch(found[keys.epoch(user, session)])
        observed_seq = rows.read_marker(found[keys.marker(user, session)]).observed_seq
        if epoch.compacted_by == body["job_id"]:
            return _result(epoch)
        events = [event for event in _log(ports, tenant, user, session) if event.seq <= observed_seq]
        covered = _covered(events, tenant.policy.kept_verbatim)
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
        try:
            ports.table.write([rows.guard_user(keys, user, head, now), rows.put_epoch(keys, user, moved, now)])
        except Conflict:
            continue
        return _result(moved)


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


def _log(ports: Ports, tenant: Tenant, user: str, session: str) -> list[Event]:
    first, last = tenant.keys.event(user, session, 1), tenant.keys.event(user, session, 9_999_999_999)
    events: list[Event] = []
    cursor = None
    while True:
        page = ports.table.query(first.pk, between=(first.sk, last.sk), limit=READ_PAGE, cursor=cursor)
        events += [rows.read_event(item) for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return events
