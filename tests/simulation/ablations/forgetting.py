"""What stands in the place of the safeguards of forgetting by filter."""

from __future__ import annotations

from typing import Any

from neve.store.transact import transact
from neve.usecases.tell.memories.delete_memory import _Delete
from neve.usecases.work.forget import forget_listed
from tests.simulation.ablations.ablation import Patch


def forgets_what_was_edited() -> list[Patch]:
    """Whatever rev it has by now."""

    def blindly(scope: Any, memory_id: str, _rev: int, write_id: str) -> None:
        transact(scope.ports, _Delete(scope, memory_id, None, write_id).attempt)

    return [(forget_listed, "delete_listed", blindly)]
