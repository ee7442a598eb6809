"""A document that takes the place of another one, which stays readable at its own path and is recalled no more."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from neve.domain.documents.change import DocumentChange, changed_document, next_rev
from neve.domain.errors import invalid
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.domain.times import iso
from neve.scope import UserScope
from neve.store.idempotency import IdempotencyKey
from neve.usecases.core.privacy.admit import admit
from neve.usecases.tell.documents.document_writes import DocumentWrites, WrittenDocument, wanted_write, writes_of
from neve.usecases.tell.documents.to_another_path import Departure, to_another_path


@dataclass(frozen=True, slots=True)
class DocumentEvolution:
    """The document that takes the place of the one at ``path``, where, and why."""

    path: str
    to: str
    change: DocumentChange
    reason: str


def evolve_document(
    scope: UserScope,
    evolution: DocumentEvolution,
    *,
    expected_rev: Collection[int] | None = None,
    idempotency_key: IdempotencyKey | None = None,
) -> Document:
    """Write the new document, with what the old one was but for what the change names; its text is required. The old
    one is ``superseded`` from the same transaction on, and keeps its outside source. Raises document_not_found,
    validation_failed, precondition_failed (another rev), conflict (it is superseded already, or something is at
    ``to``), and what ``write_document`` raises."""
    to, change, reason = evolution.to, evolution.change, evolution.reason
    if not reason.strip():
        raise invalid("reason", "must not be blank")
    reason = admit(scope, {"reason": reason})["reason"]
    wanted = wanted_write(scope, to, change, expected_rev, field="to")
    if change.text is None:
        raise invalid("text", "is required")

    def plan(old: Document) -> DocumentWrites:
        now = iso(scope.ports.clock.now())
        seed = replace(old, id=wanted.new_id, rev=0, created_at=now, supersedes=(old.path,), version=0)
        seed = replace(seed, source_type=None, source_id=None, text_object=None, valid_from=None, valid_until=None)
        new = changed_document(seed, wanted.path, change, now, scope.count)
        superseded = replace(
            old, status=Status.SUPERSEDED, superseded_by=wanted.path, superseded_at=now, superseded_reason=reason
        )
        made = writes_of(scope, wanted, None, new)
        left = writes_of(scope, replace(wanted, write_id=None), old, next_rev(superseded, now))
        return DocumentWrites(WrittenDocument(made.written.document, created=True), (*made.ops, *left.ops))

    same = "must be another path; to write a new revision, use PUT"
    conditional = True  # an evolution demands that the old one is active
    departure = Departure(evolution.path, wanted, same, conditional, idempotency_key)
    return to_another_path(scope, departure, plan)
