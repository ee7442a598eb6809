"""What stands in the place of the safeguards of validity."""

from __future__ import annotations

from typing import Any

from neve.domain.memories import visibility
from neve.usecases.ask.compile import updates
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.core.pack import gather_pack
from tests.simulation.ablations.ablation import Patch


def packs_what_has_ended() -> list[Patch]:
    return [(gather_pack, "within", lambda *_: True), (gather_pack, "active", _at_any_time)]


def recalls_what_has_ended() -> list[Patch]:
    return [(ResolvedRequest, "asked_at", lambda request, _now: request)]


def tells_of_no_end() -> list[Patch]:
    return [(updates, "has_ended", lambda *_: False)]


def _at_any_time(row: Any, gen: int, _at: str) -> bool:
    return visibility.active(row, gen, row.valid_from or "")
