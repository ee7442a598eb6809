"""Append messages: what the SDKs of providers hold, as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from neve.domain.errors import invalid
from neve.domain.languages import not_observed
from neve.domain.messages.heard import Heard, PartLeft
from neve.domain.messages.read import read_messages
from neve.domain.records.sessions import EventType
from neve.http.operations import USER_WRITE, Body, Nothing, Operation, Response, View
from neve.http.schemas.enums import MessageFormat, MessageOutcome, Observation, Queued
from neve.http.schemas.fields import Degraded, Metadata, Name, OtherLanguage, Time
from neve.http.schemas.sessions.events import MAX_EVENT_IMAGES, TOO_LARGE, check_event_size
from neve.http.schemas.sessions.participants import ParticipantId, Participants, records_of
from neve.http.schemas.sessions.user_meta import UserMeta
from neve.usecases.tell.sessions.append_messages import AppendedMessage, AppendedMessages
from neve.usecases.tell.sessions.new_session import OpenSession

MESSAGES = "/v1/users/{user_id}/sessions/{session_id}/messages"
MAX_MESSAGES = 200

_OWN: tuple[tuple[str, TypeAdapter[Any]], ...] = (
    ("created_at", TypeAdapter(Time)),
    ("metadata", TypeAdapter(Metadata)),
    ("participant", TypeAdapter(ParticipantId)),
)
"""The fields that a message may carry beside its provider's fields that has a grammar of ours."""
Message = Annotated[
    dict[str, Any],
    Field(
        description="Of Anthropic, OpenAI (chat or Responses items) or the AI SDK, as its SDK holds it. Beside the"
        " provider's fields it may carry `id`, `name`, `created_at`, `metadata` and, of a user, `participant`; what"
        " memory has no use for is ignored.",
    ),
]


class MessagesBody(Body):
    """The whole chat, or its end, or what is new: what the session has already is not appended again."""

    messages: list[Message] = Field(
        min_length=1, max_length=MAX_MESSAGES, description="In order; at most 48 events are new in one call."
    )
    format: MessageFormat | None = Field(
        default=None, description="Whose messages these are; found for each when left out."
    )
    title: Name | None = Field(default=None, max_length=200, description="Of the session, when it is new.")
    user_meta: UserMeta | None = Field(default=None, description="Of the session, when it is new.")
    metadata: Metadata | None = Field(default=None, description="Of the session, when it is new.")
    participants: Participants | None = Field(default=None, description="Of the session, when it is new.")
    room: bool | None = Field(default=None, description="Of the session, when it is new.")
    created_at: Time | None = Field(default=None, description="When those were said that do not say it themselves.")

    @model_validator(mode="after")
    def _check_messages(self) -> MessagesBody:
        """Read the messages at once, so that what cannot be understood is known before anything is done. Raises
        NeveError."""
        _ = self.heard
        return self

    @cached_property
    def heard(self) -> list[Heard]:
        """Reads the messages as events, once. Raises NeveError ``validation_failed`` and ``event_too_large``, which
        name the place."""
        own = [self._read_own_fields(message, n) for n, message in enumerate(self.messages)]
        found = read_messages([message | mine for message, mine in zip(self.messages, own, strict=True)], self.format)
        labelled = [_said_by(_labelled(one, mine.get("metadata")), mine) for one in found for mine in [own[one.index]]]
        for one in labelled:
            _check_sizes(one)
        return labelled

    def _read_own_fields(self, message: dict[str, Any], n: int) -> dict[str, Any]:
        """Read what a message says of itself. A time that is no text is none: some servers have numbers of their own
        there."""
        own: dict[str, Any] = {"created_at": self.created_at}
        for name, grammar in _OWN:
            given = message.get(name)
            if given is None or (name == "created_at" and not isinstance(given, str)):
                continue
            try:
                own[name] = grammar.validate_python(given)
            except ValidationError as error:
                why = error.errors()[0]["msg"].removeprefix("Value error, ")
                raise invalid(f"messages[{n}].{name}", why) from None
        return own

    def opening(self) -> OpenSession:
        meta = self.user_meta.model_dump(exclude_none=True) if self.user_meta else {}
        people = records_of(self.participants)
        return OpenSession(None, self.title, meta, metadata=self.metadata, participants=people, room=self.room)


def _labelled(one: Heard, metadata: dict[str, str] | None) -> Heard:
    if not metadata:
        return one
    return replace(one, events=tuple(replace(event, metadata=metadata) for event in one.events))


def _said_by(one: Heard, own: Mapping[str, Any]) -> Heard:
    """Name who said a user's message. Raises 422 for a message of another role."""
    participant = own.get("participant")
    if participant is None:
        return one
    if any(event.event_type not in (EventType.USER_MESSAGE, EventType.NEUTRAL) for event in one.events):
        raise invalid(f"messages[{one.index}].participant", "is of a user's message: leave it out here")
    said = (replace(e, participant=participant) if e.event_type is EventType.USER_MESSAGE else e for e in one.events)
    return replace(one, events=tuple(said))


def _check_sizes(one: Heard) -> None:
    for event in one.events:
        sent = {"content": event.content, "event_data": event.event_data, "thinking": event.thinking}
        check_event_size({"event_type": event.event_type} | sent, f"messages[{one.index}]")
        images = [block for block in event.content if isinstance(block, dict) and block["type"] == "image"]
        if len(images) > MAX_EVENT_IMAGES:
            raise invalid(f"messages[{one.index}].content", f"must have at most {MAX_EVENT_IMAGES} images")


class MessageState(View):
    id: str = Field(description="Its own, else made of what it says and how often that was said before.")
    state: MessageOutcome = Field(
        description="`known`: the session has it already. `dropped`: it says nothing; see `dropped`."
    )
    seqs: list[int] = Field(description="Of its events in the log.")

    @classmethod
    def of(cls, one: AppendedMessage) -> MessageState:
        return cls(id=one.id, state=one.state, seqs=list(one.seqs))


class DroppedPart(View):
    index: int = Field(description="Of the message in the list.")
    part: str = Field(description="Where it stands in the message.")
    why: str

    @classmethod
    def of(cls, left: PartLeft) -> DroppedPart:
        return cls(index=left.index, part=left.part, why=left.why)


class AppendedMessagesOut(View):
    session_id: str
    created: bool = Field(description="The session was not there before.")
    messages: list[MessageState] = Field(description="In the order of the request.")
    last_seq: int
    dropped: list[DroppedPart] = Field(
        description="Parts that memory has no place for: kept as neutral events, or left out; `why` says which."
    )
    observation: Observation = Field(
        description="`queued`: a pass reads these events now. `waiting`: they completed a turn, which waits for more or"
        " for silence, as `observe_after` of the policy says. `none`: they completed none."
    )
    compaction: Queued = Field(description="`queued`: these events are a reason for one.")
    compaction_job_id: str | None = Field(description="Its job, when one was queued.")
    redacted: dict[str, int] | None = Field(
        description="How many of each class of personal data were taken out; absent when none were."
    )
    other_language: OtherLanguage | None
    degraded: Degraded | None
    retracted: Literal[True] | None = Field(description="Some were taken back since: `retracted_seqs`. They stay so.")
    retracted_seqs: list[int] | None

    @classmethod
    def of(cls, session_id: str, heard: list[Heard], appended: AppendedMessages) -> AppendedMessagesOut:
        events = appended.events
        return cls(
            session_id=session_id,
            created=events.created,
            messages=[MessageState.of(one) for one in appended.messages],
            last_seq=events.last_seq,
            dropped=[DroppedPart.of(left) for one in heard for left in one.left],
            observation=events.observation,
            compaction=events.compaction,
            compaction_job_id=events.compaction_job_id,
            redacted=events.redacted or None,
            other_language=events.other_language or None,
            degraded=list(not_observed(events.other_language)) or None,
            retracted=True if events.retracted else None,
            retracted_seqs=events.retracted or None,
        )


APPEND_MESSAGES = Operation(
    method="POST",
    path=MESSAGES,
    id="appendMessages",
    tag="events",
    summary="Append a provider's messages as they are; opens the session when it is new.",
    description="Anthropic's, OpenAI's (chat and Responses) and the AI SDK's. The list may be the whole chat or only"
    " what is new: a message that the session has is not appended again. What the policy's `pii` does not allow is"
    " taken out.",
    scope="chat",
    query=Nothing,
    body=MessagesBody,
    responses={
        200: Response("Nothing of it was new.", AppendedMessagesOut),
        201: Response("What was new is durable.", AppendedMessagesOut),
    },
    codes=(*USER_WRITE, *TOO_LARGE),
    idempotent=True,
)
