"""Documents removed for good, with all their revisions: one, or those below a prefix."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from neve.domain.errors import NeveError, not_found
from neve.domain.memories.made_of import Sources, sources_of
from neve.domain.records.documents import Document
from neve.domain.records.memories import Provenance
from neve.ports.table import MAX_WRITE_OPS, Check, Delete, Expect, Item, Version, WriteOp, key_of
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import document_deletion, read_document
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.ask.documents.list_documents import heads_below
from neve.usecases.tell.documents.document_writes import check_rev

OPS_BESIDE = 8
"""Operations of the transaction that takes the head beside its revisions: the user's head, the head, the place, what is
left of it, the outside source, the pin."""
IN_ONE_TRANSACTION = MAX_WRITE_OPS - OPS_BESIDE
"""Revisions; of more, the oldest go before."""
MAX_DELETED = 100
"""Documents of one call by prefix; the time limit says for how long one goes on: the gateway waits 29 s."""
TIME_LIMIT_MS = 15_000
_KEPT = ("pk", "sk", "provenance", "text_object")


@dataclass(frozen=True, slots=True)
class DeletedDocuments:
    """The outcome of a call. ``paths``: what was deleted. ``more``: whether documents are left below the prefix: call
    again."""

    paths: list[str]
    more: bool = False


def delete_document(
    scope: UserScope, path: str, if_match: Collection[int] | None, document_id: str | None = None
) -> Document:
    """Delete a document and give what it was, without its text. ``document_id``: which one it has to be, as far as the
    caller knows: a path that was freed is soon another's, and revs start over.

    The rows go in one transaction, above some 90 revisions the oldest before; the change stream takes it out of the
    search index, and until then hydration hides it. Raises document_not_found, precondition_failed, erasing,
    user_closed, StoreUnavailable."""
    delete = _Delete(scope, path, if_match, document_id, scope.ports.ids.token())
    deleted = transact(scope.ports, delete.attempt)
    for name in delete.objects:
        scope.ports.objects.delete(name)
    return deleted


def delete_below(scope: UserScope, prefix: str) -> DeletedDocuments:
    """Delete each document by itself, in the order of their paths, at most ``MAX_DELETED``: what was deleted stays
    deleted when a later one fails. One that is written meanwhile goes too. Raises what ``delete_document`` raises."""
    ends_ms = scope.ports.clock.monotonic_ms() + TIME_LIMIT_MS
    heads = list(islice(heads_below(scope.ports.table, scope.keys, prefix), MAX_DELETED + 1))
    deleted: list[str] = []
    for head in heads[:MAX_DELETED]:
        if scope.ports.clock.monotonic_ms() >= ends_ms:
            return DeletedDocuments(deleted, more=True)
        if _was_there(scope, head.path):
            deleted.append(head.path)
    return DeletedDocuments(deleted, more=len(heads) > MAX_DELETED)


def _was_there(scope: UserScope, path: str) -> bool:
    try:
        delete_document(scope, path, None)
    except NeveError as error:
        if error.code == "document_not_found":
            return False
        raise
    return True


@dataclass
class _Delete:
    """One call. ``write_id`` names it on what is left of the document (ADR 4). ``tried``: what its last attempt
    deleted. ``objects``: the long texts of what was deleted."""

    scope: UserScope
    path: str
    if_match: Collection[int] | None
    document_id: str | None
    write_id: str
    tried: Document | None = None
    objects: tuple[str, ...] = ()

    def attempt(self) -> Document:
        """Try once. Raises Conflict."""
        scope, keys = self.scope, self.scope.keys
        if self.tried and self._is_done(self.tried):
            return self.tried
        place = keys.document(self.path)
        found = scope.ports.table.get_many([keys.head, place])
        user = rows.read_head(found.get(keys.head))
        if place not in found or user.state == "erasing":
            rows.writable(user)
            raise not_found("document", self.path)
        rows.writable(user)
        document = read_document(found[place])
        if self.document_id not in (None, document.id):
            raise not_found("document", self.path)
        check_rev(self.if_match, document, self.path)
        revisions = self._revisions(document)
        self.objects = tuple(dict.fromkeys(item["text_object"] for item in revisions if "text_object" in item))
        guard: list[WriteOp] = [rows.check_head(keys, user)]
        oldest = revisions[: max(0, len(revisions) - IN_ONE_TRANSACTION)]
        self._delete_before(guard, document, oldest)
        ops = [Delete(key_of(item), Expect.ANY) for item in revisions[len(oldest) :]]
        self.tried = document
        gone = document_deletion(keys, document, self.write_id, scope.ports.clock.now(), _sources(document, revisions))
        scope.ports.table.write([*guard, *gone, *ops])
        return document

    def _revisions(self, document: Document) -> list[Item]:
        """Read the revisions' keys, whose words they are, and what their texts are called: hundreds of texts of 300 KB
        have no room in a function."""
        if document.id is None:
            return []
        keys = self.scope.keys
        found = all_rows(self.scope.ports.table, keys.partition, prefix=keys.document_revs(document.id))
        return [{name: item[name] for name in _KEPT if name in item} for item in found]

    def _delete_before(self, guard: Sequence[WriteOp], document: Document, oldest: Sequence[Item]) -> None:
        """Delete what one transaction has no room for, while the document is what it was. Raises Conflict."""
        still = Check(self.scope.keys.document(self.path), Version(document.version))
        for start in range(0, len(oldest), IN_ONE_TRANSACTION):
            some = [Delete(key_of(item), Expect.ANY) for item in oldest[start : start + IN_ONE_TRANSACTION]]
            self.scope.ports.table.write([*guard, still, *some])

    def _is_done(self, tried: Document) -> bool:
        keys = self.scope.keys
        if tried.id is None:
            return self.scope.ports.table.get(keys.document(self.path)) is None
        left = self.scope.ports.table.get(keys.deleted_document(tried.id))
        return left is not None and left.get("write_id") == self.write_id


def _sources(document: Document, revisions: Sequence[Item]) -> Sources | None:
    """Join what librarians made the revisions from; a person's words come from no log. None where an attempt before may
    have taken the oldest."""
    if len(revisions) < document.rev and document.rev > IN_ONE_TRANSACTION:
        return None
    origins = [Provenance(**item["provenance"]) for item in revisions]
    return sources_of(origin for origin in origins if origin.by == "assistant")
