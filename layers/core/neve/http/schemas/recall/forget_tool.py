"""E11: the tool by which a language model forgets."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, RootModel

from neve.domain.compile.last_turn import element
from neve.domain.errors import invalid
from neve.domain.pack.render import indented
from neve.domain.records.jobs import Job
from neve.http.model_mistakes import MistakeView
from neve.http.operations import Body, Response
from neve.http.schemas.fields import Degraded, Filled
from neve.http.schemas.memories.fields import MemoryId
from neve.http.schemas.memories.forget import MAX_QUERY, Confirm, ForgetListView, ToForgetView
from neve.http.schemas.recall.tool_call import ToolAnswer
from neve.http.schemas.recall.tools import NOT_SEARCHED
from neve.http.schemas.recall.write_tools import WriteToolBody, writer
from neve.usecases.ask.memories.list_memories import MemoryFilter
from neve.usecases.tell.forget.list_to_forget import HITS, SHOWN, ToForget


class ForgetArguments(Body):
    id: MemoryId | None = None
    query: Annotated[Filled, Field(max_length=MAX_QUERY)] | None = Field(
        default=None, description=f"What a recall finds for it, at most {HITS} memories."
    )
    dry_run: bool = Field(default=True, description="Only list; false, with `id`: forget it in one call.")
    confirm: Confirm | None = None


class ForgetToolBody(WriteToolBody):
    arguments: ForgetArguments

    def wanted(self) -> ToForget | None:
        """Give what to list; None where a list is confirmed. Raises 422, of the model's arguments."""
        given = self.arguments
        named = [name for name in ("id", "query", "confirm") if getattr(given, name) is not None]
        if not named:
            raise invalid("arguments.id", "is required, or a query, or the confirm of a list")
        if len(named) > 1:
            raise invalid(f"arguments.{named[1]}", f"must be left out beside {named[0]}")
        if given.confirm is not None:
            return None
        if given.query is not None and not given.dry_run:
            raise invalid("arguments.dry_run", "must be true with a query: confirm what the list shows")
        return ToForget(MemoryFilter(), given.query, (given.id,) if given.id else ())


# --- answers ------------------------------------------------------------------------------------


class ForgetView(ToolAnswer):
    """A list, or the job that forgets one."""

    dry_run: bool
    count: int | None = Field(None, description="Memories that the list has.")
    memories: list[ToForgetView] | None = Field(None, description=f"The first {SHOWN} of them.")
    confirm: str | None = Field(None, description="Has exactly these forgotten, as they were listed.")
    expires_in_s: int | None = Field(None, description="How long the `confirm` is good for.")
    degraded: Degraded | None = Field(None, description="What the search had to do without.")
    job_id: str | None = Field(None, description="Of the job that forgets; its result is the receipt.")

    @classmethod
    def listed(cls, shown: ForgetListView) -> Self:
        blind = not shown.count and bool(shown.degraded)
        return super().of(shown, content=NOT_SEARCHED if blind else _shown(shown), is_error=blind, job_id=None)

    @classmethod
    def queued(cls, job: Job) -> Self:
        content = f"Being forgotten. The job {job.id} says when it is done, and names what was changed and stays."
        return cls.model_validate({"content": content, "is_error": False, "dry_run": False, "job_id": job.id})


def _shown(shown: ForgetListView) -> str:
    """Write a list for the model, as memory's words and not its own."""
    if not shown.count:
        return "Nothing was found to forget."
    lines = "\n".join(indented(f"- [{one.id}] {one.text}") for one in shown.memories)
    return (
        f"{shown.count} would be forgotten; nothing is yet. Ask the user, then call forget with confirm"
        f" {shown.confirm}.\n{element('neve-retrieved', lines)}"
    )


class ForgetOrMistake(RootModel[ForgetView | MistakeView]):
    """`is_error` alone does not say which one: nobody may be able to look."""


FORGET = writer(
    "forget",
    "Lists first: a `confirm` over exactly what it shows has it forgotten. Under `propose` a person confirms it, by"
    " `POST /memories/forget`.",
    ForgetToolBody,
    Response("A list, or the job; or what is wrong with the arguments.", ForgetOrMistake),
)
