"""The tool `correct`: a model says what holds in the place of a memory (docs/rules/tools.md#correct)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from neve.domain.errors import NeveError
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Memory, Provenance, Status
from neve.domain.tenants.write_tools import need_write_tools
from neve.scope import UserScope
from neve.store.idempotency import Beside, nothing_beside
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.store_fact import store_facts
from neve.usecases.tell.memories.stored_fact import StoredFact


@dataclass(frozen=True, slots=True)
class Correction:
    """The outcome of a correction. ``memory``: what holds now; None where it is not kept, for the ``reason``.
    ``waits``: in the inbox, while the old one holds."""

    memory: Memory | None
    waits: bool = False
    reason: str = ""


def correct(
    scope: UserScope,
    memory_id: str,
    evolution: Evolution,
    session_id: str | None,
    beside: Beside[Correction] = nothing_beside,
) -> Correction:
    """Put the text in the memory's place, or into the inbox with the name of the memory that it corrects. Raises
    write_tools_off, and what ``evolve_memory`` and ``store_fact`` do."""
    need_write_tools(scope.policy)
    if scope.policy.write_tools == "on":
        evolution = replace(evolution, written_by="model")
        made = evolve_memory(scope, memory_id, evolution, beside=lambda memory: beside(Correction(memory)))
        return Correction(made)
    old = get_memory(scope, memory_id)
    if old.status is not Status.ACTIVE:
        raise NeveError("conflict", f"The memory is {old.status}, and only an active one can be corrected.")
    fact = FactCandidate(
        evolution.text,
        old.category or "BIOGRAPHY",
        Provenance("assistant", session_id, trust="assistant"),
        max(old.importance, scope.policy.min_importance),
        relation="updates",
        target_id=memory_id,
        written_by="model",
    )
    return _waiting(store_facts(scope, [fact], via="model", beside=lambda stored: beside(_waiting(stored[0])))[0])


def _waiting(stored: StoredFact) -> Correction:
    waits = stored.memory is not None and stored.memory.status is Status.INBOX
    return Correction(stored.memory, waits=waits, reason=stored.reason)
