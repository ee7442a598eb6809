"""E9 ``memories/import``: one memory of an import, as an export has it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from neve.domain.errors import invalid
from neve.domain.ids import is_document_id
from neve.domain.records.memories import MemoryPassage
from neve.http.operations import Body
from neve.http.schemas import enums
from neve.http.schemas.enums import (
    Audience,
    Category,
    MemoryKind,
    MemoryScope,
    MemoryStatus,
    Outcome,
    TimeOfDay,
    Trust,
    WrittenBy,
)
from neve.http.schemas.fields import About, Day, Identifier, Label, Metadata, Seq, Time
from neve.http.schemas.memories.fields import (
    MAX_REASON,
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
from neve.usecases.tell.memories.import_memories import ImportedRow

MAX_LINE_BYTES, BESIDE_A_PASSAGE = 262_000, 64
"""The bytes of a line's text and passages in UTF-8, and for each passage its range: a row of 400 KB (*limit*, DynamoDB)
holds what else a line may have, 130 KB, beside them. A text of ``MAX_TEXT`` always fits."""


class PassageLine(Body):
    text: Text
    seq_from: Seq | None = None
    seq_to: Seq | None = None
    trust: Trust | None = None


class ProvenanceLine(Body):
    """The origin that an exported row names; ``by`` becomes ``import``, and so does ``trust`` unless it is lower."""

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
    kind: MemoryKind = "manual"
    session_id: Identifier | None = None
    scope: MemoryScope | None = None
    priority: enums.Priority | None = None
    importance: Importance = 3
    confidence: Confidence = 1.0
    status: MemoryStatus = "active"
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
    metadata: Metadata = Field(default_factory=dict)
    never_recall: bool = False
    valid_from: Time | None = None
    valid_until: Time | None = None
    written_by: WrittenBy | None = None
    about: About = Field(default_factory=list)
    audience: Audience | None = Field(default=None, description="`session`: told in its `session_id` alone.")
    passages: list[PassageLine] = Field(default_factory=list)
    provenance: ProvenanceLine | None = None
    created_at: Time | None = None
    observed_at: Time | None = None
    observed_date: Day | None = Field(default=None, description="Local to whoever said it; default the day in UTC.")
    time_of_day: TimeOfDay | None = None
    last_used_at: Time | None = None

    def row(self, at: str, own_id: str) -> ImportedRow:
        """Make the row of a line. ``at``: where the line stands, for what is wrong with it. ``own_id``: for a line
        without one."""
        check_fields(self, f"{at}.", needs_session=False)
        if self.id is not None and is_document_id(self.id):
            raise invalid(f"{at}.id", "must not have the form of a document id")
        if self.audience is not None and self.session_id is None:
            raise invalid(f"{at}.session_id", "is required with audience: the session that is told of it")
        self._check_size(at)
        origin = self.provenance or ProvenanceLine()
        _check_range(f"{at}.provenance", origin)
        for n, passage in enumerate(self.passages):
            _check_range(f"{at}.passages[{n}]", passage)
        return memory_record(
            self,
            ImportedRow,
            id=self.id or own_id,
            key_topics=tuple(self.key_topics or ()),
            about=tuple(self.about),
            passages=tuple(MemoryPassage(p.text, p.seq_from, p.seq_to, p.trust) for p in self.passages),
            seq_from=origin.seq_from,
            seq_to=origin.seq_to,
            model=origin.model,
            trust=origin.trust,
            at=at,
        )

    def _check_size(self, at: str) -> None:
        """Refuse passages that do not fit into a row beside the text, which holds what they say once more. Raises
        422."""
        texts = [self.text, *(passage.text for passage in self.passages)]
        size = sum(len(text.encode()) for text in texts) + BESIDE_A_PASSAGE * len(self.passages)
        if size > MAX_LINE_BYTES:
            words = f"make the line {size} bytes long as it is kept, with its text; {MAX_LINE_BYTES} are accepted"
            raise invalid(f"{at}.passages", words)


def _check_range(at: str, of: PassageLine | ProvenanceLine) -> None:
    """Refuse a range that lacks an end, or ends before it begins. Raises 422."""
    if (of.seq_from is None) != (of.seq_to is None):
        absent = "seq_from" if of.seq_from is None else "seq_to"
        raise invalid(f"{at}.{absent}", "is required: seq_from and seq_to go together")
    if of.seq_from is not None and of.seq_to is not None and of.seq_to < of.seq_from:
        raise invalid(f"{at}.seq_to", f"is before seq_from ({of.seq_from})")
