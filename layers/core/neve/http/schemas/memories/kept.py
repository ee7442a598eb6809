"""E9: what is answered when a memory is kept, and when one takes the place of another."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, RootModel

from neve.domain.memories.storage_decision import Decision
from neve.domain.records.memories import Memory
from neve.domain.validity import require_span
from neve.http.operations import USER_WRITE, Body, Operation, Response, View, route
from neve.http.schemas import enums
from neve.http.schemas.enums import Category, FactDecision
from neve.http.schemas.fields import Filled, Time
from neve.http.schemas.memories.fields import MAX_REASON, Importance, Tags, Text, memory_record
from neve.http.schemas.memories.memories import CreateBody, CreateQuery
from neve.http.schemas.memories.memory_view import CriteriaView, MemoryView
from neve.usecases.tell.memories.evolve_memory import Evolution
from neve.usecases.tell.memories.stored_fact import StoredFact

_DECISION: Any = Field(description="`superseded`: stored, in the place of what it corrects.")


class FactView(MemoryView):
    """The row of a fact, and why it is kept as it is. `reinforced`: it was there already."""

    decision: FactDecision = _DECISION
    criteria: CriteriaView
    reason: str


class RejectedFactView(View):
    """A fact that is not kept."""

    decision: Literal["rejected"]
    criteria: CriteriaView
    reason: str


class FactsView(View):
    """The decisions on the statements of a text, with `split`: one for each."""

    facts: list[FactView | RejectedFactView]


class KeptView(RootModel[FactView | RejectedFactView | FactsView | MemoryView]):
    """A memory as it was written; of a fact with the decision; of a fact with `split` a list of them."""


class DecidedFact(View):
    """The decision on a fact: what an answer says of it beside its row, and what of it is kept for a repeat: not the
    text, which may be deleted before the day is over. ``id`` None: it was rejected."""

    id: str | None = None
    decision: Decision
    criteria: CriteriaView
    reason: str

    @classmethod
    def of(cls, stored: StoredFact) -> Self:
        return super().of(stored, id=stored.memory.id if stored.memory else None)

    @classmethod
    def kept(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Give what is kept of an answer's body."""
        return {"facts": [one.model_dump(mode="json", exclude_none=True) for one in cls.read(body)]}

    @classmethod
    def read(cls, body: dict[str, Any]) -> list[Self]:
        """Read the decisions from what is kept, or from an answer's body."""
        return [
            cls(**{name: one[name] for name in cls.model_fields if name in one}) for one in body.get("facts", [body])
        ]

    def view(self, memory: Memory | None, now: str) -> FactView | RejectedFactView:
        """Show the fact. ``memory``: the row as it is shown."""
        if memory is None:
            return RejectedFactView(decision="rejected", criteria=self.criteria, reason=self.reason)
        return FactView.of(memory, now, decision=self.decision, criteria=self.criteria, reason=self.reason)


class EvolveMemoryBody(Body):
    """A field that is absent is as it was, but for the times between which the old one held."""

    text: Text = Field(description="What holds now.")
    reason: Filled = Field(max_length=MAX_REASON, description="Why, for the trace.")
    category: Category | None = None
    importance: Importance | None = None
    priority: enums.Priority | None = None
    tags: Tags | None = None
    valid_from: Time | None = Field(default=None, description="From when on the new one holds; default always.")
    valid_until: Time | None = Field(default=None, description="Until when the new one holds; default always.")

    def command(self) -> Evolution:
        require_span(self.valid_from, self.valid_until)
        return memory_record(self, Evolution)


CREATE_MEMORY = Operation(
    **route("POST", "/v1/users/{user_id}/memories", "createMemory", "memories", "records"),
    summary="Keep one memory.",
    description="A fact goes through the storage decision, whose reasons are in the answer. 201 when a row was written,"
    " 200 when a fact was known already, or is not kept.",
    query=CreateQuery,
    body=CreateBody,
    responses={200: Response("Nothing new was written.", KeptView), 201: Response("The stored memory.", KeptView)},
    codes=("pii_blocked", "session_not_found", "memory_not_found", *USER_WRITE),
    idempotent=True,
)
EVOLVE_MEMORY = Operation(
    **route("POST", "/v1/users/{user_id}/memories/{memory_id}/evolve", "evolveMemory", "memories", "records"),
    summary="Put a statement in the place of a memory that no longer holds.",
    description="The old one becomes superseded and stays readable by its id. 409 when it is not active; of two at once"
    " one wins. A fact that states the new text already takes the place, and is the answer.",
    body=EvolveMemoryBody,
    responses={201: Response("What holds now.", MemoryView, headers={"ETag": "The rev, in quotes."})},
    codes=("pii_blocked", "memory_not_found", *USER_WRITE),
    if_match=True,
    idempotent=True,
)
