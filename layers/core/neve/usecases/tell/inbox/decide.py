"""E13: a person's decision about one thing that waits (docs/rules/librarian.md#inbox). Each is one transaction; what
was decided stays decided."""

from __future__ import annotations

from neve.domain.errors import not_found
from neve.domain.ids import is_memory_id
from neve.domain.librarian.filing import Proposal
from neve.domain.records.memories import Memory
from neve.scope import UserScope
from neve.store.idempotency import Beside, nothing_beside
from neve.store.keys import is_proposal
from neve.store.transact import transact
from neve.usecases.core.privacy.admit import admit_path, admitted
from neve.usecases.tell.inbox.decide_memory import MemoryDecision
from neve.usecases.tell.inbox.decide_proposal import ProposalDecision
from neve.usecases.tell.inbox.decision import Decision

SCREENED_FIELDS = ("text", "reason")
"""Fields of a decision that hold the person's own words, and pass the gate as its path does."""


def decide_item(
    scope: UserScope, item_id: str, decision: Decision, beside: Beside[Memory | Proposal] = nothing_beside
) -> Memory | Proposal:
    """Carry a decision out and give what is decided as it is now. Raises inbox_item_not_found, conflict (decided
    already, or what it is about has changed), 422, pii_blocked, erasing, user_closed, StoreUnavailable."""
    if decision.path is not None:
        admit_path(scope, "path", decision.path)
    decision = admitted(scope, decision, SCREENED_FIELDS)
    write_id = scope.ports.ids.token()
    if is_proposal(item_id):
        decision.only("text", "path", of="a document")
        return transact(scope.ports, ProposalDecision(scope, item_id, decision, write_id, beside).attempt)
    if not is_memory_id(item_id):
        raise not_found("inbox_item", item_id)
    decision.only("text", "category", "importance", "target_id", of="a fact")
    return transact(scope.ports, MemoryDecision(scope, item_id, decision, write_id, beside).attempt)
