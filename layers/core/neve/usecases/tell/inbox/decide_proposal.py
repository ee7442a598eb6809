"""A decision about what a librarian would do to a document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from neve.domain.documents.change import DocumentChange, changed_document
from neve.domain.errors import NeveError, invalid, not_found
from neve.domain.librarian.filing import Action, Proposal
from neve.domain.records.documents import Document
from neve.domain.records.memories import Provenance
from neve.domain.times import iso
from neve.ports.table import Item, Key, WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document
from neve.store.filings import put_proposal, read_proposal
from neve.store.idempotency import Beside
from neve.usecases.tell.documents.document_writes import (
    DocumentWrites,
    WantedWrite,
    not_superseded,
    planned_writes,
    with_text,
    writable_path,
    writes_of,
)
from neve.usecases.tell.inbox.decision import Decision, decided_already


@dataclass
class ProposalDecision:
    """One call. ``write_id`` names it on the rows (ADR 4)."""

    scope: UserScope
    proposal_id: str
    decision: Decision
    write_id: str
    beside: Beside[Proposal]

    def attempt(self) -> Proposal:
        """Try once. Raises Conflict."""
        keys, table, now = self.scope.keys, self.scope.ports.table, self.scope.ports.clock.now()
        found = table.get_many([keys.head, keys.proposal(self.proposal_id)])
        item, head = found.get(keys.proposal(self.proposal_id)), rows.read_head(found.get(keys.head))
        rows.writable(head)
        if item is None:
            raise not_found("inbox_item", self.proposal_id)
        proposal = read_proposal(item)
        if proposal.write_id == self.write_id:  # our own commit, whose response was lost
            return proposal
        if proposal.status != "inbox":
            raise decided_already(proposal.status)
        decided = replace(proposal, decided_at=iso(now), write_id=self.write_id)
        ops: list[WriteOp] = [rows.guard_user(keys, head, now)]
        if self.decision.choice == "reject":
            decided = replace(decided, status="rejected")
        else:
            writes = self._writes(self._wanted(proposal.action), proposal)
            document = writes.written.document
            ops += writes.ops
            decided = replace(
                decided, status="approved", decided_path=document.path, rev=document.rev, document_id=document.id
            )
        left = replace(decided, version=proposal.version + 1)
        table.write([*ops, put_proposal(keys, decided), *self.beside(left)])
        return left

    def _wanted(self, action: Action) -> Action:
        """Give the action with what the person changed of it. Raises 422 that names the path."""
        decision = self.decision
        if decision.choice == "edit" and decision.text is None and decision.path is None:
            raise invalid("text", "is required, or path")
        if action.verb == "move":
            if decision.text is not None:
                raise invalid("text", "is not a field of a move: the document keeps its text")
            to_path = action.to_path if decision.path is None else decision.path
            return replace(action, path=writable_path(action.path), to_path=writable_path(str(to_path)))
        path = writable_path(decision.path if decision.path is not None else action.path)
        text = action.text if decision.text is None else decision.text.strip()
        if not text:
            raise invalid("text", "must not be blank")
        if path != action.path:
            return replace(action, path=path, text=text, base_rev=None, base_id=None)
        return replace(action, text=text)

    def _writes(self, action: Action, proposal: Proposal) -> DocumentWrites:
        """Plan the document's write. Raises conflict where the document is not what the proposal was made for."""
        keys = self.scope.keys
        places = [keys.document(path) for path in (action.path, action.to_path) if path is not None]
        found = self.scope.ports.table.get_many(places)
        item = found.get(keys.document(action.path))
        before = read_document(item) if item else None
        if action.verb == "move":
            return self._move(action, before, found)
        replaces = self.decision.choice == "supersede"
        if action.verb == "append" and before is not None and action.is_of(before) and not replaces:
            text = f"{with_text(self.scope, before).text.rstrip()}\n\n{action.text}"
        elif replaces or action.was_made_for(before):
            text = action.text
        else:
            at = f"is at rev {before.rev}" if before else "is not there"
            detail = f"The document {at}, and the proposal was made for another version: supersede it."
            raise NeveError("conflict", detail)
        by_person = self.decision.text is not None
        provenance = Provenance("human_edit" if by_person else "user_confirmed", proposal.session_id, trust="user")
        change = DocumentChange(
            text=text,
            name=action.title if before is None else None,
            tags=action.tags if before is None else None,
            importance=action.importance if before is None else None,
            provenance=provenance,
        )
        return planned_writes(self.scope, self._write(action.path, change, before), found)

    def _move(self, action: Action, before: Document | None, found: Mapping[Key, Item]) -> DocumentWrites:
        """Plan the document's move; with ``supersede`` whatever rev it is at by now."""
        to_path, keys = str(action.to_path), self.scope.keys
        here = self.decision.choice == "supersede" or action.was_made_for(before)
        if before is None or not here or keys.document(to_path) in found:
            raise NeveError("conflict", "The document was moved, or another document is at its path.")
        not_superseded(before)
        before, now = with_text(self.scope, before), iso(self.scope.ports.clock.now())
        after = changed_document(before, to_path, DocumentChange(), now, self.scope.count)
        return writes_of(self.scope, self._write(to_path, DocumentChange(), before), before, after)

    def _write(self, path: str, change: DocumentChange, before: Document | None) -> WantedWrite:
        new_id = f"doc_{self.scope.ports.ids.ulid(self.scope.ports.clock.now())}"
        return WantedWrite(path, change, None, before is None, self.write_id, new_id)
