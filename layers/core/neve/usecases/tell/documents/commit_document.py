"""One call's change of documents, in one transaction, once (ADR 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.errors import NeveError, lost_to_writer
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.transact import TOO_MANY_WRITERS, transact
from neve.usecases.ask.documents.get_document import get_revision
from neve.usecases.tell.documents.document_writes import DocumentWrites, LongText, WrittenDocument

Plan = Callable[[Mapping[Key, Item]], DocumentWrites]


@dataclass(frozen=True, slots=True)
class Commit:
    """A call's change. ``reads``: the rows that ``plan`` decides on. ``conditional``: whether the call has a
    precondition. ``write_id``: names the call at the document's place."""

    reads: Sequence[Key]
    plan: Plan
    conditional: bool
    write_id: str
    long_text: LongText
    idem: IdempotencyKey | None = None


def commit_document(scope: UserScope, commit: Commit) -> WrittenDocument:
    """Plan and write the change. Raises what the plan raises, conflict (a write that may have taken effect before
    others'), erasing, user_closed, idempotency_mismatch, StoreUnavailable."""
    attempts = _Attempts(scope, commit)
    try:
        written = transact(scope.ports, attempts.attempt)
    except NeveError:
        if attempts.tried is None:
            commit.long_text.drop(scope)
        raise
    commit.long_text.drop(scope, written.document.text_object)
    return written


@dataclass
class _Attempts:
    """The attempts of one call. ``tried``: what the last one wrote."""

    scope: UserScope
    commit: Commit
    tried: DocumentWrites | None = None

    def attempt(self) -> WrittenDocument:
        """Try once. Raises Conflict."""
        scope, keys, now, idem = self.scope, self.scope.keys, self.scope.ports.clock.now(), self.commit.idem
        found = scope.ports.table.get_many(self._rows_to_read())
        own = self._made_before(found)
        if own is not None:
            return own
        if idem:
            earlier = idempotency.replay(found.get(idempotency.row_key(keys, idem)), idem, now)
            if earlier:
                body = earlier.body
                return WrittenDocument(get_revision(scope, body["id"], body["rev"]), body["created"], body["changed"])
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        planned = self.commit.plan(found)
        ops = [rows.guard_user(keys, head, now), *planned.ops]
        if idem:
            used_up = idempotency.taken_over(found.get(idempotency.row_key(keys, idem)))
            ops.append(idempotency.done(keys, idem, _reply_of(planned.written), now, used_up))
        if planned.ops or idem:
            self.tried = planned
            scope.ports.table.write(ops)
        return planned.written

    def _rows_to_read(self) -> list[Key]:
        keys, idem = self.scope.keys, self.commit.idem
        own = [idempotency.row_key(keys, idem)] if idem else []
        return list(dict.fromkeys([keys.head, *self.commit.reads, *self._tried_rows(), *own]))

    def _tried_rows(self) -> list[Key]:
        """List the rows that tell where the document is that the last attempt wrote, or what is left of it."""
        if self.tried is None:
            return []
        tried = str(self.tried.written.document.id)
        return [self.scope.keys.document_place(tried), self.scope.keys.deleted_document(tried)]

    def _made_before(self, found: Mapping[Key, Item]) -> WrittenDocument | None:
        """Find what the attempt made that seemed to have lost; None when it has. With a precondition, a document that
        others have taken further, or away, does not say whether it had: 409, and a caller that tries again is told
        412."""
        if self.tried is None:
            return None
        place, left = map(found.get, self._tried_rows())
        if place is not None and place.get("write_id") == self.commit.write_id:
            return self.tried.written
        rev = self.tried.written.document.rev
        further = place is not None and place["rev"] > rev
        if self.commit.conditional and (further or (left is not None and left["rev"] >= rev)):
            raise lost_to_writer(TOO_MANY_WRITERS)
        return None


def _reply_of(written: WrittenDocument) -> StoredReply:
    """Give what is kept of the answer: the revision has the rest."""
    document = written.document
    body = {"id": document.id, "rev": document.rev, "created": written.created, "changed": written.changed}
    return StoredReply(status=201 if written.created else 200, body=body)
