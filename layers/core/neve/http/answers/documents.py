"""E10 over HTTP."""

from __future__ import annotations

from typing import Any

from neve.domain.errors import invalid
from neve.domain.records.documents import Document
from neve.domain.records.memories import Status
from neve.http.calls import Answer, Call, once
from neve.http.operations import Nothing
from neve.http.pages import fitting
from neve.http.router import Router
from neve.http.schemas.documents import documents as d
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.ask.documents.list_documents import list_versions, page_of_documents
from neve.usecases.tell.documents.delete_document import DeletedDocuments, delete_below, delete_document
from neve.usecases.tell.documents.evolve_document import evolve_document
from neve.usecases.tell.documents.move_folder import move_folder
from neve.usecases.tell.documents.restore_document import restore_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document


def bind_documents(router: Router) -> None:
    """Bind the calls of E10."""
    router.on(d.READ_DOCUMENT)(_read)
    router.on(d.PUT_DOCUMENT)(_put)
    router.on(d.DELETE_DOCUMENT)(_delete)
    router.on(d.LIST_DOCUMENTS)(_list)
    router.on(d.LIST_VERSIONS)(_versions)
    router.on(d.MOVE_DOCUMENT)(_move)
    router.on(d.RESTORE_DOCUMENT)(_restore)
    router.on(d.EVOLVE_DOCUMENT)(_evolve)


def _answer(call: Call[Any, Any], document: Document, status: int = 200, *, chunks: bool = False) -> Answer:
    return Answer(status, d.DocumentView.of(document, call.now, chunks=chunks), headers={"ETag": f'"{document.rev}"'})


def _read(call: Call[d.ReadQuery, Nothing]) -> Answer:
    return _answer(call, get_document(call.user, call.query.path, call.query.rev), chunks=call.query.chunks)


def _put(call: Call[d.PathQuery, d.PutBody]) -> Answer:
    if call.if_none_match.tags:
        raise invalid("header.If-None-Match", "must be *")
    written = write_document(
        call.user,
        call.query.path,
        call.body.command(),
        expected_rev=call.if_match,
        create=call.if_none_match.any,
        idempotency_key=call.idempotency,
    )
    return _answer(call, written.document, 201 if written.created else 200)


def _delete(call: Call[d.DeleteDocumentQuery, Nothing]) -> Answer:
    call.query.checked(conditional=call.if_match is not None)

    def work() -> Answer:
        path, prefix = call.query.path, call.query.prefix
        if path is None:
            return Answer(body=d.DeletedDocumentsView.of(delete_below(call.user, str(prefix))))
        deleted = delete_document(call.user, path, call.if_match)
        return Answer(body=d.DeletedDocumentsView.of(DeletedDocuments([deleted.path])))

    return once(call, work)


def _list(call: Call[d.ListDocumentsQuery, Nothing]) -> Answer:
    status = Status(call.query.status) if call.query.status else None

    def read(limit: int, cursor: str | None) -> d.DocumentPage:
        return d.DocumentPage.listing(*page_of_documents(call.user, call.query.prefix, status, limit, cursor), call.now)

    return Answer(body=fitting(call.query, read))


def _versions(call: Call[d.VersionsQuery, Nothing]) -> Answer:
    def read(limit: int, cursor: str | None) -> d.VersionPage:
        return d.VersionPage.listing(*list_versions(call.user, call.query.path, limit, cursor), call.now)

    return Answer(body=fitting(call.query, read))


def _move(call: Call[Nothing, d.MoveBody]) -> Answer:
    path, to = call.body.path, call.body.to
    call.body.checked(conditional=call.if_match is not None)
    if call.body.prefix:
        return once(call, lambda: Answer(body=d.MovedDocumentsView.of(move_folder(call.user, path, to))))
    moved = move_document(call.user, path, to, expected_rev=call.if_match, idempotency_key=call.idempotency)
    return _answer(call, moved)


def _restore(call: Call[d.PathQuery, d.RestoreBody]) -> Answer:
    query, rev = call.query, call.body.rev
    restored = restore_document(
        call.user, query.path, rev, expected_rev=call.if_match, idempotency_key=call.idempotency
    )
    return _answer(call, restored)


def _evolve(call: Call[Nothing, d.EvolveDocumentBody]) -> Answer:
    new = evolve_document(call.user, call.body.command(), expected_rev=call.if_match, idempotency_key=call.idempotency)
    return _answer(call, new, 201)
