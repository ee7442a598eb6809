"""E10: documents as the API shows and takes them."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, RootModel
from pydantic.functional_validators import BeforeValidator

from neve.domain.documents.change import BY_PEOPLE, DocumentChange
from neve.domain.documents.chunks import document_chunks
from neve.domain.documents.description import MAX_NAME, MAX_SUMMARY
from neve.domain.errors import invalid
from neve.domain.records.documents import Document
from neve.domain.records.memories import Provenance, Status
from neve.domain.tokens import estimate
from neve.domain.validity import holds_at, require_span
from neve.http.operations import USER_WRITE, Body, Operation, Parameters, Response, View, record_of, route
from neve.http.pages import Page, parts_that_fit
from neve.http.schemas.documents.addresses import DocumentPath, DocumentPrefix
from neve.http.schemas.enums import DocumentStatus, IncludePriority, MemoryStatus
from neve.http.schemas.fields import Clearable, ClearableTime, Cursor, Filled, Label, Limit, Name, whole_number
from neve.http.schemas.memories.fields import Importance, Tags
from neve.http.schemas.memories.memory_view import ProvenanceView
from neve.usecases.tell.documents.delete_document import DeletedDocuments
from neve.usecases.tell.documents.evolve_document import DocumentEvolution
from neve.usecases.tell.documents.move_folder import MovedDocuments

IMPORTED = Provenance("import", trust="import")
MAX_TEXT = 1024 * 1024


def _collapsed(text: str) -> str:
    return " ".join(text.split())


Rev = Annotated[int, Field(ge=1, le=10**9), BeforeValidator(whole_number)]
SourceType = Annotated[Name, Field(max_length=256)]
SourceId = Annotated[Filled, Field(max_length=256)]
"""Another system's: two that differ in white space are two."""


class DocumentFields(Body):
    """A field that is absent stays as it is, or is the default of a new document."""

    name: Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_collapsed)] | None = Field(
        default=None, description="Default: the first heading, else the path's last segment; again when empty."
    )
    summary: Annotated[str, Field(max_length=MAX_SUMMARY), AfterValidator(_collapsed)] | None = Field(
        default=None, description="Default: the first lines; again when empty."
    )
    tags: Tags | None = None
    group: Clearable | None = Field(default=None, description="Empty: none.")
    kind: Label | None = Field(default=None, description="The caller's own; default `document`.")
    always_include: bool | None = Field(default=None, description="In every pack. Always true below `/always-load/`.")
    include_priority: IncludePriority | None = None
    prompt_label: Clearable | None = Field(default=None, description="What a prompt calls it. Empty: none.")
    prompt_hint: Annotated[str, Field(max_length=500)] | None = Field(default=None, description="Empty: none.")
    prompt_order: Annotated[int, Field(ge=0, le=10_000)] | None = None
    editable: bool | None = Field(default=None, description="False: changed by people only, never by a model.")
    importance: Importance | None = None
    status: DocumentStatus | None = None
    valid_from: ClearableTime | None = Field(default=None, description="From when on it holds. Empty: always.")
    valid_until: ClearableTime | None = Field(default=None, description="Until when it holds. Empty: always.")

    def change(self, text: str | None, source: tuple[str, str] | None = None) -> DocumentChange:
        require_span(self.valid_from or None, self.valid_until or None)
        source_type, source_id = source or (None, None)
        return record_of(
            self,
            DocumentChange,
            text=text,
            source_type=source_type,
            source_id=source_id,
            status=Status(self.status) if self.status else None,
            provenance=IMPORTED if source else BY_PEOPLE,
        )


Text = Annotated[str, Field(max_length=MAX_TEXT)]
"""A document's text, also a blank one."""


class PutBody(DocumentFields):
    """A document to write; the text alone may be sent as `text/markdown` instead."""

    text: Text | None = Field(default=None, description="Required for a new document.")
    source_type: SourceType | None = Field(default=None, description="The outside system that it comes from.")
    source_id: SourceId | None = Field(
        default=None, description="What it is called there: sent again, wherever to, it is the next rev."
    )

    def command(self) -> DocumentChange:
        if not self.model_fields_set:
            raise invalid("body", "has no field to write")
        if self.source_type is None and self.source_id is None:
            return self.change(self.text)
        if self.source_type is None or self.source_id is None:
            missing = "source_type" if self.source_type is None else "source_id"
            raise invalid(missing, "is required: source_type and source_id go together")
        return self.change(self.text, (self.source_type, self.source_id))


class MoveBody(Body):
    path: DocumentPath
    to: DocumentPath
    prefix: bool = Field(
        default=False,
        description="With everything below `path`, up to 2,000 documents, which come to stand below `to`.",
    )

    def checked(self, *, conditional: bool) -> None:
        """Refuse an If-Match with a prefix. Raises 422."""
        if conditional and self.prefix:
            raise invalid("header.If-Match", "is only allowed without prefix: it is of one document")


class RestoreBody(Body):
    rev: Annotated[int, Field(ge=1, le=10**9, description="As which the document is to be again.")]


class EvolveDocumentBody(DocumentFields):
    """A new document in the place of an old one; what is not named is as in the old document."""

    path: DocumentPath = Field(description="Of the document that is superseded.")
    to: DocumentPath = Field(description="Of the new one.")
    text: Text
    reason: Annotated[Filled, Field(max_length=1_000)]

    def command(self) -> DocumentEvolution:
        return DocumentEvolution(self.path, self.to, self.change(self.text), self.reason)


# --- queries ------------------------------------------------------------------------------------


class PathQuery(Parameters):
    path: DocumentPath


class ReadQuery(PathQuery):
    rev: Rev | None = Field(default=None, description="As it was at a rev; default as it is.")
    chunks: bool = Field(default=False, description="With the passages that are searched.")


class DeleteDocumentQuery(Parameters):
    path: DocumentPath | None = None
    prefix: DocumentPrefix | None = Field(
        default=None,
        description="Instead of `path`: everything below it, but not what tools said, which goes with its events.",
    )

    @property
    def address(self) -> str:
        return f"path {self.path}" if self.path is not None else f"prefix {self.prefix}"

    def checked(self, *, conditional: bool) -> None:
        """Refuse neither or both of path and prefix, and an If-Match without a path. Raises 422."""
        if (self.path is None) == (self.prefix is None):
            raise invalid("query.path", "is required, or prefix; not both")
        if conditional and self.path is None:
            raise invalid("header.If-Match", "is only allowed with path: it is of one document")


class ListDocumentsQuery(Parameters):
    prefix: DocumentPrefix = "/"
    status: MemoryStatus | None = Field(default=None, description="Default: active, resolved and inbox.")
    limit: Limit = 50
    cursor: Cursor | None = None


class VersionsQuery(PathQuery):
    limit: Limit = 20
    cursor: Cursor | None = None


# --- answers ------------------------------------------------------------------------------------


class ChunkView(View):
    n: int
    text: str
    tokens: int = Field(description="By the estimate, whatever counter the policy names.")


class DocumentHeadView(View):
    path: str
    id: str | None = Field(description="Stays when the document moves. An artifact has none.")
    rev: int
    name: str
    summary: str
    tags: list[str]
    group: str | None = None
    kind: str
    always_include: bool
    include_priority: IncludePriority
    prompt_label: str | None = None
    prompt_hint: str | None = None
    prompt_order: int | None = None
    editable: bool
    source_type: str | None = None
    source_id: str | None = None
    extracted_at: str | None = Field(default=None, description="When it was last drawn from a conversation.")
    importance: int
    status: str
    valid_from: str | None = None
    valid_until: str | None = None
    holds: bool = Field(
        description="Whether now is between the two: what does not hold is neither packed nor recalled."
    )
    supersedes: list[str] = Field(description="Paths.")
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    provenance: ProvenanceView
    fingerprint: str
    tokens: int
    bytes: int | None = Field(default=None, description="Of the text in UTF-8. Not of an artifact.")
    embedding_state: str
    embedding_model: str | None = None
    session_id: str | None = Field(default=None, description="Of an artifact: where a tool said it.")
    seq: int | None = None
    created_at: str
    updated_at: str | None = Field(default=None, description="When `rev` last moved.")

    @classmethod
    def of(cls, document: Document, now: str, /, *_: Any, **own: Any) -> Self:
        holds = holds_at(document, now)
        return super().of(document, provenance=ProvenanceView.of(document.provenance), holds=holds, **own)


class DocumentView(DocumentHeadView):
    text: str
    chunks: list[ChunkView] | None = None
    chunks_left_out: int | None = Field(
        default=None, description="Passages behind `chunks` for which the answer has no room: it has 6 MB."
    )

    @classmethod
    def of(cls, document: Document, now: str, /, *, chunks: bool = False) -> Self:
        if not chunks:
            return super().of(document, now, chunks=None, chunks_left_out=None)
        parts = document_chunks(document.text, document.kind)
        views = (ChunkView(n=n, text=text, tokens=estimate(text)) for n, text in enumerate(parts))
        shown = parts_that_fit(views, beside=document.text)
        return super().of(document, now, chunks=shown, chunks_left_out=len(parts) - len(shown) or None)


class DocumentPage(Page):
    documents: list[DocumentHeadView] = Field(description="By path, without their texts.")
    next_cursor: str | None = None


class VersionPage(Page):
    versions: list[DocumentHeadView] = Field(description="Newest first, each as it was at its rev, without its text.")
    next_cursor: str | None = None


class MovedDocumentView(View):
    path: str = Field(description="Where it was.")
    to: str
    id: str
    rev: int


class MovedDocumentsView(View):
    moved: list[MovedDocumentView] = Field(description="By the paths where they were.")
    more: bool = Field(description="Whether some are left for want of time: call again.")

    @classmethod
    def of(cls, done: MovedDocuments) -> Self:
        moved = [MovedDocumentView.of(now, path=was, to=now.path, id=str(now.id)) for was, now in done.moved]
        return super().of(done, moved=moved)


class MovedView(RootModel[DocumentView | MovedDocumentsView]):
    """The document; with `prefix` the list of those that were moved."""


class DeletedDocumentsView(View):
    deleted: list[str] = Field(description="The paths of what was deleted.")
    more: bool = Field(description="Whether documents are left below the prefix: call again.")

    @classmethod
    def of(cls, deleted: DeletedDocuments) -> Self:
        return cls(deleted=deleted.paths, more=deleted.more)


# --- calls --------------------------------------------------------------------------------------

_DOCUMENTS = "/v1/users/{user_id}/documents"
_ETAG = {"ETag": "The rev, in quotes."}

READ_DOCUMENT = Operation(
    **route("GET", _DOCUMENTS, "getDocument", "documents", "records", "documents"),
    summary="Read one document, whatever its status.",
    query=ReadQuery,
    responses={200: Response("The document.", DocumentView, headers=_ETAG)},
    codes=("document_not_found",),
)
PUT_DOCUMENT = Operation(
    **route("PUT", _DOCUMENTS, "putDocument", "documents", "records", "documents"),
    summary="Write a document, as JSON or as Markdown.",
    description="`If-Match`: only at that rev. `If-None-Match: *`: only where there is none.",
    query=PathQuery,
    body=PutBody,
    responses={
        200: Response("The document as it is now.", DocumentView, headers=_ETAG),
        201: Response("A new document.", DocumentView, headers=_ETAG),
    },
    codes=("document_not_found", "pii_blocked", *USER_WRITE),
    if_match=True,
    if_none_match=True,
    idempotent=True,
    text_field="text",
    addressed_by="path",
)
DELETE_DOCUMENT = Operation(
    **route("DELETE", _DOCUMENTS, "deleteDocuments", "documents", "records", "documents"),
    summary="Delete one document, or those below a prefix, with all revisions.",
    description="Below a prefix at most 100 a call; `more` says whether to call again.",
    query=DeleteDocumentQuery,
    responses={200: Response("What was deleted.", DeletedDocumentsView)},
    codes=("document_not_found", *USER_WRITE),
    if_match=True,
    idempotent=True,
    addressed_by="address",
)
LIST_DOCUMENTS = Operation(
    **route("GET", _DOCUMENTS + "/list", "listDocuments", "documents", "records", "documents"),
    summary="List documents by path.",
    description="Artifacts are listed below `/artifacts/` only.",
    query=ListDocumentsQuery,
    responses={200: Response("One page.", DocumentPage)},
)
LIST_VERSIONS = Operation(
    **route("GET", _DOCUMENTS + "/versions", "listDocumentVersions", "documents", "records", "documents"),
    summary="List the revisions of a document.",
    query=VersionsQuery,
    responses={200: Response("One page.", VersionPage)},
    codes=("document_not_found",),
)
MOVE_DOCUMENT = Operation(
    **route("POST", _DOCUMENTS + "/move", "moveDocument", "documents", "records", "documents"),
    summary="Move a document with its history, or all below a path.",
    description="With `prefix` in several steps, but not one where something is in the way of any: 409 names it.",
    body=MoveBody,
    responses={200: Response("The document where it is now, or what was moved.", MovedView, headers=_ETAG)},
    codes=("document_not_found", "pii_blocked", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
RESTORE_DOCUMENT = Operation(
    **route("POST", _DOCUMENTS + "/restore", "restoreDocument", "documents", "records", "documents"),
    summary="Give a document the text, name, summary, tags and group of an earlier rev, as its next one.",
    query=PathQuery,
    body=RestoreBody,
    responses={200: Response("The document as it is now.", DocumentView, headers=_ETAG)},
    codes=("document_not_found", "pii_blocked", *USER_WRITE),
    if_match=True,
    idempotent=True,
    addressed_by="path",
)
EVOLVE_DOCUMENT = Operation(
    **route("POST", _DOCUMENTS + "/evolve", "evolveDocument", "documents", "records", "documents"),
    summary="Put a new document in the place of an old one, which is superseded.",
    body=EvolveDocumentBody,
    responses={201: Response("The new document.", DocumentView, headers=_ETAG)},
    codes=("document_not_found", "pii_blocked", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
