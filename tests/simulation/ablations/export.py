"""What stands in the place of an export's safeguards."""

from __future__ import annotations

from typing import Any

from neve.domain.records.users import UserHead
from neve.observing import SecondsLeft
from neve.ports.table import Put, WriteOp
from neve.usecases.core.jobs import carry_on
from neve.usecases.work.export import export_user
from neve.usecases.work.export.export_lines import Place
from neve.usecases.work.retract import erase_retracted
from tests.simulation.ablations.ablation import Patch
from tests.simulation.ablations.stand_ins import blind


def leaves_them() -> list[Patch]:
    """Nobody takes one back, or looks whether there is one."""
    return [(erase_retracted, name, lambda *_: ()) for name in ("withdraw_exports", "overtaken_exports")]


def goes_on_behind_a_deletion() -> list[Patch]:
    return [(export_user, "is_overtaken", lambda *_: False)]


def waits_for_nobody() -> list[Patch]:
    return [(carry_on, "LEASE_S", 0)]


def checks_no_fence() -> list[Patch]:
    """A worker trusts what it has read when it took the work up, and writes whatever has become of it since then."""
    heads, fence = dict[str, UserHead](), carry_on._fenced

    def trusting(worker: Any, seconds_left: SecondsLeft) -> carry_on.Run | None:
        work, head = worker._read()
        if work is None or work.ended:
            return None
        return carry_on.Run(worker.scope, work, heads.setdefault(worker.token, head), seconds_left)

    def blindly(*given: Any) -> list[WriteOp]:
        return [blind(op) for op in fence(*given) if isinstance(op, Put)]

    return [(carry_on._Worker, "next_run", trusting), (carry_on, "_fenced", blindly)]


def starts_over() -> list[Patch]:
    """Beside the parts that are there, as if none of them said where it ended; once for each."""
    seen = set[tuple[Any, ...]]()

    def forgotten(*place: Any) -> Place | None:
        if place in seen:
            return Place(*place)
        seen.add(place)
        return None

    return [(export_user, "Place", forgotten)]
