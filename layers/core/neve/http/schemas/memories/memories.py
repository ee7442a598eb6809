"""E9: memories as the API shows and takes them."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from neve.domain.errors import invalid
from neve.domain.records import Kind, Memory, MemoryPassage, Priority, Scope, Status, Trust
from neve.http.json_body import check_model, parse_json
from neve.http.operations import USER_WRITE, Body, Nothing, Operation, Parameters, Response, TextBody, View
from neve.http.pages import Page
from neve.http.schemas.fields import Cursor, Filled, Identifier, Limit, Time
from neve.usecases.memories.create_memory import NewMemory
from neve.usecases.memories.delete_memory import Deleted
from neve.usecases.memories.import_memories import ImportedRow, ImportReport
from neve.usecases.memories.list_memories import MemoryFilter
from neve.usecases.memories.mark_used import Marked
from neve.usecases.memories.update_memory import MemoryChange

MAX_TEXT = 64_000
MAX_LINES = 5_000
_ID = re.compile(r"mem_[0-7][0-9A-HJKMNP-TV-Z]{25}")


def _memory_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError("must be mem_ and a ULID")
    return text


MemoryId = Annotated[str, AfterValidator(_memory_id), Field(json_schema_extra={"pattern": f"^{_ID.pattern}$"})]
Text = Annotated[Filled, Field(max_length=MAX_TEXT)]
Label = Annotated[str, Field(min_length=1, max_length=128)]
Tags = Annotated[list[Label], Field(max_length=32)]
WritableKind = Literal["observation", "reflection", "note", "manual"]
"""Every kind that there is so far: facts and session summaries go through the storage decision, which this version does
not have yet."""
PriorityName = Literal["high", "medium", "low"]
StatusName = Literal["active", "resolved", "inbox", "superseded", "archived"]
ScopeName = Literal["session", "global"]
Importance = Annotated[int, Field(ge=1, le=5)]
Confidence = Annotated[float, Field(ge=0, le=1)]


class ListQuery(Parameters):
    kind: WritableKind | None = None
    tier: Literal["semantic", "episodic"] | None = None
    status: StatusName | None = Field(default=None, description="Default: active, resolved and inbox.")
    scope: ScopeName | None = None
    session_id: Identifier | None = None
    group: Label | None = None
    tag: Label | None = None
    limit: Limit = 50
    cursor: Cursor | None = None

    def filter(self) -> MemoryFilter:
        return MemoryFilter(
            self.kind, self.tier, self.status, self.scope, self.session_id, self.group, (self.tag,) if self.tag else ()
        )


class CreateQuery(Parameters):
    wait: Literal["embedded"] | None = Field(default=None, description="Answer when the search index has it, or 20 s.")


class CreateBody(Body):
    text: Text
    kind: WritableKind = "manual"
    session_id: Identifier | None = Field(default=None, description="Its session; without one the memory is global.")
    scope: ScopeName | None = Field(default=None, description="Default: session with a session_id, else global.")
    priority: PriorityName | None = Field(default=None, description="Default: high for manual, medium for others.")
    importance: Importance = 3
    confidence: Confidence = 1.0
    label: Label | None = Field(default=None, description="The caller's project or channel.")
    group: Label | None = None
    tags: Tags = Field(default_factory=list)
    observed_at: Time | None = Field(default=None, description="When it was said or true; default now.")

    def command(self) -> NewMemory:
        if self.scope == "session" and self.session_id is None:
            raise invalid("session_id", "is required when scope is session")
        return NewMemory(
            text=self.text,
            kind=Kind(self.kind),
            session_id=self.session_id,
            scope=Scope(self.scope) if self.scope else None,
            priority=Priority(self.priority) if self.priority else None,
            importance=self.importance,
            confidence=self.confidence,
            label=self.label,
            group=self.group,
            tags=tuple(self.tags),
            observed_at=self.observed_at,
        )


Unset = SkipJsonSchema[None]
"""A field that is not there. Sent as null it is refused by name, which pydantic alone cannot tell from absent."""
CLEARED_BY_NULL = {"label", "group"}


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


_KEPT: Any = Field(default=None, json_schema_extra=_without_default)


class UpdateBody(Body):
    """At least one field. A field that is absent stays as it is; null takes a label or a group away."""

    text: Text | Unset = _KEPT
    priority: PriorityName | Unset = _KEPT
    importance: Importance | Unset = _KEPT
    confidence: Confidence | Unset = _KEPT
    status: Literal["active", "resolved", "archived"] | Unset = _KEPT
    label: Label | None = None
    group: Label | None = None
    tags: Tags | Unset = _KEPT

    def command(self) -> MemoryChange:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if not fields:
            raise invalid("body", "names nothing to change")
        for name in sorted(fields.keys() - CLEARED_BY_NULL):
            if fields[name] is None:
                raise invalid(name, "must not be null; leave it out to keep it")
        casts: dict[str, Any] = {"priority": Priority, "status": Status, "tags": tuple}
        return MemoryChange({name: casts.get(name, lambda same: same)(value) for name, value in fields.items()})


class UsedBody(Body):
    ids: list[MemoryId] = Field(min_length=1, max_length=50)


class ImportText(TextBody):
    """One JSON object a line, each an ``ImportLine``; at most 1 MiB."""

    media_type: ClassVar[str] = "application/jsonl"

    def command(self) -> list[ImportedRow]:
        """Raises 400 or 422 that names the line; then nothing is imported."""
        lines = [(n, line) for n, line in enumerate(self.root.split("\n"), start=1) if line.strip()]
        if not lines:
            raise invalid("body", "holds no line")
        if len(lines) > MAX_LINES:
            raise invalid("body", f"holds {len(lines)} lines; {MAX_LINES} are accepted")
        return [_import_line(n, line) for n, line in lines]


class PassageLine(Body):
    text: Text
    seq_from: int | None = Field(default=None, ge=1)
    seq_to: int | None = Field(default=None, ge=1)
    trust: Trust | None = None


class ProvenanceLine(Body):
    """What an exported row says of its origin; ``by`` becomes ``import``, and so does ``trust`` unless it is lower."""

    by: str | None = None
    session_id: Identifier | None = None
    seq_from: int | None = Field(default=None, ge=1)
    seq_to: int | None = Field(default=None, ge=1)
    model: Label | None = None
    trust: Trust | None = None


class ImportLine(Body):
    id: MemoryId | None = None
    text: Text
    kind: WritableKind = "manual"
    session_id: Identifier | None = None
    scope: ScopeName | None = None
    priority: PriorityName | None = None
    importance: Importance = 3
    confidence: Confidence = 1.0
    status: Literal["active", "resolved", "inbox", "archived"] = "active"
    label: Label | None = None
    group: Label | None = None
    tags: Tags = Field(default_factory=list)
    passages: list[PassageLine] = Field(default_factory=list)
    provenance: ProvenanceLine | None = None
    created_at: Time | None = None
    observed_at: Time | None = None
    last_used_at: Time | None = None

    def row(self, at: str) -> ImportedRow:
        """``at``: where the line stands, for what is wrong with it."""
        if self.scope == "session" and self.session_id is None:
            raise invalid(f"{at}.session_id", "is required when scope is session")
        origin = self.provenance or ProvenanceLine()
        return ImportedRow(
            text=self.text,
            kind=Kind(self.kind),
            id=self.id,
            session_id=self.session_id,
            scope=Scope(self.scope) if self.scope else None,
            priority=Priority(self.priority) if self.priority else None,
            importance=self.importance,
            confidence=self.confidence,
            status=Status(self.status),
            label=self.label,
            group=self.group,
            tags=tuple(self.tags),
            passages=tuple(MemoryPassage(p.text, p.seq_from, p.seq_to, p.trust) for p in self.passages),
            created_at=self.created_at,
            observed_at=self.observed_at,
            last_used_at=self.last_used_at,
            seq_from=origin.seq_from,
            seq_to=origin.seq_to,
            model=origin.model,
            trust=origin.trust,
        )


def _import_line(number: int, line: str) -> ImportedRow:
    at = f"lines[{number}]"
    return check_model(ImportLine, parse_json(line, at), at).row(at)


# --- answers ------------------------------------------------------------------------------------


class PassageView(View):
    text: str
    seq_from: int | None = None
    seq_to: int | None = None
    trust: Trust | None = None

    @classmethod
    def of(cls, passage: MemoryPassage) -> Self:
        return cls(text=passage.text, seq_from=passage.seq_from, seq_to=passage.seq_to, trust=passage.trust)


class ProvenanceView(View):
    by: str
    session_id: str | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    model: str | None = None
    trust: Trust = Field(
        description="Whose word it is at the least: that of its lowest passage, or of its lowest source."
    )


class MemoryView(View):
    id: str
    kind: str
    tier: str
    scope: str
    session_id: str | None = None
    text: str
    passages: list[PassageView] | None = None
    priority: str
    importance: int
    confidence: float
    status: str
    label: str | None = None
    group: str | None = None
    tags: list[str]
    fingerprint: str
    occurrences: int
    supersedes: list[str]
    superseded_by: str | None = None
    superseded_at: str | None = None
    superseded_reason: str | None = None
    provenance: ProvenanceView
    observed_date: str | None = None
    time_of_day: str | None = None
    referenced_date: str | None = None
    created_at: str
    observed_at: str
    last_used_at: str
    last_accessed_at: str | None = None
    tokens: int
    embedding_state: str
    embedding_model: str | None = None
    rev: int

    @classmethod
    def of(cls, memory: Memory) -> Self:
        plain = {name: getattr(memory, name) for name in cls.model_fields if name not in ("provenance", "passages")}
        origin = memory.provenance
        return cls(
            **plain | {"tags": list(memory.tags), "supersedes": list(memory.supersedes)},
            passages=[PassageView.of(passage) for passage in memory.passages] or None,
            provenance=ProvenanceView(
                by=origin.by,
                session_id=origin.session_id,
                seq_from=origin.seq_from,
                seq_to=origin.seq_to,
                model=origin.model,
                trust=origin.trusted,
            ),
        )


class MemoryPage(Page):
    listed = "memories"

    memories: list[MemoryView]
    next_cursor: str | None = None

    @classmethod
    def of(cls, memories: list[Memory], next_cursor: str | None) -> MemoryPage:
        return cls(memories=[MemoryView.of(memory) for memory in memories], next_cursor=next_cursor)


class PackVersionRef(View):
    session_id: str
    version: int


class DeletedView(View):
    id: str
    in_packs: list[PackVersionRef] = Field(description="Frozen pack versions that still hold the text.")
    derived: list[str] = Field(description="Memories that were made from it.")

    @classmethod
    def of(cls, deleted: Deleted) -> Self:
        packs = [PackVersionRef(session_id=session, version=version) for session, version in deleted.in_packs]
        return cls(id=deleted.id, in_packs=packs, derived=deleted.derived)


class UsedView(View):
    used: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, marked: Marked) -> Self:
        return cls(used=marked.used, unknown=marked.unknown)


class ImportView(View):
    imported: list[str]
    unchanged: list[str] = Field(description="Ids that were here already with the same text.")
    conflicting: list[str] = Field(description="Ids that were here already with another text, which stays.")

    @classmethod
    def of(cls, report: ImportReport) -> Self:
        return cls(imported=report.imported, unchanged=report.unchanged, conflicting=report.conflicting)


# --- calls --------------------------------------------------------------------------------------

_MEMORIES = "/v1/users/{user_id}/memories"

LIST_MEMORIES = Operation(
    method="GET",
    path=_MEMORIES,
    id="listMemories",
    tag="memories",
    summary="List a user's memories, oldest first.",
    scope="records",
    query=ListQuery,
    body=Nothing,
    responses={200: Response("One page.", MemoryPage)},
)
CREATE_MEMORY = Operation(
    method="POST",
    path=_MEMORIES,
    id="createMemory",
    tag="memories",
    summary="Keep one memory.",
    scope="records",
    query=CreateQuery,
    body=CreateBody,
    responses={201: Response("The stored memory.", MemoryView)},
    codes=("session_not_found", "memory_not_found", *USER_WRITE),
    idempotent=True,
)
GET_MEMORY = Operation(
    method="GET",
    path=_MEMORIES + "/{memory_id}",
    id="readMemory",
    tag="memories",
    summary="Read one memory, whatever its status.",
    scope="records",
    query=Nothing,
    body=Nothing,
    responses={200: Response("The memory.", MemoryView, headers={"ETag": "The rev, in quotes."})},
    codes=("memory_not_found",),
)
UPDATE_MEMORY = Operation(
    method="PATCH",
    path=_MEMORIES + "/{memory_id}",
    id="updateMemory",
    tag="memories",
    summary="Change one memory in place.",
    scope="records",
    query=Nothing,
    body=UpdateBody,
    responses={200: Response("The memory as it is now.", MemoryView, headers={"ETag": "The rev, in quotes."})},
    codes=("memory_not_found", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
DELETE_MEMORY = Operation(
    method="DELETE",
    path=_MEMORIES + "/{memory_id}",
    id="deleteMemory",
    tag="memories",
    summary="Delete one memory for good.",
    scope="records",
    query=Nothing,
    body=Nothing,
    responses={200: Response("Deleted; where its words may still stand.", DeletedView)},
    codes=("memory_not_found", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
MARK_USED = Operation(
    method="POST",
    path=_MEMORIES + "/used",
    id="markMemoriesUsed",
    tag="memories",
    summary="Say which memories an answer cited.",
    scope="records",
    query=Nothing,
    body=UsedBody,
    responses={200: Response("Which of them moved.", UsedView)},
    codes=USER_WRITE,
    idempotent=True,
)
IMPORT_MEMORIES = Operation(
    method="POST",
    path=_MEMORIES + "/import",
    id="importMemories",
    tag="memories",
    summary="Bring memories in with their ids and times.",
    scope="records",
    query=Nothing,
    body=ImportText,
    responses={200: Response("What was imported.", ImportView)},
    codes=USER_WRITE,
    idempotent=True,
)
