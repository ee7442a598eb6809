"""E11: the tools by which a language model remembers and corrects."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, RootModel

from neve.http.model_mistakes import MistakeView
from neve.http.operations import USER_WRITE, B, Body, Nothing, Operation, Response, record_of
from neve.http.schemas.enums import Category, FactDecision, Trust, WrittenBy
from neve.http.schemas.fields import Filled, Identifier, Seq
from neve.http.schemas.memories.fields import MAX_REASON, Importance, MemoryId, Text
from neve.http.schemas.recall.tool_call import ToolAnswer, tool_route
from neve.usecases.tell.memories.evolve_memory import Evolution
from neve.usecases.tell.memories.stored_fact import StoredFact
from neve.usecases.tell.tools.correct import Correction
from neve.usecases.tell.tools.remember import ToRemember

ToolUseId = Annotated[
    Filled,
    Field(max_length=200, description="The provider's id of the call: a repeat in its session changes nothing."),
]


class WriteToolBody(Body):
    session_id: Identifier | None = Field(default=None, description="Where the tool was called.")
    tool_use_id: ToolUseId | None = None


class RememberArguments(Body):
    text: Text = Field(description="One statement about the user.")
    category: Category = "BIOGRAPHY"
    importance: Importance = 3
    seq: Seq | None = Field(
        default=None, description="The user's message in the session that says it: then it is the user's word."
    )


class RememberBody(WriteToolBody):
    arguments: RememberArguments

    def wanted(self) -> ToRemember:
        return record_of(self.arguments, ToRemember)


class CorrectArguments(Body):
    id: MemoryId
    text: Text = Field(description="What holds now.")
    reason: Filled = Field(max_length=MAX_REASON, description="Why, for the trace.")


class CorrectBody(WriteToolBody):
    arguments: CorrectArguments

    def evolution(self) -> Evolution:
        return Evolution(self.arguments.text, self.arguments.reason)


# --- answers ------------------------------------------------------------------------------------


class RememberView(ToolAnswer):
    decision: FactDecision | Literal["rejected"] = Field(description="That of the storage decision.")
    reason: str
    id: str | None = Field(None, description="Of the memory; absent where it is not kept.")
    status: str | None
    trust: Trust | None = Field(None, description="`user`: the message says all of it.")
    written_by: WrittenBy | None = Field(None, description="Absent where somebody else wrote the memory.")

    @classmethod
    def of(cls, stored: StoredFact) -> Self:
        memory = stored.memory
        return super().of(
            stored,
            content=_remembered(stored),
            is_error=memory is None,
            id=memory.id if memory else None,
            status=memory.status if memory else None,
            trust=memory.provenance.trusted if memory else None,
            written_by=memory.written_by if memory else None,
        )


def _remembered(stored: StoredFact) -> str:
    memory = stored.memory
    if memory is None:
        return f"Not remembered. {stored.reason}"
    if memory.status == "inbox":
        return f"Proposed as {memory.id}: a person has to approve it before it holds. {stored.reason}"
    if stored.decision == "reinforced":
        return f"This was known already, as {memory.id}."
    return f"Remembered as {memory.id}."


class CorrectView(ToolAnswer):
    id: str | None = Field(None, description="Of what holds now, or waits; absent where it is not kept.")
    corrects: str = Field(description="The memory whose place it takes, or would take.")
    status: str | None
    written_by: WrittenBy | None

    @classmethod
    def after(cls, memory_id: str, made: Correction) -> Self:
        memory = made.memory
        return cls(
            content=_corrected(memory_id, made),
            is_error=memory is None,
            id=memory.id if memory else None,
            corrects=memory_id,
            status=memory.status if memory else None,
            written_by=memory.written_by if memory else None,
        )


def _corrected(memory_id: str, made: Correction) -> str:
    if made.memory is None:
        return f"Not corrected. {made.reason}"
    if made.waits:
        return f"Proposed as {made.memory.id}: {memory_id} holds until a person decides."
    if made.reason:
        return f"This was known already, as {made.memory.id}. {memory_id} holds, too."
    return f"Corrected: {made.memory.id} took the place of {memory_id}."


class RememberOrMistake(RootModel[RememberView | MistakeView]):
    """`is_error` alone does not say which one: a fact may be refused."""


class CorrectOrMistake(RootModel[CorrectView | MistakeView]):
    """`is_error` alone does not say which one: a correction may be refused."""


def writer(name: str, about: str, body: type[B], found: Response) -> Operation[Nothing, B]:
    """Declare the call of a tool that writes."""
    return Operation(
        **tool_route(name),
        description=about,
        body=body,
        responses={200: found},
        codes=("write_tools_off", "session_not_found", *USER_WRITE),
        idempotent=True,
    )


REMEMBER = writer(
    "remember",
    "A fact through the storage decision, under the policy `write_tools`: `on` keeps it, `propose` puts it into the"
    " inbox, `off` is 403.",
    RememberBody,
    Response("What became of it, or what is wrong with the arguments.", RememberOrMistake),
)
CORRECT = writer(
    "correct",
    "What holds takes the place of a memory, under the policy `write_tools`; 409 when that is superseded already.",
    CorrectBody,
    Response("What holds or waits now, or what is wrong with the arguments.", CorrectOrMistake),
)
