"""One call a turn: what was said is appended, then the next prompt is compiled, or something recalled."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

from pydantic import Field, model_validator

from neve.domain.errors import invalid
from neve.http.operations import USER_WRITE, Body, Operation, Response, View, route
from neve.http.problems import Problem
from neve.http.schemas.compile.context import ContextOut, PromptBody
from neve.http.schemas.enums import MessageFormat
from neve.http.schemas.fields import Metadata, Name, Time
from neve.http.schemas.recall.recall import RecallView, SearchBody
from neve.http.schemas.sessions.events import TOO_LARGE, AppendedOut, Events
from neve.http.schemas.sessions.messages import MAX_MESSAGES, AppendedMessagesOut, Message, MessagesBody
from neve.http.schemas.sessions.participants import Participants
from neve.http.schemas.sessions.user_meta import UserMeta

TURN_PATH = "/v1/users/{user_id}/sessions/{session_id}/turn"
_OF_MESSAGES = ("format", "title", "user_meta", "metadata", "participants", "room", "created_at")


class TurnBody(Body):
    """`messages` or `events` or neither, then `compile` or `recall` or neither."""

    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = Field(
        default=None, description="As in `appendMessages`."
    )
    events: Events | None = Field(default=None, description="As in `appendEvents`.")
    format: MessageFormat | None = Field(default=None, description="As in `appendMessages`.")
    title: Name | None = Field(default=None, max_length=200, description="Of the session, when it is new.")
    user_meta: UserMeta | None = Field(default=None, description="Of the session, when it is new.")
    metadata: Metadata | None = Field(default=None, description="Of the session, when it is new.")
    participants: Participants | None = Field(default=None, description="Of the session, when it is new.")
    room: bool | None = Field(default=None, description="Of the session, when it is new.")
    created_at: Time | None = Field(default=None, description="As in `appendMessages`.")
    compile: PromptBody | None = Field(default=None, description="The body of `compileContext`, of this session.")
    recall: SearchBody | None = Field(default=None, description="The body of `recall`, from this session.")

    @model_validator(mode="after")
    def _check_exclusive_fields(self) -> TurnBody:
        """Refuse fields that exclude each other, so that what cannot be done is known before anything is appended.
        Raises NeveError."""
        if self.messages is not None and self.events is not None:
            raise invalid("events", "must be left out beside messages: a turn appends one or the other")
        if self.compile is not None and self.recall is not None:
            raise invalid("recall", "must be left out beside compile: a prompt has its own recall")
        if (self.messages, self.events, self.compile, self.recall) == (None, None, None, None):
            raise invalid("messages", "is required where there are no events, no compile and no recall")
        if self.messages is None and (given := [name for name in _OF_MESSAGES if getattr(self, name) is not None]):
            raise invalid(given[0], "is of messages: send it with them")
        if self.of_messages is not None:
            _ = self.of_messages.heard
        return self

    @cached_property
    def of_messages(self) -> MessagesBody | None:
        if self.messages is None:
            return None
        given = {name: getattr(self, name) for name in _OF_MESSAGES}
        return MessagesBody.model_construct(messages=self.messages, **given)


class TurnOut(View):
    appended: AppendedMessagesOut | AppendedOut | None = Field(
        description="What `appendMessages` or `appendEvents` answers; absent where nothing was sent to be appended."
    )
    prompt: ContextOut | None = Field(description="What `compileContext` answers.")
    recall: RecallView | None = Field(description="What `recall` answers.")
    degraded: list[str] = Field(
        description="Of the prompt or the recall; `compile:<code>` or `recall:<code>` where there is none."
    )
    problem: Problem | None = Field(
        description="Why there is none. What was appended is durable: ask for the prompt or the recall alone."
    )


TURN = Operation(
    **route("POST", TURN_PATH, "turn", "events", "chat"),
    summary="Append what was said, and answer with the next prompt or a recall, in one call.",
    description="Idempotent as an append: a repeat appends nothing and compiles anew. What was appended but not"
    " compiled is a 200 that says so in `degraded`; what was not appended is refused as an append is.",
    body=TurnBody,
    responses={200: Response("What was sent is durable.", TurnOut)},
    codes=(
        *USER_WRITE,
        *("session_not_found", "upload_not_found", "client_id_conflict", "retracted", "budget_infeasible"),
        *("profile_mismatch", *TOO_LARGE),
    ),
    idempotent=True,
)
