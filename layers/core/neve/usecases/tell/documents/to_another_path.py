"""Lets a document leave for a path where nothing is: it moves there, or another one takes its place there
(docs/rules/documents.md#moving)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from neve.domain.documents.change import DocumentChange, changed_document
from neve.domain.errors import NeveError, invalid, not_found
from neve.domain.records.documents import Document
from neve.domain.times import iso
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store.documents import read_document
from neve.store.idempotency import IdempotencyKey
from neve.usecases.tell.documents.commit_document import Commit, commit_document
from neve.usecases.tell.documents.document_writes import (
    DocumentWrites,
    WantedWrite,
    WrittenDocument,
    check_rev,
    not_superseded,
    wanted_write,
    with_text,
    writable_path,
    writes_of,
)


@dataclass(frozen=True, slots=True)
class Departure:
    """A document that leaves its path. ``path``: where the document is; ``wanted``: of what is to stand at the other
    path. ``same``: what a caller is told who names one path twice. ``conditional``: whether the call has a
    precondition."""

    path: str
    wanted: WantedWrite
    same: str
    conditional: bool
    idem: IdempotencyKey | None = None


def to_another_path(scope: UserScope, departure: Departure, plan: Callable[[Document], DocumentWrites]) -> Document:
    """Write what stands at the other path, and give it. ``plan`` is given the document with its text. Raises
    document_not_found, validation_failed, precondition_failed (another rev), conflict (the document is superseded, or
    something is at the other path), and what ``commit_document`` raises."""
    path, wanted = departure.path, departure.wanted
    source, target = scope.keys.document(writable_path(path)), scope.keys.document(wanted.path)
    if source == target:
        raise invalid("to", departure.same)

    def planned(found: Mapping[Key, Item]) -> DocumentWrites:
        if source not in found:
            raise not_found("document", path)
        head = read_document(found[source])
        check_rev(wanted.revs, head, path)
        not_superseded(head)
        if target in found:
            raise NeveError("conflict", f"There is a document at '{wanted.path}' already.")
        return plan(with_text(scope, head))

    commit = Commit(
        [source, target], planned, departure.conditional, str(wanted.write_id), wanted.long_text, departure.idem
    )
    return commit_document(scope, commit).document


NOTHING_ELSE = DocumentChange()


def move_document(
    scope: UserScope,
    path: str,
    to: str,
    *,
    expected_rev: Collection[int] | None = None,
    idempotency_key: IdempotencyKey | None = None,
) -> Document:
    """Move a document, in two reads and one transaction, whatever the history. Raises document_not_found,
    validation_failed, precondition_failed (another rev), conflict (something is at ``to``, or the document is
    superseded), and what ``write_document`` raises."""
    wanted = wanted_write(scope, to, NOTHING_ELSE, expected_rev, field="to")

    def plan(before: Document) -> DocumentWrites:
        after = changed_document(before, wanted.path, NOTHING_ELSE, iso(scope.ports.clock.now()), scope.count)
        written = writes_of(scope, wanted, before, after)
        return DocumentWrites(WrittenDocument(written.written.document, created=False), written.ops)

    departure = Departure(path, wanted, "is where the document is already", expected_rev is not None, idempotency_key)
    return to_another_path(scope, departure, plan)
