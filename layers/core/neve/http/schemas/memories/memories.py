"""E9: memories as the API shows and takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Self

from pydantic import Field

from neve.domain.errors import invalid
from neve.domain.memories.copies import Copy
from neve.domain.memories.statements import statements
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import (
    Kind,
    Memory,
    Priority,
    Provenance,
    Scope,
    Status,
)
from neve.http.operations import USER_WRITE, Body, Nothing, Operation, Parameters, Response, View
from neve.http.pages import Page
from neve.http.schemas import enums
from neve.http.schemas.enums import (
    Category,
    CopyPlace,
    CopyReason,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    MemoryStatusChange,
    Outcome,
    SaidBy,
    Tier,
)
from neve.http.schemas.fields import Clearable, Cursor, Identifier, Label, Limit, Metadata, MetadataParameters, Time
from neve.http.schemas.memories.fields import (
    ClearableTone,
    Confidence,
    Importance,
    MemoryId,
    Tags,
    Text,
    Tone,
    Topics,
    check_fields,
)
from neve.http.schemas.memories.memory_view import MemoryView
from neve.usecases.ask.memories.list_memories import MemoryFilter
from neve.usecases.tell.memories.create_memory import NewMemory
from neve.usecases.tell.memories.delete_memory import Deleted
from neve.usecases.tell.memories.mark_used import Marked
from neve.usecases.tell.memories.update_memory import MemoryChange, Reworded


class ListQuery(Parameters):
    kind: MemoryKind | None = None
    tier: Tier | None = None
    category: Category | None = None
    status: MemoryStatus | None = Field(default=None, description="Default: active, resolved and inbox.")
    scope: MemoryScope | None = None
    session_id: Identifier | None = None
    group: Label | None = None
    tag: Label | None = None
    metadata: MetadataParameters = Field(default_factory=dict)
    never_recall: bool | None = None
    limit: Limit = 50
    cursor: Cursor | None = None

    def filter(self) -> MemoryFilter:
        return MemoryFilter(
            kind=self.kind,
            tier=self.tier,
            category=self.category,
            status=self.status,
            scope=self.scope,
            session_id=self.session_id,
            group=self.group,
            tags=(self.tag,) if self.tag else (),
            metadata=tuple(sorted(self.metadata.items())),
            never_recall=self.never_recall,
        )


class CreateQuery(Parameters):
    wait: Literal["embedded"] | None = Field(default=None, description="Answer when the search index has it, or 20 s.")
    split: bool = Field(default=False, description="Of a fact: keep each of its statements by itself.")


class CreateBody(Body):
    """A `fact` needs a `category`, a `session_summary` an `outcome` and a `session_id`; no other kind has those two
    fields."""

    text: Text
    kind: MemoryKind = "manual"
    category: Category | None = None
    by: SaidBy | None = Field(default=None, description="Of a fact: whose word it is; default human_edit.")
    outcome: Outcome | None = None
    emotional_tone: Tone | None = None
    key_topics: Topics | None = None
    session_id: Identifier | None = Field(default=None, description="Its session; without one the memory is global.")
    scope: MemoryScope | None = Field(default=None, description="Default: session with a session_id, else global.")
    priority: enums.Priority | None = Field(default=None, description="Default: high for manual, medium for others.")
    importance: Importance = 3
    confidence: Confidence = 1.0
    label: Label | None = Field(default=None, description="The caller's project or channel.")
    group: Label | None = None
    tags: Tags = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict, description="Labels of the caller's own.")
    never_recall: bool = Field(default=False, description="Listed, but neither packed nor recalled.")
    observed_at: Time | None = Field(default=None, description="When it was said or true; default now.")

    def command(self) -> NewMemory:
        """Make the memory to store, of every kind but ``fact``."""
        check_fields(self, "")
        return NewMemory(
            text=self.text,
            kind=Kind(self.kind),
            outcome=self.outcome,
            emotional_tone=self.emotional_tone,
            key_topics=tuple(self.key_topics or ()),
            session_id=self.session_id,
            scope=Scope(self.scope) if self.scope else None,
            priority=Priority(self.priority) if self.priority else None,
            importance=self.importance,
            confidence=self.confidence,
            label=self.label,
            group=self.group,
            tags=tuple(self.tags),
            metadata=self.metadata,
            never_recall=self.never_recall,
            observed_at=self.observed_at,
        )

    def facts(self, *, split: bool) -> list[FactCandidate]:
        """Make the candidates of the kind ``fact``. ``split``: one for each statement of the text."""
        check_fields(self, "")
        if self.category is None:
            raise invalid("category", "is required for the kind fact")
        fact = FactCandidate(
            text=self.text,
            category=self.category,
            origin=Provenance(self.by or "human_edit", self.session_id),
            importance=self.importance,
            confidence=self.confidence if "confidence" in self.model_fields_set else None,
            scope=Scope(self.scope) if self.scope else None,
            priority=Priority(self.priority) if self.priority else None,
            label=self.label,
            group=self.group,
            tags=tuple(self.tags),
            metadata=self.metadata,
            never_recall=self.never_recall,
            observed_at=self.observed_at,
        )
        return [replace(fact, text=one) for one in statements(self.text)] if split else [fact]


class UpdateBody(Body):
    """The fields to change, at least one. A field that is absent stays as it is."""

    text: Text | None = None
    priority: enums.Priority | None = None
    importance: Importance | None = None
    confidence: Confidence | None = None
    status: MemoryStatusChange | None = None
    category: Category | None = None
    outcome: Outcome | None = None
    emotional_tone: ClearableTone | None = Field(default=None, description="Empty: none.")
    key_topics: Topics | None = None
    label: Clearable | None = Field(default=None, description="Empty: none.")
    group: Clearable | None = Field(default=None, description="Empty: none.")
    tags: Tags | None = None
    metadata: Metadata | None = Field(
        default=None, description="Takes the place of what is there; `{}` takes all of it away."
    )
    never_recall: bool | None = Field(default=None, description="Listed, but neither packed nor recalled.")

    def command(self) -> MemoryChange:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if not fields:
            raise invalid("body", "has no field to change")
        casts: dict[str, Any] = {"priority": Priority, "status": Status, "tags": tuple, "key_topics": tuple}
        casts |= dict.fromkeys(("emotional_tone", "label", "group"), lambda text: text or None)
        return MemoryChange({name: casts.get(name, lambda same: same)(value) for name, value in fields.items()})


class DeleteQuery(Parameters):
    purge_packs: bool = Field(
        default=False, description="Take the frozen pack versions that hold it away, too; the next read rebuilds them."
    )
    cascade: bool = Field(default=False, description="Delete the reflections that were made of it, too.")

    def options(self) -> dict[str, bool]:
        return {"purge_packs": self.purge_packs, "cascade": self.cascade}


class UsedBody(Body):
    ids: list[MemoryId] = Field(min_length=1, max_length=50)


# --- answers ------------------------------------------------------------------------------------


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


class CopyView(View):
    """Fields that do not apply are absent."""

    where: CopyPlace = Field(
        description="`events` of the log, the `summary` that stands for them in prompts, a `document`, or a `memory`."
    )
    because: CopyReason = Field(description="It says the same words, or it was made of the same events.")
    id: str | None = Field(None, description="Of a memory.")
    path: str | None = Field(None, description="Of a document.")
    status: MemoryStatus | None = Field(None, description="Of a memory or a document.")
    session_id: str | None = Field(None, description="Of events, and of a summary.")
    seq_from: int | None = Field(None, description="The first event.")
    seq_to: int | None = Field(None, description="The last event.")

    @classmethod
    def of(cls, copy: Copy) -> Self:
        return cls(where=copy.place, **{name: getattr(copy, name) for name in cls.model_fields if name != "where"})


class ChangedView(MemoryView):
    """``also_in`` is there where the text is another one."""

    also_in: list[CopyView] | None = Field(
        None, description="Where else what it said before may still stand: at most 50 places, the log first."
    )
    also_in_complete: bool | None = Field(
        None, description="Whether everything was looked at, and everything found is named."
    )

    @classmethod
    def after(cls, changed: Reworded) -> Self:
        view, found = cls.of(changed.memory), changed.also_in
        if found is None:
            return view
        copies = [CopyView.of(copy) for copy in found.copies]
        return view.model_copy(update={"also_in": copies, "also_in_complete": found.complete})


class DeletedView(View):
    id: str
    in_packs: list[PackVersionRef] = Field(description="Frozen pack versions that still hold the text.")
    derived: list[str] = Field(description="Reflections and copies that were made from it and are still there.")
    purged_packs: list[PackVersionRef] = Field(description="Pack versions that held it and went with it.")
    packs_complete: bool = Field(
        description="False: of very many pack versions not all are named, or with `purge_packs` not all had time to go."
        " The same call without an `Idempotency-Key` goes on, until it is true or 404."
    )
    deleted_derived: list[str] = Field(description="What was made from it and went with it.")
    also_in: list[CopyView] = Field(
        description="Where else what it said may still stand: at most 50 places, the log first."
    )
    also_in_complete: bool = Field(description="Whether everything was looked at, and everything found is named.")

    @classmethod
    def of(cls, deleted: Deleted) -> Self:
        return cls(
            id=deleted.id,
            in_packs=_versions(deleted.in_packs),
            derived=deleted.derived,
            purged_packs=_versions(deleted.purged_packs),
            packs_complete=deleted.packs_complete,
            deleted_derived=deleted.deleted_derived,
            also_in=[CopyView.of(copy) for copy in deleted.also_in.copies] if deleted.also_in else [],
            also_in_complete=deleted.also_in is not None and deleted.also_in.complete,
        )


def _versions(held: Iterable[tuple[str, int]]) -> list[PackVersionRef]:
    return [PackVersionRef(session_id=session, version=version) for session, version in held]


class UsedView(View):
    used: list[str]
    unknown: list[str]

    @classmethod
    def of(cls, marked: Marked) -> Self:
        return cls(used=marked.used, unknown=marked.unknown)


# --- calls --------------------------------------------------------------------------------------

MEMORIES = "/v1/users/{user_id}/memories"

LIST_MEMORIES = Operation(
    method="GET",
    path=MEMORIES,
    id="listMemories",
    tag="memories",
    summary="List a user's memories, oldest first.",
    scope="records",
    query=ListQuery,
    body=Nothing,
    responses={200: Response("One page.", MemoryPage)},
)
GET_MEMORY = Operation(
    method="GET",
    path=MEMORIES + "/{memory_id}",
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
    path=MEMORIES + "/{memory_id}",
    id="updateMemory",
    tag="memories",
    summary="Change one memory in place.",
    scope="records",
    query=Nothing,
    body=UpdateBody,
    responses={200: Response("The memory as it is now.", ChangedView, headers={"ETag": "The rev, in quotes."})},
    codes=("memory_not_found", "pii_blocked", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
DELETE_MEMORY = Operation(
    method="DELETE",
    path=MEMORIES + "/{memory_id}",
    id="deleteMemory",
    tag="memories",
    summary="Delete one memory for good.",
    scope="records",
    query=DeleteQuery,
    body=Nothing,
    responses={200: Response("Deleted; where its words may still stand.", DeletedView)},
    codes=("memory_not_found", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
MARK_USED = Operation(
    method="POST",
    path=MEMORIES + "/used",
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
