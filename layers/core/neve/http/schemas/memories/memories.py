"""E9: memories as the API shows and takes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field

from neve.domain.errors import invalid
from neve.domain.ids import MEMORY_ID, is_document_id, is_memory_id
from neve.domain.memories.copies import Because, Copy, Place
from neve.domain.memories.statements import statements
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.memories.text import TimeOfDay, relative_date
from neve.domain.records.memories import (
    Category,
    Criteria,
    Judged,
    Kind,
    Memory,
    MemoryPassage,
    Pii,
    Priority,
    Provenance,
    Relation,
    Route,
    Scope,
    Status,
    Trust,
    Via,
)
from neve.domain.records.sessions import Outcome
from neve.http.operations import USER_WRITE, Body, Nothing, Operation, Parameters, Response, View
from neve.http.pages import Page
from neve.http.schemas.fields import Cursor, Day, Filled, Identifier, Limit, Seq, Time, Unset, refuse_null, unchanged
from neve.usecases.memories.create_memory import NewMemory
from neve.usecases.memories.delete_memory import Deleted
from neve.usecases.memories.import_memories import ImportedRow
from neve.usecases.memories.list_memories import MemoryFilter
from neve.usecases.memories.mark_used import Marked
from neve.usecases.memories.update_memory import MemoryChange

MAX_TEXT = 64_000
MAX_REASON = 2_000
MAX_LINE_BYTES, BESIDE_A_PASSAGE = 280_000, 64
"""Of a line's text and passages in UTF-8, and for each passage its range: a row of 400 KB (*limit*, DynamoDB) holds
what else a line may have, 110 KB, beside them. A text of ``MAX_TEXT`` always fits."""


def _memory_id(text: str) -> str:
    if not is_memory_id(text):
        raise ValueError("must be 1 to 64 of A-Z a-z 0-9 _ -")
    return text


MemoryId = Annotated[
    str,
    AfterValidator(_memory_id),
    Field(min_length=1, max_length=64, json_schema_extra={"pattern": f"^{MEMORY_ID}$"}),
]
Text = Annotated[Filled, Field(max_length=MAX_TEXT)]
Label = Annotated[str, Field(min_length=1, max_length=128)]
Tags = Annotated[list[Label], Field(max_length=32)]
KindName = Literal["observation", "reflection", "fact", "session_summary", "note", "manual"]
Topics = Annotated[list[Label], Field(max_length=32)]
Tone = Annotated[str, Field(min_length=1, max_length=200)]
PriorityName = Literal["high", "medium", "low"]
StatusName = Literal["active", "resolved", "inbox", "superseded", "archived"]
ScopeName = Literal["session", "global"]
Importance = Annotated[int, Field(ge=1, le=5)]
Confidence = Annotated[
    float, Field(ge=0, le=1, description="Kept to six places."), AfterValidator(lambda given: round(given, 6))
]


class ListQuery(Parameters):
    kind: KindName | None = None
    tier: Literal["semantic", "episodic"] | None = None
    category: Category | None = None
    status: StatusName | None = Field(default=None, description="Default: active, resolved and inbox.")
    scope: ScopeName | None = None
    session_id: Identifier | None = None
    group: Label | None = None
    tag: Label | None = None
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
        )


class CreateQuery(Parameters):
    wait: Literal["embedded"] | None = Field(default=None, description="Answer when the search index has it, or 20 s.")
    split: bool = Field(default=False, description="Of a fact: keep each of its statements by itself.")


_FIELDS_OF = {
    "fact": ("category", "by"),
    "session_summary": ("outcome", "emotional_tone", "key_topics"),
}
_NEEDED_BY = {"fact": ("category",), "session_summary": ("outcome", "session_id")}


class CreateBody(Body):
    """A `fact` needs a `category`, a `session_summary` an `outcome` and a `session_id`; no other kind has those two
    fields."""

    text: Text
    kind: KindName = "manual"
    category: Category | None = None
    by: Literal["user_stated", "user_confirmed", "human_edit", "assistant", "tool"] | None = Field(
        default=None, description="Of a fact: whose word it is; default human_edit."
    )
    outcome: Outcome | None = None
    emotional_tone: Tone | None = None
    key_topics: Topics | None = None
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
        """Of every kind but ``fact``."""
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
            observed_at=self.observed_at,
        )

    def facts(self, *, split: bool) -> list[FactCandidate]:
        """Of the kind ``fact``. ``split``: one for each statement of the text."""
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
            observed_at=self.observed_at,
        )
        return [replace(fact, text=one) for one in statements(self.text)] if split else [fact]


def check_fields(given: CreateBody | ImportLine, at: str) -> None:
    """Raises 422 for a field that the kind needs and that is missing, or that it does not have. ``at``: what the names
    of fields begin with."""
    if given.scope == "session" and given.session_id is None:
        raise invalid(f"{at}session_id", "is required when scope is session")
    for kind, names in _FIELDS_OF.items():
        for name in names:
            if given.kind != kind and getattr(given, name, None) is not None:
                raise invalid(f"{at}{name}", f"is a field of the kind {kind}")
    for name in _NEEDED_BY.get(given.kind, ()):
        if getattr(given, name) is None and not (name == "session_id" and isinstance(given, ImportLine)):
            raise invalid(f"{at}{name}", f"is required for the kind {given.kind}")


CLEARED_BY_NULL = {"label", "group", "emotional_tone"}


class UpdateBody(Body):
    """At least one field. A field that is absent stays as it is; null takes a label or a group away."""

    text: Text | Unset = unchanged()
    priority: PriorityName | Unset = unchanged()
    importance: Importance | Unset = unchanged()
    confidence: Confidence | Unset = unchanged()
    status: Literal["active", "resolved", "archived"] | Unset = unchanged()
    category: Category | Unset = unchanged()
    outcome: Outcome | Unset = unchanged()
    emotional_tone: Tone | None = None
    key_topics: Topics | Unset = unchanged()
    label: Label | None = None
    group: Label | None = None
    tags: Tags | Unset = unchanged()

    def command(self) -> MemoryChange:
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set}
        if not fields:
            raise invalid("body", "has no field to change")
        refuse_null(self, self.model_fields_set - CLEARED_BY_NULL)
        casts: dict[str, Any] = {"priority": Priority, "status": Status, "tags": tuple, "key_topics": tuple}
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


class PassageLine(Body):
    text: Text
    seq_from: Seq | None = None
    seq_to: Seq | None = None
    trust: Trust | None = None


class ProvenanceLine(Body):
    """What an exported row says of its origin; ``by`` becomes ``import``, and so does ``trust`` unless it is lower."""

    by: str | None = None
    session_id: Identifier | None = None
    seq_from: Seq | None = None
    seq_to: Seq | None = None
    model: Label | None = None
    trust: Trust | None = None


class ImportLine(Body):
    type: Literal["memory"] = "memory"
    id: MemoryId | None = Field(
        default=None, description="Its own. Without one it follows from the line, so that a repeat adds nothing."
    )
    text: Text
    kind: KindName = "manual"
    session_id: Identifier | None = None
    scope: ScopeName | None = None
    priority: PriorityName | None = None
    importance: Importance = 3
    confidence: Confidence = 1.0
    status: StatusName = "active"
    category: Category | None = None
    outcome: Outcome | None = None
    emotional_tone: Tone | None = None
    key_topics: Topics | None = None
    occurrences: Annotated[int, Field(ge=1, le=10**9)] = 1
    supersedes: list[MemoryId] = Field(default_factory=list, max_length=1_000)
    superseded_by: MemoryId | None = None
    superseded_at: Time | None = None
    superseded_reason: Annotated[str, Field(max_length=MAX_REASON)] | None = None
    label: Label | None = None
    group: Label | None = None
    tags: Tags = Field(default_factory=list)
    passages: list[PassageLine] = Field(default_factory=list)
    provenance: ProvenanceLine | None = None
    created_at: Time | None = None
    observed_at: Time | None = None
    observed_date: Day | None = Field(default=None, description="Local to whoever said it; default the day in UTC.")
    time_of_day: TimeOfDay | None = None
    last_used_at: Time | None = None

    def row(self, at: str, own_id: str) -> ImportedRow:
        """``at``: where the line stands, for what is wrong with it. ``own_id``: for a line without one."""
        check_fields(self, f"{at}.")
        if self.id is not None and is_document_id(self.id):
            raise invalid(f"{at}.id", "must not have the form of a document id")
        self._check_size(at)
        origin = self.provenance or ProvenanceLine()
        return ImportedRow(
            text=self.text,
            kind=Kind(self.kind),
            id=self.id or own_id,
            session_id=self.session_id,
            scope=Scope(self.scope) if self.scope else None,
            priority=Priority(self.priority) if self.priority else None,
            importance=self.importance,
            confidence=self.confidence,
            status=Status(self.status),
            category=self.category,
            outcome=self.outcome,
            emotional_tone=self.emotional_tone,
            key_topics=tuple(self.key_topics or ()),
            occurrences=self.occurrences,
            supersedes=tuple(self.supersedes),
            superseded_by=self.superseded_by,
            superseded_at=self.superseded_at,
            superseded_reason=self.superseded_reason,
            label=self.label,
            group=self.group,
            tags=tuple(self.tags),
            passages=tuple(MemoryPassage(p.text, p.seq_from, p.seq_to, p.trust) for p in self.passages),
            created_at=self.created_at,
            observed_at=self.observed_at,
            observed_date=self.observed_date,
            time_of_day=self.time_of_day,
            last_used_at=self.last_used_at,
            seq_from=origin.seq_from,
            seq_to=origin.seq_to,
            model=origin.model,
            trust=origin.trust,
            at=at,
        )

    def _check_size(self, at: str) -> None:
        """Raises 422 for passages that do not fit into a row beside the text, which holds what they say once more."""
        texts = [self.text, *(passage.text for passage in self.passages)]
        size = sum(len(text.encode()) for text in texts) + BESIDE_A_PASSAGE * len(self.passages)
        if size > MAX_LINE_BYTES:
            words = f"make the line {size} bytes long as it is kept, with its text; {MAX_LINE_BYTES} are accepted"
            raise invalid(f"{at}.passages", words)


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


class CriteriaView(View):
    """What the storage decision looked at."""

    pii: Pii
    provenance: bool = Field(description="Whether the source may state facts.")
    importance: bool = Field(description="Whether it reaches the policy's minimum, or was to be remembered.")
    novelty: bool = Field(description="Whether nothing that is kept says the same.")
    contradiction: Relation

    @classmethod
    def of(cls, criteria: Criteria) -> Self:
        return cls(**asdict(criteria))


class JudgedView(View):
    """Why a fact is kept as it is."""

    criteria: CriteriaView
    route: Route
    reason: str
    via: Via
    target_id: str | None = Field(default=None, description="The memory that it reinforces or corrects.")

    @classmethod
    def of(cls, judged: Judged) -> Self:
        return cls(
            criteria=CriteriaView.of(judged.criteria),
            route=judged.route,
            reason=judged.reason,
            via=judged.via,
            target_id=judged.target_id,
        )


class MemoryView(View):
    id: str
    kind: str
    tier: str
    scope: str
    session_id: str | None = None
    text: str
    category: str | None = None
    outcome: str | None = None
    emotional_tone: str | None = None
    key_topics: list[str] | None = None
    judged: JudgedView | None = None
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
    relative_date: str | None = None
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
        return cls(**cls.fields_of(memory))

    @classmethod
    def fields_of(cls, memory: Memory) -> dict[str, Any]:
        origin = memory.provenance
        plain = {name: getattr(memory, name) for name in MemoryView.model_fields if name not in _OF_ITS_OWN}
        return plain | {
            "tags": list(memory.tags),
            "supersedes": list(memory.supersedes),
            "relative_date": relative_date(memory.observed_date, memory.referenced_date),
            "key_topics": list(memory.key_topics) if memory.kind is Kind.SESSION_SUMMARY else None,
            "judged": JudgedView.of(memory.judged) if memory.judged else None,
            "passages": [PassageView.of(passage) for passage in memory.passages] or None,
            "provenance": ProvenanceView(
                by=origin.by,
                session_id=origin.session_id,
                seq_from=origin.seq_from,
                seq_to=origin.seq_to,
                model=origin.model,
                trust=origin.trusted,
            ),
        }


_OF_ITS_OWN = ("provenance", "passages", "judged", "key_topics", "relative_date")


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

    where: Place = Field(
        description="`events` of the log, the `summary` that stands for them in prompts, a `document`, or a `memory`."
    )
    because: Because = Field(description="It says the same words, or it was made of the same events.")
    id: str | None = Field(None, description="Of a memory.")
    path: str | None = Field(None, description="Of a document.")
    status: Status | None = Field(None, description="Of a memory or a document.")
    session_id: str | None = Field(None, description="Of events, and of a summary.")
    seq_from: int | None = Field(None, description="The first event.")
    seq_to: int | None = Field(None, description="The last event.")

    @classmethod
    def of(cls, copy: Copy) -> Self:
        return cls(where=copy.place, **{name: getattr(copy, name) for name in cls.model_fields if name != "where"})


class DeletedView(View):
    id: str
    in_packs: list[PackVersionRef] = Field(description="Frozen pack versions that still hold the text.")
    derived: list[str] = Field(description="Reflections and copies that were made from it and are still there.")
    purged_packs: list[PackVersionRef] = Field(description="Pack versions that held it and went with it.")
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
    responses={200: Response("The memory as it is now.", MemoryView, headers={"ETag": "The rev, in quotes."})},
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
