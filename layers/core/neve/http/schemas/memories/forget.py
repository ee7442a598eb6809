"""E9: forget by filter, in two steps: a list that is shown, and its confirmation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, RootModel

from neve.domain.errors import invalid
from neve.http.operations import USER_WRITE, Body, Operation, Response, View, record_of, route
from neve.http.schemas.enums import Category, MemoryKind, MemoryScope, MemoryStatus, Tier, WrittenBy
from neve.http.schemas.fields import About, Degraded, Filled, Identifier, Label, Metadata, Time
from neve.http.schemas.jobs.jobs import JobOut
from neve.http.schemas.memories.memories import MEMORIES
from neve.usecases.ask.memories.list_memories import MemoryFilter
from neve.usecases.tell.forget.list_to_forget import HITS, SHOWN, ForgetList, ToForget

MAX_SESSIONS = 50
MAX_QUERY = 8_000
Confirm = Annotated[Filled, Field(max_length=100, description="That of a list, at most an hour old.")]


class MemoryFilters(Body):
    """The filters of the list of memories and those of a recall. A document has other calls, so that there is no
    `path_prefix`."""

    kind: MemoryKind | None = None
    tier: Tier | None = None
    category: Category | None = None
    status: MemoryStatus | None = Field(default=None, description="Default: active, resolved and inbox.")
    scope: MemoryScope | None = None
    session_id: Identifier | None = None
    group: Label | None = None
    tags: Annotated[list[Label], Field(max_length=32, description="All of them.")] = Field(default_factory=list)
    metadata: Metadata = Field(default_factory=dict, description="All of them, with these values.")
    never_recall: bool | None = None
    written_by: WrittenBy | None = Field(default=None, description="`model`: what a model wrote with a tool.")
    after: Time | None = Field(default=None, description="Observed at this time or later.")
    before: Time | None = Field(default=None, description="Observed before this time.")
    about: About = Field(default_factory=list, description="Said by any of these participants.")

    def filter(self, sessions: Sequence[str]) -> MemoryFilter:
        """Make the filter. Raises 422 for times between which there is nothing."""
        if self.after is not None and self.before is not None and self.before <= self.after:
            raise invalid("filters.before", f"must be later than filters.after ({self.after})")
        metadata = tuple(sorted(self.metadata.items()))
        of_sessions, about = tuple(dict.fromkeys(sessions)), tuple(self.about)
        return record_of(self, MemoryFilter, metadata=metadata, of_sessions=of_sessions, about=about)


class ForgetBody(Body):
    """`filters`, `query` or `sessions` list what would be forgotten; `confirm` has exactly that forgotten."""

    filters: MemoryFilters | None = None
    query: Annotated[Filled, Field(max_length=MAX_QUERY)] | None = Field(
        default=None, description=f"What a recall in mode `tool` finds for it, at most {HITS} memories."
    )
    sessions: Annotated[list[Identifier], Field(min_length=1, max_length=MAX_SESSIONS)] | None = Field(
        default=None, description="What was made of these conversations and of no others, whatever its status."
    )
    events: bool = Field(default=False, description="With `sessions`: the conversations themselves, too.")
    dry_run: bool = Field(
        default=True, description="Only list; false without `confirm`: list and forget what was found in one call."
    )
    confirm: Confirm | None = None
    purge_packs: bool = Field(
        default=False, description="Take the frozen pack versions that hold any of it away, too, when it is forgotten."
    )

    @property
    def lists_only(self) -> bool:
        """Say whether the call only lists. Raises 422 for what does not go together, and where nothing is named."""
        named = [name for name in ("filters", "query", "sessions") if getattr(self, name) is not None]
        if self.confirm is not None:
            if named or self.events:
                raise invalid((named or ["events"])[0], "must be left out beside confirm, which names the whole list")
            if self.dry_run and "dry_run" in self.model_fields_set:
                raise invalid("dry_run", "must be left out, or false, beside confirm")
            return False
        if not self._names_anything(named):
            raise invalid("filters", "is required, with at least one filter, or a query, sessions or a confirm")
        if self.events and self.sessions is None:
            raise invalid("events", "is for sessions: name the conversations")
        return self.dry_run

    def _names_anything(self, named: Sequence[str]) -> bool:
        return bool(named) and (named != ["filters"] or bool(self.filters and self.filters.model_fields_set))

    def wanted(self) -> ToForget:
        filters = self.filters or MemoryFilters()
        return ToForget(filters.filter(self.sessions or ()), self.query, conversations=self.events)


# --- answers ------------------------------------------------------------------------------------


class ToForgetView(View):
    """One memory, as it is now."""

    id: str
    rev: int
    kind: str
    status: str
    text: str


class ConversationView(View):
    session_id: str
    last_seq: int = Field(description="Up to here it would be taken back; what is said later stays.")


class ForgetListView(View):
    """The list of what would be forgotten. Nothing is, yet."""

    dry_run: bool
    count: int = Field(description="Memories.")
    memories: list[ToForgetView] = Field(description=f"The first {SHOWN} of them.")
    conversations: list[ConversationView] | None = Field(None, description="With `events`.")
    complete: bool = Field(description="False: there is more, which a further list has when this is forgotten.")
    confirm: str | None = Field(
        None, description="Has exactly these forgotten, as long as they are as they were listed."
    )
    expires_in_s: int | None = Field(None, description="How long the `confirm` is good for.")
    degraded: Degraded | None = Field(None, description="What the search for the `query` had to do without.")

    @classmethod
    def of(cls, shown: ForgetList) -> Self:
        return super().of(
            shown,
            dry_run=True,
            memories=[ToForgetView.of(memory) for memory in shown.memories],
            conversations=[ConversationView.of(one) for one in shown.conversations] or None,
            expires_in_s=shown.expires_in_s if shown.confirm else None,
            degraded=list(shown.degraded) or None,
        )


class ForgottenOrListed(RootModel[ForgetListView | JobOut]):
    """A list; of a call that forgets something, its job."""


FORGET_MEMORIES = Operation(
    **route("POST", MEMORIES + "/forget", "forgetMemories", "memories", "records"),
    summary="Forget memories by filters, by a query, or with the conversations they were made of.",
    description="Without more a dry run: a count, the first texts and a `confirm`, with which a second call has exactly"
    " these forgotten, by one job. Its result is the receipt: `forgotten` counts, `moved` names what was changed since"
    " it was listed, and stays, `gone` what others deleted; `also_in`, `derived` and `in_packs` say where what they"
    " said may still stand.",
    body=ForgetBody,
    responses={
        200: Response("The list; or the job, which has ended.", ForgottenOrListed),
        202: Response("The job is queued or running.", JobOut),
    },
    codes=("session_not_found", *USER_WRITE),
    idempotent=True,
)
