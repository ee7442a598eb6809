"""Removes what a librarian called a document by words of deleted events also from the revisions that others have
written since, whose texts stay (docs/rules/retract.md#described)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from neve.domain.documents.change import DocumentChange, next_rev
from neve.domain.records.documents import Document
from neve.domain.retract.described import Carrier, without_drawn
from neve.domain.times import iso
from neve.ports.table import Check, Item, Version
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import put_revision, read_document, text_of
from neve.store.incarnation import still_there
from neve.store.transact import batches, item_bytes, transact
from neve.usecases.tell.documents.document_writes import WantedWrite, with_text, writes_of
from neve.usecases.work.retract.documents.erase_revisions import READ_BATCH_SIZE, stored_revisions


@dataclass(frozen=True)
class ForgetDescriptions:
    """The renaming of one document."""

    scope: SessionScope
    incarnation: int
    carrier: Carrier

    def run(self) -> bool:
        """Rewrite the one in force first, which is followed by another one: the search index has to know, and the row
        that keeps it tells a worker that comes again that there is something left. False where the document is not what
        it was; then all is looked at again. Raises UserErased, StoreUnavailable."""
        carrier, rev = self.carrier, self.carrier.rev
        if carrier.in_force and rev in carrier.revs:
            if not transact(self.scope.ports, partial(self._write_next, self.scope.ports.ids.token())):
                return False
            rev += 1
        before = [(carrier.id, one) for one in sorted(carrier.revs)]
        for batch in batches(stored_revisions(self.scope, before), item_bytes, most=READ_BATCH_SIZE):
            if not transact(self.scope.ports, partial(self._rewrite, batch, rev)):
                return False
        return True

    def _write_next(self, write_id: str) -> bool:
        """Write a next revision without the drawn words. Raises Conflict."""
        scope, head = self.scope, head_by_id(self.scope, self.carrier.id)
        if head is not None and head.write_id == write_id:  # our own commit, whose response was lost
            return True
        if head is None or head.rev != self.carrier.rev:
            return False
        before = with_text(scope, head)
        after = next_rev(without_drawn(before, self.carrier.drawn, head.path), iso(scope.ports.clock.now()))
        wanted = WantedWrite(head.path, DocumentChange(), (head.rev,), write_id=write_id)
        ops = writes_of(scope, wanted, before, after).ops
        scope.ports.table.write([self._check_user(), *ops])
        return True

    def _rewrite(self, stored: Sequence[Item], rev: int) -> bool:
        """Rewrite stored revisions. ``rev``: of the head. Raises Conflict where that moves meanwhile."""
        head = head_by_id(self.scope, self.carrier.id)
        if head is None or head.rev != rev:
            return False
        checks = [self._check_user(), Check(self.scope.keys.document(head.path), Version(head.version))]
        rewritten = [put_revision(self.scope.keys, self._without(read_document(item), head.path)) for item in stored]
        self.scope.ports.table.write([*checks, *rewritten])
        return True

    def _without(self, revision: Document, path: str) -> Document:
        whole = replace(revision, text=text_of(self.scope.ports.objects, revision))
        return without_drawn(whole, self.carrier.drawn, path)

    def _check_user(self) -> Check:
        """Give the check that the user is the same. Raises UserErased."""
        user = rows.read_head(self.scope.ports.table.get(self.scope.keys.head))
        still_there(user, self.incarnation)
        return rows.check_head(self.scope.keys, user)


def head_by_id(scope: SessionScope, document_id: str) -> Document | None:
    table, keys = scope.ports.table, scope.keys
    place = table.get(keys.document_place(document_id))
    item = table.get(keys.document(place["path"])) if place else None
    head = read_document(item) if item else None
    return head if head is not None and head.id == document_id else None
