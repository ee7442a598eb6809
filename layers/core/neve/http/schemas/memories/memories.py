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
from neve.domain.records.memories import Priority, Provenance, Status
from neve.http.operations import USER_WRITE, Body, Operation, Parameters, Response, View, record_of, route
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
    WrittenBy,
)
from neve.http.schemas.fields import (
    Clearable,
    ClearableTime,
    Cursor,
    Identifier,
    Label,
    Limit,
    Metadata,
    MetadataParameters,
    Time,
)
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
    memory_record,
)
from neve.http.schemas.memories.memory_view import MemoryView
from neve.usecases.ask.memories.list_memories import MemoryFilter
from neve.usecases.tell.memories.create_memory import NewMemory
from neve.usecases.tell.memories.delete_memory import Deleted
from neve.usecases.tell.memories.update_memory import MemoryChange, Reworded

CLEARED_BY_EMPTY = ("emotional_tone", "label", "group", "valid_from", "valid_until")


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
    written_by: WrittenBy | None = Field(default=None, description="`model`: what a model wrote with a tool.")
    as_of: Time | None = Field(default=None, description="What was in force then, whatever its status is now.")
    about: Identifier | None = Field(default=None, description="Said by this participant of its session.")
    limit: Limit = 50
    cursor: Cursor | None = None

    def filter(self) -> MemoryFilter:
        tags, metadata = (self.tag,) if self.tag else (), tuple(sorted(self.metadata.items()))
        return record_of(self, MemoryFilter, tags=tags, metadata=metadata, about=(self.about,) if self.about else ())


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
    valid_from: Time | None = Field(default=None, description="From when on it holds; default always.")
    valid_until: Time | None = Field(
        default=None, description="Until when it holds, that moment not included; behind `valid_from`. Default always."
    )
    observed_at: Time | None = Field(default=None, description="When it was said or true; default now.")

    def command(self) -> NewMemory:
        """Make the memory to store, of every kind but ``fact``."""
        check_fields(self, "")
        return memory_record(self, NewMemory, key_topics=tuple(self.key_topics or ()))

    def facts(self, *, split: bool) -> list[FactCandidate]:
        """Make the candidates of the kind ``fact``. ``split``: one for each statement of the text."""
        check_fields(self, "")
        if self.category is None:
            raise invalid("category", "is required for the kind fact")
        fact = memory_record(
            self,
            FactCandidate,
            origin=Provenance(self.by or "human_edit", self.session_id),
            confidence=self.confidence if "confidence" in self.model_fields_set else None,
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
    valid_from: ClearableTime | None = Field(default=None, description="From when on it holds. Empty: always.")
    valid_until: ClearableTime | None = Field(default=None, description="Until when it holds. Empty: always.")

    def command(self) -> MemoryChange:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if not fields:
            raise invalid("body", "has no field to change")
        casts: dict[str, Any] = {"priority": Priority, "status": Status, "tags": tuple, "key_topics": tuple}
        casts |= dict.fromkeys(CLEARED_BY_EMPTY, lambda text: text or None)
        return MemoryChange({name: casts.get(name, lambda same: same)(value) for name, value in fields.items()})


class DeleteQuery(Parameters):
    purge_packs: bool = Field(
        default=False, description="Take the frozen pack versions that hold it away, too; the next read rebuilds them."
    )
    cascade: bool = Field(default=False, description="Delete the reflections that were made of it, too.")
    dry_run: bool = Field(default=False, description="Answer what would go and where else it stands; delete nothing.")

    def options(self) -> dict[str, bool]:
        return {"purge_packs": self.purge_packs, "cascade": self.cascade}


class UsedBody(Body):
    ids: list[MemoryId] = Field(min_length=1, max_length=50)


# --- answers ------------------------------------------------------------------------------------


class MemoryPage(Page):
    memories: list[MemoryView]
    next_cursor: str | None = None


class PackVersionRef(View):
    session_id: str
    version: int


class CopyView(View):
    """Fields that do not apply are absent."""

    where: CopyPlace = Field(
        description="`events` of the log, the `summary` that stands for them in prompts, a `document`, or a `memory`."
    )
    because: CopyReason = Field(description="It says the same words, or it was made of the same events.")
    id: str | None = Field(None, description="Of a memory or a document.")
    path: str | None = Field(None, description="Of a document.")
    status: MemoryStatus | None = Field(None, description="Of a memory or a document.")
    session_id: str | None = Field(None, description="Of events, and of a summary.")
    seq_from: int | None = Field(None, description="The first event.")
    seq_to: int | None = Field(None, description="The last event.")

    @classmethod
    def of(cls, copy: Copy) -> Self:
        return super().of(copy, where=copy.place)


class ChangedView(MemoryView):
    """``also_in`` is there where the text is another one."""

    also_in: list[CopyView] | None = Field(
        None, description="Where else what it said before may still stand: at most 50 places, the log first."
    )
    also_in_complete: bool | None = Field(
        None, description="Whether everything was looked at, and everything found is named."
    )

    @classmethod
    def after(cls, changed: Reworded, now: str) -> Self:
        found = changed.also_in
        copies = None if found is None else [CopyView.of(copy) for copy in found.copies]
        return cls.of(changed.memory, now, also_in=copies, also_in_complete=found and found.complete)


class DeletedView(View):
    """Name what went and where it still stands; with `dry_run` what would go, and nothing is gone."""

    id: str
    dry_run: Literal[True] | None = None
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
    def of(cls, deleted: Deleted, *, dry_run: bool = False) -> Self:
        return super().of(
            deleted,
            dry_run=dry_run or None,
            in_packs=_versions(deleted.in_packs),
            purged_packs=_versions(deleted.purged_packs),
            also_in=[CopyView.of(copy) for copy in deleted.also_in.copies] if deleted.also_in else [],
            also_in_complete=deleted.also_in is not None and deleted.also_in.complete,
        )


def _versions(held: Iterable[tuple[str, int]]) -> list[PackVersionRef]:
    return [PackVersionRef(session_id=session, version=version) for session, version in held]


class UsedView(View):
    used: list[str]
    unknown: list[str]


# --- calls --------------------------------------------------------------------------------------

MEMORIES = "/v1/users/{user_id}/memories"

LIST_MEMORIES = Operation(
    **route("GET", MEMORIES, "listMemories", "memories", "records"),
    summary="List a user's memories, oldest first.",
    query=ListQuery,
    responses={200: Response("One page.", MemoryPage)},
)
GET_MEMORY = Operation(
    **route("GET", MEMORIES + "/{memory_id}", "readMemory", "memories", "records"),
    summary="Read one memory, whatever its status.",
    responses={200: Response("The memory.", MemoryView, headers={"ETag": "The rev, in quotes."})},
    codes=("memory_not_found",),
)
UPDATE_MEMORY = Operation(
    **route("PATCH", MEMORIES + "/{memory_id}", "updateMemory", "memories", "records"),
    summary="Change one memory in place.",
    body=UpdateBody,
    responses={200: Response("The memory as it is now.", ChangedView, headers={"ETag": "The rev, in quotes."})},
    codes=("memory_not_found", "pii_blocked", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
DELETE_MEMORY = Operation(
    **route("DELETE", MEMORIES + "/{memory_id}", "deleteMemory", "memories", "records"),
    summary="Delete one memory for good.",
    query=DeleteQuery,
    responses={200: Response("Deleted, or what would be; where its words may still stand.", DeletedView)},
    codes=("memory_not_found", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
MARK_USED = Operation(
    **route("POST", MEMORIES + "/used", "markMemoriesUsed", "memories", "records"),
    summary="Say which memories an answer cited.",
    body=UsedBody,
    responses={200: Response("Which of them moved.", UsedView)},
    codes=USER_WRITE,
    idempotent=True,
)
