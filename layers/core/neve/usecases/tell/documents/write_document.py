"""A document under a path, new or in place of its last revision."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from neve.domain.documents.change import DocumentChange
from neve.scope import UserScope
from neve.store.idempotency import IdempotencyKey
from neve.usecases.tell.documents.commit_document import Commit, commit_document
from neve.usecases.tell.documents.document_writes import (
    WrittenDocument,
    planned_writes,
    revs_of,
    rows_to_read,
    wanted_write,
)


def write_document(
    scope: UserScope,
    path: str,
    change: DocumentChange,
    *,
    expected_rev: int | Collection[int] | None = None,
    create: bool = False,
    idempotency_key: IdempotencyKey | None = None,
) -> WrittenDocument:
    """Write a document by compare-and-set on ``expected_rev``, or on several that it may be at; ``create``: only where
    there is none. A read, another one of the text where the write names none, and one transaction. Raises
    validation_failed and pii_blocked, of the path as the parameter ``query.path``, precondition_failed, conflict (a
    superseded document, another one at the path, or a write that may have taken effect before others'), erasing,
    user_closed, idempotency_mismatch, StoreUnavailable."""
    revs = revs_of(expected_rev) if isinstance(expected_rev, int) else expected_rev
    wanted = wanted_write(scope, path, change, revs, create=create, field="query.path")
    commit = Commit(
        reads=rows_to_read(scope, wanted),
        plan=partial(planned_writes, scope, wanted),
        conditional=revs is not None or create,
        write_id=str(wanted.write_id),
        long_text=wanted.long_text,
        idem=idempotency_key,
    )
    return commit_document(scope, commit)
