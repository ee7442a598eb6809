"""E8: a whole prompt, ready for a provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, field_validator

from neve.domain.compile.breakpoints import MOST_MARKS
from neve.domain.compile.formats.declared_tools import callers_tools
from neve.domain.compile.formats.format import WrongTool
from neve.domain.compile.formats.tool_names import changed_names
from neve.domain.compile.last_turn import TaskState, ToolOutput
from neve.domain.compile.prompt import Tool
from neve.domain.compile.shown_images import Why
from neve.domain.errors import FieldError, NeveError, invalid
from neve.domain.records.memories import Kind
from neve.domain.tails.told import UTTERED
from neve.domain.tenants.policy import Profile
from neve.domain.tenants.static_prefix import lint
from neve.http.operations import Body, Operation, Response, View, record_of, route
from neve.http.schemas.enums import BreakpointPlace, CacheTtl, ImagesShown, PromptFormat, Queued, Retrieval
from neve.http.schemas.fields import Degraded, Filled, Identifier, Name, Seq
from neve.http.schemas.lag.memory_lag import MemoryLagOut
from neve.http.schemas.sessions.events import TOO_LARGE, ImageBlock, MessageContent, check_event_size
from neve.usecases.ask.compile.command import CompileCommand, Content
from neve.usecases.ask.compile.compile_context import Compiled

WARN_AT = 0.8
"""Share of the input from which a prompt is called nearly full."""
Line = Annotated[str, Field(max_length=100_000)]


class ToolOutputBody(Body):
    name: Annotated[Name, Field(max_length=256)]
    content: Line


class TaskStateBody(Body):
    """Working memory of one step. Never stored."""

    notes: Line = ""
    goal: Annotated[str, Field(max_length=2_000)] = ""
    variables: dict[str, JsonValue] = Field(default_factory=dict, max_length=200)
    observations: Annotated[list[Line], Field(max_length=200, description="Oldest first.")] = Field(
        default_factory=list
    )
    tool_outputs: Annotated[list[ToolOutputBody], Field(max_length=100)] = Field(default_factory=list)

    def state(self) -> TaskState:
        outputs = tuple(ToolOutput(output.name, output.content) for output in self.tool_outputs)
        return TaskState(self.notes, self.goal, self.variables, tuple(self.observations), outputs)


class CacheControlBody(Body):
    """A cache breakpoint, as Anthropic takes it."""

    type: Literal["ephemeral"]
    ttl: CacheTtl | None = None


class SystemBlockBody(Body):
    type: Literal["text"]
    text: Line
    cache_control: CacheControlBody | None = Field(
        default=None, description="The caller's own mark. Neve sets one less of its own."
    )


class PromptBody(Body):
    """The parts that a prompt is compiled from, of a session that is named elsewhere."""

    message: MessageContent | None = Field(
        default=None,
        description="What the user says now: text or blocks. It is not stored. Where the log ends with it already, it"
        " is not repeated, and may be left out.",
    )
    task_state: Line | TaskStateBody | None = None
    instructions: Annotated[list[Annotated[Filled, Field(max_length=50_000)]], Field(max_length=50)] = Field(
        default_factory=list, description="Behind the static prefix. Another list is another prefix to the provider."
    )
    retrieval: Retrieval = Field(
        default="auto",
        description="`auto`: the 5 best passages, and on to 600 tokens. `tools`: the model is offered the search."
        " `both`, `none`.",
    )
    tools: Annotated[list[dict[str, JsonValue]], Field(max_length=512)] | dict[str, JsonValue] | None = Field(
        default=None,
        description="The caller's own, as the provider takes them (with `ai_sdk` by name). They stand in front of"
        " Neve's. Without any, a tool that the shown history calls is declared by a stand-in.",
    )
    system: Line | Annotated[list[SystemBlockBody], Field(min_length=1, max_length=50)] | None = Field(
        default=None,
        description="Text or text blocks, one block behind the static prefix. The same on every day: no date, time,"
        " e-mail address, id or placeholder. Another text is another prefix to the provider.",
    )
    max_breakpoints: int = Field(
        default=MOST_MARKS, ge=0, le=MOST_MARKS, description="Marks of what the provider is to cache, at most."
    )
    format: PromptFormat = Field(default="anthropic", description="Whose arguments `request` holds.")
    budget_profile: Profile | None = Field(default=None, description="Default: the policy's.")
    history_window: int | None = Field(
        default=None, ge=1, le=1_000, description="Turns: at least so many are shown, and at most twice as many."
    )
    dry_run: bool = Field(default=False, description="The report only. Nothing is written.")
    with_request: bool = Field(
        default=False, description="Also of a dry run `request`; and `parts`, where each part stands in it."
    )
    images: ImagesShown = Field(
        default="all",
        description="Of this prompt. `recent`: of what waits for an answer only, `none`: none; each other one is a line"
        " of text.",
    )
    images_refused: Annotated[list[Seq], Field(max_length=1_000)] = Field(
        default_factory=list,
        description="Events whose images the provider has refused: `image_events` of the prompt that it would not take."
        " This prompt and all later ones show a line of text in their place.",
    )

    @field_validator("message", mode="before")
    @classmethod
    def _check_message_size(cls, message: Any) -> Any:
        """Refuse a message that no append would take. Raises NeveError ``event_too_large``."""
        check_event_size({"event_type": "user_message", "content": message}, "message")
        return message

    @field_validator("message")
    @classmethod
    def _no_upload(cls, message: Any) -> Any:
        blocks = message if isinstance(message, list) else []
        if any(isinstance(block, ImageBlock) and block.upload_id is not None for block in blocks):
            raise ValueError("names an upload: append the message to the log first, and leave it out here")
        return message

    @field_validator("message")
    @classmethod
    def _says_something(cls, message: Any) -> Any:
        texts = [message] if isinstance(message, str) else [getattr(block, "text", "image") for block in message or ()]
        if texts and not any(text.strip() for text in texts):
            raise ValueError("must not be blank")
        return message

    def command(self) -> CompileCommand:
        task = TaskState(notes=self.task_state) if isinstance(self.task_state, str) else None
        return record_of(
            self,
            CompileCommand,
            message=self._content(),
            task=self.task_state.state() if isinstance(self.task_state, TaskStateBody) else task,
            profile=self.budget_profile,
            images_refused=frozenset(self.images_refused),
            tools=self._tools(),
            system=self._system(),
            system_mark=self._system_mark(),
        )

    def _tools(self) -> tuple[Tool, ...]:
        """Read the caller's tools. Raises 422 for one that the provider would not take."""
        try:
            return tuple(callers_tools(self.tools, self.format)) if self.tools else ()
        except WrongTool as wrong:
            raise invalid(wrong.field, wrong.why) from wrong

    def _system(self) -> str:
        """Read the caller's system text. Raises 422 for what would make the prefix another one for each day or user."""
        blocks = [self.system] if isinstance(self.system, str) else [block.text for block in self.system or ()]
        text = "\n\n".join(block for block in blocks if block.strip())
        if problems := [FieldError("system", problem) for problem in lint(text)]:
            hint = "what changes with a request belongs into `instructions`, `task_state` or the message"
            raise NeveError("validation_failed", f"system: {problems[0].message}; {hint}.", errors=problems)
        return text

    def _system_mark(self) -> dict[str, JsonValue] | None:
        blocks = self.system if isinstance(self.system, list) else []
        marks = [block.cache_control for block in blocks if block.cache_control is not None and block.text.strip()]
        return marks[-1].model_dump(exclude_none=True) if marks else None

    def _content(self) -> Content | None:
        if self.message is None or isinstance(self.message, str):
            return self.message
        return [block.model_dump(exclude_none=True) for block in self.message]


class CompileBody(PromptBody):
    session_id: Identifier


# --- the answer -----------------------------------------------------------------------------------


class SectionOut(View):
    section: str
    priority: int = Field(description="1 to 6; 6 gives way first.")
    need: int
    granted: int
    used: int


class PrunedOut(View):
    section: str
    items: list[str]
    why: str


class BreakpointOut(View):
    at: BreakpointPlace
    tokens: int = Field(description="Of the prefix that ends there.")
    minimum: int = Field(description="The fewest that the model's provider caches.")
    cacheable: bool
    marked: bool
    why_not: str | None = Field(description="Why it is not marked.")


class BudgetOut(View):
    profile: str
    total: int
    output: int
    input: int
    system: int
    memories: int = Field(description="The pack and what is retrieved.")
    pack: int | None
    retrieved: int | None
    history: int = Field(description="Without the message where that has a number of its own.")
    message: int | None
    task: int


class HistoryOut(View):
    epoch: int
    turns: int = Field(description="That are shown.")
    hidden: dict[str, int] | None = Field(description="`from` and `to`: events that are summarised or left out.")
    epoch_changed: bool = Field(description="This call cut the history or took its images out: a new epoch starts.")
    cut_for_message: bool = Field(
        description="One long message left no room for all of it: the next prompt has the turns again, and its epoch."
    )
    compaction: Queued


class TiersOut(View):
    """Items of each memory tier that are in the prompt."""

    working: int
    short_term: int = Field(description="Events of the log.")
    semantic: int
    episodic: int


class ImagesOut(View):
    """Counts of the prompt's images, those by `url` included."""

    shown: int
    left_out: int = Field(
        description="A line of text stands in their place; `pruned` says of which events and why. Of what waits for an"
        " answer: `images:left_out`."
    )


class ReportOut(View):
    budget: BudgetOut
    sections: list[SectionOut] = Field(description="By priority.")
    pruned: list[PrunedOut] = Field(description="In the order in which sections give way.")
    used: int
    limit: int = Field(description="Tokens of the input.")
    pct: float
    warn_at: float = WARN_AT
    warning: bool
    breakpoints: list[BreakpointOut]
    stable_prefix_tokens: int = Field(
        description="Of everything before the user's last message; in a round of tool calls of its results, too."
    )
    prefix_sha256: dict[str, str] = Field(
        description="Of tools, static prefix, the caller's `system` and instructions, where there are any."
    )
    prefix_changed: bool = Field(description="Those are others than in the session's prompt before.")
    history: HistoryOut | None
    images: ImagesOut
    image_events: list[int] = Field(description="The events whose images are shown: what `images_refused` takes.")
    tiers: TiersOut
    pack_version: int | None
    pack_layers: dict[str, int] | None = Field(
        default=None, description="Tokens of the items of `always`, `profile`, `global` and `local` in the pack."
    )
    pack_left_out: list[str] | None = Field(
        default=None,
        description="Paths of documents that had no room in `always` and `profile`, and ids of observations and"
        " reflections that had none in `local`; and ids of rows that had none in a pack that is as large as an answer.",
    )
    pack_also_left_out: int | None = Field(
        default=None, description="How many more had no room, whose names have none here."
    )


class PartOut(View):
    """A part of the request, in its order."""

    name: str = Field(
        description="`tools`, `static`, `system`, `instructions`, `pack`, `history`, `updates`, `retrieved`,"
        " `task_state`, `session` or `message`."
    )
    tokens: int
    at: str | None = Field(
        description="JSON pointer into `request`: to the text that holds the part, or to the first of tools or history."
    )
    start: int | None = Field(description="Its place in that text, in characters.")
    end: int | None


class SessionNote(View):
    thread_title: str | None
    current_task: str | None
    suggested_continuation: str | None


class ContextOut(View):
    format: PromptFormat
    request: dict[str, JsonValue] | None = Field(
        description="Arguments for the provider's call, less model and length of the answer. Absent from a dry run"
        " without `with_request`."
    )
    parts: list[PartOut] | None = Field(description="With `with_request`.")
    tool_names: dict[str, str] | None = Field(
        description="Names of tools in the request that the provider would not take as the log has them: what is sent,"
        " and what it stands for."
    )
    report: ReportOut
    session: SessionNote | None
    degraded: Degraded
    transparency: list[str]
    memory_lag: MemoryLagOut | None
    recall_id: str | None = Field(description="In a round of tool calls that of the turn's first prompt.")
    prompt_id: str | None = Field(
        description="What a report of its usage names. Ids and hashes are kept of it for seven days, and no words."
    )
    elapsed_ms: float
    cold_start_ms: float | None = None

    @classmethod
    def of(cls, made: Compiled, cold_start_ms: float | None = None) -> Self:
        state = made.material.session_state
        return super().of(
            made,
            format=made.command.format,
            request=dict(made.request) if made.request is not None else None,
            tool_names=changed_names(made.plan.prompt, made.command.format) or None,
            report=_report(made),
            session=SessionNote.of(state.marker) if state else None,
            memory_lag=MemoryLagOut.of(state.lag) if state else None,
            cold_start_ms=None if cold_start_ms is None else round(cold_start_ms, 1),
        )


def _report(made: Compiled) -> ReportOut:
    plan, limit, pack = made.plan, made.budget.input, made.material.pack
    share = plan.used / limit if limit else 1.0
    manifest = pack.manifest if pack else None
    return ReportOut(
        budget=_budget(made),
        sections=[SectionOut.of(one, section=one.name) for one in plan.sections],
        pruned=[*map(PrunedOut.of, plan.pruned), *_images_left_out(made)],
        used=plan.used,
        limit=limit,
        pct=round(share, 4),
        warning=share >= WARN_AT,
        breakpoints=list(map(BreakpointOut.of, made.prefix_ends)),
        stable_prefix_tokens=plan.stable_tokens,
        prefix_sha256=dict(made.prefix_sha),
        prefix_changed=made.prefix_changed,
        history=_history(made),
        images=ImagesOut(shown=made.images.shown, left_out=sum(map(len, made.images.left_out.values()))),
        image_events=list(made.images.events),
        tiers=_tiers(made),
        pack_version=manifest.pack_version if manifest else None,
        pack_layers={n: sum(one.tokens for one in layer) for n, layer in manifest.layers.items()} if manifest else None,
        pack_left_out=[entry.path or entry.id for entry in pack.left_out] or None if pack else None,
        pack_also_left_out=pack.also_left_out or None if pack else None,
    )


_WHY_NO_IMAGE: Mapping[Why, str] = {
    "no_room": "more images, pixels or bytes than a prompt has room for",
    "unusable": "refused by a provider, or gone",
    "not_wanted": "the call wants none of them",
    "not_taken": "the provider takes none there",
    "unread": "could not be read",
}


def _images_left_out(made: Compiled) -> list[PrunedOut]:
    places = {why: ["message" if n is None else f"event {n}" for n in of] for why, of in made.images.left_out.items()}
    return [
        PrunedOut(section="images", items=list(dict.fromkeys(items)), why=_WHY_NO_IMAGE[why])
        for why, items in places.items()
    ]


def _budget(made: Compiled) -> BudgetOut:
    budget = made.budget
    retrieved = None if budget.pack is None else budget.memories - budget.pack
    return BudgetOut.of(budget, retrieved=retrieved, history=budget.history - (budget.message or 0))


def _history(made: Compiled) -> HistoryOut | None:
    session_state, cut = made.material.session_state, made.plan.kept_cut
    if session_state is None or made.epoch is None or made.material.log is None:
        return None
    hidden = made.plan.cut or session_state.hidden
    return HistoryOut(
        epoch=made.epoch.epoch,
        turns=made.plan.turns,
        hidden={"from": hidden.seq_from, "to": hidden.seq_to} if hidden else None,
        epoch_changed=cut is not None or made.material.images.changes_history,
        cut_for_message=made.plan.for_message,
        compaction="queued" if cut is not None and made.epoch is not session_state.epoch else "none",
    )


_EPISODES = (Kind.OBSERVATION, Kind.REFLECTION, Kind.SESSION_SUMMARY, UTTERED)


def _tiers(made: Compiled) -> TiersOut:
    pack = made.material.pack
    packed = [entry for layer in pack.manifest.layers.values() for entry in layer] if pack and pack.manifest else []
    episodic = sum(entry.kind in _EPISODES for entry in packed)
    hits = made.shown_hits
    found_semantic = sum(hit.tier == "semantic" for hit in hits)
    return TiersOut(
        working=int(any(s.name == "task_state" and s.used for s in made.plan.sections)),
        short_term=made.plan.events,
        semantic=len(packed) - episodic + found_semantic,
        episodic=episodic + len(hits) - found_semantic,
    )


COMPILE = Operation(
    **route("POST", "/v1/users/{user_id}/context", "compileContext", "context", "chat"),
    summary="The whole prompt of one turn, within its budget and with what a provider can cache first.",
    description="Static prefix, instructions, pack, history, and in the user's last message what was retrieved, the"
    " task, the session and the message. A memory failure is told in `degraded`, also a language model that gives"
    " no answer: `extract:queued`.",
    body=CompileBody,
    responses={200: Response("The request for the provider, and the report.", ContextOut)},
    codes=("session_not_found", "user_closed", "budget_infeasible", "profile_mismatch", *TOO_LARGE),
    answers_without_stores=True,
)
