"""What stands in the place of an export's safeguards."""

from __future__ import annotations

from neve.usecases.export import export_user
from neve.usecases.retract import erase_retracted
from tests.simulation.ablations.ablation import Patch


def leaves_them() -> list[Patch]:
    """Nobody takes one back, or looks whether there is one."""
    return [(erase_retracted, name, lambda *_: ()) for name in ("withdraw_exports", "overtaken_exports")]


def goes_on_behind_a_deletion() -> list[Patch]:
    return [(export_user, "is_overtaken", lambda *_: False)]


def waits_for_nobody() -> list[Patch]:
    return [(export_user, "LEASE_S", 0)]


def starts_over() -> list[Patch]:
    """Beside the parts that are there, as if none of them said where it ended."""
    return [(export_user, "Place", lambda *_: None)]
