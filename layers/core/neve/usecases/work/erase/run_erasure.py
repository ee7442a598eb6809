"""Carries out an erasure that a tenant asked for (docs/rules/erase.md#job)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from neve.domain.times import iso
from neve.store import rows
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run, Wait
from neve.usecases.work.erase.erase_user import SETTLE_S, let_go
from neve.usecases.work.erase.user_stores import PAGED, left_in_stores, next_piece
from neve.usecases.work.retract.shared_elsewhere import take_back_everywhere

BACKUP_DAYS = 35
"""Point-in-time recovery of a deployed table (infra/data.yaml). One machine keeps no backup of its own."""


def erase_next(run: Run) -> Outcome | None:
    """Do one step of an erasure: remove the next piece of what is kept. Once everything was removed it waits for
    ``SETTLE_S``, and removes what came late; then it lists every store, and lets the id go with the receipt. Of objects
    and passages, what a worker removed before it died may be missing from the counts. Raises StoreUnavailable."""
    if not run.cursor:
        take_back_everywhere(run.scope)
    at: dict[str, Any] = {"settled": False, "deleted": {}} | run.cursor
    piece = next_piece(run.scope.data, at.get("store", ""), at.get("behind", ""))
    if piece is not None:
        deleted = Counter[str](at["deleted"]) + Counter({piece.store: piece.removed})
        moved = at | {"store": piece.store, "behind": piece.behind, "deleted": dict(deleted)}
        if piece.store in PAGED:
            moved[piece.store] = at.get(piece.store, 0) + piece.removed
        return More(moved, piece.ops, {"deleted": moved["deleted"]})
    again = {"settled": True, "deleted": at["deleted"]}
    if not at["settled"]:
        return Wait(again, run.scope.ports.clock.now() + timedelta(seconds=SETTLE_S))
    verified: dict[str, str] = {}
    # jobs and events are not listed once more: nothing makes one of the user by now, and this look has read all of the
    # tenant's
    for store, left in (left_in_stores(run.scope.data) | {name: at.get(name, 0) for name in PAGED}).items():
        if left:  # it came while the others were looked at
            return More(again)
        verified[store] = iso(run.scope.ports.clock.now())
    _finish(run, at["deleted"], verified)
    return None


def _finish(run: Run, deleted: Mapping[str, int], verified: Mapping[str, str]) -> None:
    """Let the id go, and write the receipt, in one transaction. Raises Conflict."""
    now, close = run.scope.ports.clock.now(), bool(run.work.state["close"])
    receipt = {name: {"deleted": deleted.get(name, 0), "verified_empty_at": at} for name, at in verified.items()}
    result: dict[str, Any] = {"receipt": receipt, "backups_expire_at": iso(now + timedelta(days=BACKUP_DAYS))}
    done = run.moved(Done(result | {"closed": close}))
    free = let_go(run.head, now, close=close)
    run.scope.ports.table.write([rows.put_head(run.scope.keys, free), done])
