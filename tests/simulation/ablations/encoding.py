"""What stands in the place of the safeguards of token vectors."""

from __future__ import annotations

from typing import Any

from neve.ports.table import Delete, WriteOp
from neve.store.memories import deleted_ops
from neve.usecases.background import dispatch_changes, sweep_due
from neve.usecases.indexing import embed_rows
from neve.usecases.memories import delete_memory
from tests.simulation.ablations.ablation import Patch


def forgets_what_could_not_be_encoded() -> list[Patch]:
    return [(embed_rows, "look_again", lambda *_: None)]


def tells_nobody() -> list[Patch]:
    """Neither the outbox nor the sweep."""
    return [(dispatch_changes, "_late_message", lambda _: None), (sweep_due, "begin_again", lambda *_: False)]


def leaves_them_behind() -> list[Patch]:
    def only_the_row(*given: Any) -> list[WriteOp]:
        return [op for op in deleted_ops(*given) if not isinstance(op, Delete) or op.key != _tokens(*given)]

    return [(delete_memory, "deleted_ops", only_the_row)]


def _tokens(keys: Any, memory: Any, *_: Any) -> Any:
    return keys.tokens_of(memory.id)
