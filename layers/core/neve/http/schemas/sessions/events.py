"""E2: the log of a session, and uploads of images and long texts."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from neve.domain.errors import FieldError, NeveError
from neve.domain.images.image_types import MAX_IMAGE_BYTES
from neve.domain.languages import not_observed
from neve.domain.records.sessions import Event, EventType, Spans
from neve.domain.sessions.spans import holds
from neve.http.operations import USER_WRITE, Body, Nothing, Operation, Parameters, Response, View
from neve.http.pages import Page
from neve.http.schemas.enums import (
    Audience,
    BoundaryKind,
    EventImageType,
    EventOrder,
    Observation,
    Queued,
    ThinkingType,
    UploadType,
)
from neve.http.schemas.fields import (
    Address,
    Degraded,
    Filled,
    Identifier,
    Limit,
    Metadata,
    MetadataParameters,
    Name,
    OtherLanguage,
    Seq,
    Time,
    whole_number,
)
from neve.http.schemas.sessions.participants import ParticipantId
from neve.store.keys import image_name
from neve.usecases.ask.sessions.list_events import EventPage
from neve.usecases.core.images.uploaded_texts import MAX_TEXT_BYTES
from neve.usecases.tell.sessions.append_events import Appended, NewEvent
from neve.usecases.tell.sessions.create_upload import Upload

B = TypeVar("B", bound=BaseModel)

EVENTS = "/v1/users/{user_id}/sessions/{session_id}/events"
UPLOADS = "/v1/users/{user_id}/uploads"
MAX_EVENTS = 48
MAX_EVENT_BYTES = 256 * 1024
LONG_TEXT = "send a longer text to createUpload, and append an event whose text block names its upload_id"
MAX_TEXTS = 4
"""Texts by upload in one append (*chosen*: read and screened within the function's 28 s)."""
MAX_EVENT_IMAGES, MAX_IMAGES = 20, 48
"""The images of an event (*chosen*: with 5 MiB of base64 each, an export holds one event in 100 MB), and of all of one
append: four calls to the object store for each, one after the other, have to end within the function's 28 s."""


class TextBlock(Body):
    type: Literal["text"]
    text: str = Field(min_length=1)


class EventTextBlock(Body):
    """A text by exactly one of `text`, `upload_id`. What was uploaded is read below `/artifacts/`, and the log, prompts
    and the observer hold a line that says where."""

    type: Literal["text"]
    text: Annotated[str, Field(min_length=1)] | None = None
    upload_id: Identifier | None = Field(default=None, description="From `createUpload`, of `text/plain`.")

    @model_validator(mode="after")
    def _one_source(self) -> EventTextBlock:
        if (self.text is None) == (self.upload_id is None):
            raise ValueError("must have exactly one of text, upload_id")
        return self


class ImageBlock(Body):
    """An image by exactly one of `data`, `url`, `upload_id`. Neve never fetches the URL."""

    type: Literal["image"]
    media_type: EventImageType = Field(description="`image/*`: of a `url` that does not say more.")
    data: Annotated[str, Field(min_length=4, json_schema_extra={"contentEncoding": "base64"})] | None = Field(
        default=None, description="The bytes in base64."
    )
    url: Address | None = None
    upload_id: Identifier | None = Field(default=None, description="From `createUpload`.")

    @field_validator("data")
    @classmethod
    def _base64(cls, data: str | None) -> str | None:
        try:
            base64.b64decode(data or "", validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("must be base64") from None
        return data

    @model_validator(mode="after")
    def _one_source(self) -> ImageBlock:
        if sum(source is not None for source in (self.data, self.url, self.upload_id)) != 1:
            raise ValueError("must have exactly one of data, url, upload_id")
        if self.media_type == "image/*" and self.url is None:
            raise ValueError("must say which type of image it is")
        return self


class ThinkingBlock(BaseModel):
    """The thinking of a model, as its provider sent it. Kept as it is while the turn is open, shown to the model alone,
    and erased with the next `user_message`."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: ThinkingType


Block = Annotated[TextBlock | ImageBlock, Field(discriminator="type")]


def _shape(content: object) -> str | None:
    return "text" if isinstance(content, str) else "blocks" if isinstance(content, list) else None


def _images_in(blocks: Sequence[BaseModel]) -> int:
    return sum(isinstance(block, ImageBlock) for block in blocks)


def _texts_in(blocks: Sequence[BaseModel]) -> int:
    return sum(isinstance(block, EventTextBlock) and block.upload_id is not None for block in blocks)


def _few_images(blocks: list[B]) -> list[B]:
    if _images_in(blocks) > MAX_EVENT_IMAGES:
        raise ValueError(f"must have at most {MAX_EVENT_IMAGES} images")
    if _texts_in(blocks) > 1:
        raise ValueError("must have at most one text by upload_id")
    return blocks


_CONTENT = Discriminator(_shape, custom_error_type="content", custom_error_message="must be text or a list of blocks")
AnsweredBlock = Annotated[TextBlock | ImageBlock | ThinkingBlock, Field(discriminator="type")]
Blocks = Annotated[list[Block], Field(min_length=1), AfterValidator(_few_images), Tag("blocks")]
MessageContent = Annotated[Annotated[str, Field(min_length=1), Tag("text")] | Blocks, _CONTENT]
EventBlock = Annotated[EventTextBlock | ImageBlock, Field(discriminator="type")]
_EventBlocks = Annotated[list[EventBlock], Field(min_length=1), AfterValidator(_few_images), Tag("blocks")]
SaidContent = Annotated[Annotated[str, Field(min_length=1), Tag("text")] | _EventBlocks, _CONTENT]
ReturnedContent = Annotated[Annotated[str, Tag("text")] | _EventBlocks, _CONTENT]
Shown = Annotated[Annotated[str, Tag("text")] | Blocks, _CONTENT]
"""A tool's arguments or result may be empty; what a speaker said may not."""
_AnsweredBlocks = Annotated[list[AnsweredBlock], Field(min_length=1), AfterValidator(_few_images), Tag("blocks")]
AnsweredContent = Annotated[Annotated[str, Field(min_length=1), Tag("text")] | _AnsweredBlocks, _CONTENT]
CalledContent = Annotated[Annotated[str, Tag("text")] | _AnsweredBlocks, _CONTENT]
Thoughts = Annotated[
    list[dict[str, Any]],
    Field(description="What the model thought before it, as its provider's blocks; `content` may hold them as well."),
]


class _ToolData(BaseModel):
    """Further members are kept as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    tool_use_id: Filled = Field(max_length=256)
    name: Name = Field(max_length=256)


class ToolCallData(_ToolData):
    thinking: Thoughts = []
    args: Any = Field(default=None, description="The call's arguments.")


class ToolResultData(_ToolData):
    is_error: bool = False


class _Event(Body):
    client_id: Identifier | None = Field(
        default=None, description="The same id again returns the first seq; with other content it is a 409."
    )
    name: Name | None = Field(
        default=None,
        max_length=200,
        description="The speaker. White space, line breaks included, becomes single spaces.",
    )
    metadata: Metadata = Field(
        default_factory=dict, description="Labels of the caller's own; nothing that is made of the event has them."
    )
    created_at: Time | None = Field(
        default=None,
        description="When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.",
    )


class MessageEvent(_Event):
    event_type: Literal["user_message"]
    content: SaidContent
    participant: ParticipantId | None = None
    event_data: dict[str, Any] = Field(default_factory=dict)


class AnswerData(BaseModel):
    """Further members are kept as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    thinking: Thoughts = []


class AnswerEvent(_Event):
    event_type: Literal["assistant_response"]
    content: AnsweredContent
    event_data: AnswerData = AnswerData()

    @field_validator("content")
    @classmethod
    def _says_something(cls, content: str | list[Any]) -> str | list[Any]:
        if isinstance(content, list) and all(isinstance(block, ThinkingBlock) for block in content):
            raise ValueError("must hold a text or an image beside what was thought")
        return content


class ToolCallEvent(_Event):
    event_type: Literal["tool_call"]
    content: CalledContent
    event_data: ToolCallData


class ToolResultEvent(_Event):
    event_type: Literal["tool_result"]
    content: ReturnedContent
    event_data: ToolResultData


class BoundaryData(BaseModel):
    """Further members are kept as they are."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: BoundaryKind = Field(
        default="task", description="A task is done, or the conversation turns to another topic."
    )


class BoundaryEvent(_Event):
    """Asks for a compaction of what lies behind."""

    event_type: Literal["task_boundary"]
    content: Shown
    event_data: BoundaryData = BoundaryData()


class NeutralEvent(_Event):
    """Kept, paged, exported and given back as it is, and read by nothing else: never observed, indexed, recalled or
    shown in a prompt, and no part of a turn. `event_data` takes any JSON object."""

    event_type: Literal["neutral"]
    content: str = ""
    event_data: dict[str, Any] = Field(default_factory=dict)


NewEventBody = Annotated[
    MessageEvent | AnswerEvent | ToolCallEvent | ToolResultEvent | BoundaryEvent | NeutralEvent,
    Field(discriminator="event_type"),
]


def check_event_size(event: Any, field: str) -> None:
    """Refuse an event that is too large. ``event``: as it was sent. Raises NeveError ``event_too_large`` (413), which
    names the ``field``."""
    size = len(json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode())
    if size > MAX_EVENT_BYTES:
        message = f"has {size} bytes as JSON; {MAX_EVENT_BYTES} are accepted; {LONG_TEXT}"
        raise NeveError("event_too_large", f"{field} {message}.", errors=[FieldError(field, message)])


def _sizes(events: Any) -> Any:
    """Refuse events that are too large. Raises NeveError ``event_too_large`` (413): a size is not a matter of
    grammar."""
    for n, event in enumerate(events if isinstance(events, list) else []):
        check_event_size(event, f"events[{n}]")
    return events


def _images(events: list[NewEventBody]) -> list[NewEventBody]:
    if sum(_images_in(event.content) for event in events if isinstance(event.content, list)) > MAX_IMAGES:
        raise ValueError(f"must have at most {MAX_IMAGES} images together")
    texts = sum(_texts_in(event.content) for event in events if isinstance(event.content, list))
    if texts > MAX_TEXTS or (texts and len(events) + texts > MAX_EVENTS):
        raise ValueError(f"must have at most {MAX_TEXTS} texts by upload_id, and with them {MAX_EVENTS - texts} events")
    return events


Events = Annotated[
    list[NewEventBody],
    Field(
        min_length=1,
        max_length=MAX_EVENTS,
        description="In order. Each has at most 256 KiB as JSON in UTF-8 and 20 images, all together 48 images.",
    ),
    BeforeValidator(_sizes),
    AfterValidator(_images),
]


class AppendBody(Body):
    events: Events

    def commands(self) -> list[NewEvent]:
        return commands_of(self.events)


def commands_of(events: Sequence[NewEventBody]) -> list[NewEvent]:
    return [_command(event) for event in events]


def _command(event: NewEventBody) -> NewEvent:
    data = event.model_dump(exclude_unset=True, include={"event_data"}).get("event_data", {})
    content, thinking = _content(event.content)
    if isinstance(event, AnswerEvent | ToolCallEvent):
        thinking = [*data.pop("thinking", ()), *thinking]
    return NewEvent(
        event_type=EventType(event.event_type),
        content=content,
        client_id=event.client_id,
        name=event.name,
        event_data=data,
        created_at=event.created_at,
        thinking=tuple(thinking),
        metadata=event.metadata,
        participant=event.participant if isinstance(event, MessageEvent) else None,
    )


def _content(content: str | Sequence[BaseModel]) -> tuple[str | list[dict[str, Any]], list[dict[str, Any]]]:
    """Split content into what was said and what was thought: as it was sent."""
    if isinstance(content, str):
        return content, []
    said = [block.model_dump(exclude_none=True) for block in content if not isinstance(block, ThinkingBlock)]
    return said or "", [block.model_dump() for block in content if isinstance(block, ThinkingBlock)]


class AppendedOut(View):
    seqs: list[int] = Field(description="In the order of the request.")
    observation: Observation = Field(
        description="`queued`: a pass reads these events now. `waiting`: they completed a turn, which waits for more or"
        " for silence, as `observe_after` of the policy says. `none`: they completed none."
    )
    compaction: Queued = Field(description="`queued`: these events are a reason for one.")
    compaction_job_id: str | None = Field(description="Its job, when one was queued.")
    redacted: dict[str, int] | None = Field(
        description="How many of each class of personal data were taken out of these events; absent when none were."
    )
    other_language: OtherLanguage | None
    degraded: Degraded | None
    retracted: Literal[True] | None = Field(
        description="Some of the events were appended before and taken back since: `retracted_seqs`. They stay so."
    )
    retracted_seqs: list[int] | None

    @classmethod
    def of(cls, appended: Appended) -> AppendedOut:
        return cls(
            seqs=appended.seqs,
            observation=appended.observation,
            compaction=appended.compaction,
            compaction_job_id=appended.compaction_job_id,
            redacted=appended.redacted or None,
            other_language=appended.other_language or None,
            degraded=list(not_observed(appended.other_language)) or None,
            retracted=True if appended.retracted else None,
            retracted_seqs=appended.retracted or None,
        )


class Unobservable(View):
    reason: str


class EventOut(View):
    seq: int
    client_id: str | None
    event_type: str
    name: str | None
    content: str | list[dict[str, Any]] = Field(
        description="Text, or blocks. Images and texts that Neve holds are named by `upload_id`, which a new event may"
        " use again."
    )
    event_data: dict[str, Any] | None
    metadata: dict[str, str] | None
    participant: str | None = Field(description="Who of the session's participants said it.")
    audience: Audience | None = Field(description="`session`: no other session is told of it.")
    original_tokens: int
    pruned: bool
    artifact_path: str | None
    archived: bool = Field(description="A compaction has summarised it.")
    retracted: bool = Field(description="It was taken back: no prompt shows it and no recall finds it.")
    erased: Literal[True] | None = Field(description="It was deleted, and nothing of what it said is kept any more.")
    unobservable: Unobservable | None = Field(
        description="The observer would not read it, or gave no usable answer; the passes went on without."
    )
    created_at: str

    @classmethod
    def of(cls, event: Event, covers: tuple[int, int] | None, retracted: Spans) -> EventOut:
        return cls(
            seq=event.seq,
            client_id=event.client_id,
            event_type=event.event_type,
            name=event.name,
            content=event.content if isinstance(event.content, str) else [_shown_block(b) for b in event.content],
            event_data=event.event_data or None,
            metadata=event.metadata or None,
            participant=event.participant,
            audience=event.audience,
            original_tokens=event.original_tokens,
            pruned=event.pruned,
            artifact_path=event.artifact_path,
            archived=covers is not None and covers[0] <= event.seq <= covers[1],
            retracted=holds(retracted, event.seq),
            erased=True if event.erased else None,
            unobservable=Unobservable(**event.unobservable) if event.unobservable else None,
            created_at=event.created_at,
        )


def _shown_block(block: dict[str, Any]) -> dict[str, Any]:
    """Give a block as a new event may have it. No answer names a key of the object store; the last part of it is the
    upload's id."""
    if "object" not in block:
        return block
    shown = {name: block[name] for name in ("type", "media_type", "text") if name in block}
    return shown | {"upload_id": image_name(block["object"])}


class RemovedOut(View):
    seq_from: int
    seq_to: int


class EventsPage(Page):
    events: list[EventOut]
    removed: RemovedOut | None = Field(
        default=None,
        description="Archived events that are gone for good, because the policy's `retention_days` are over.",
    )
    next_from_seq: int | None = Field(description="`from_seq` of the next page; absent on the last one.")

    @classmethod
    def of(cls, page: EventPage) -> EventsPage:
        removed = RemovedOut(seq_from=page.removed[0], seq_to=page.removed[1]) if page.removed else None
        events = [EventOut.of(event, page.covers, page.retracted) for event in page.events]
        return cls(events=events, removed=removed, next_from_seq=page.next_from_seq)


class EventsQuery(Parameters):
    from_seq: Annotated[Seq, BeforeValidator(whole_number)] | None = Field(
        default=None, description="The first event wanted; default the first one of the order."
    )
    order: EventOrder = Field(default="asc", description="`desc`: backwards from `from_seq`.")
    retracted: bool = Field(
        default=True, description="False: without what was taken back. A page may be short, `next_from_seq` goes on."
    )
    limit: Limit = 50
    metadata: MetadataParameters = Field(default_factory=dict)

    def how(self) -> dict[str, Any]:
        return {"backwards": self.order == "desc", "retracted": self.retracted, "metadata": self.metadata}

    @property
    def cursor(self) -> None:
        """Give no cursor: a log is read from a seq."""


class UploadBody(Body):
    media_type: UploadType
    size: int | None = Field(
        default=None,
        ge=1,
        description=f"Exactly how many bytes will be sent, at most {MAX_IMAGE_BYTES}, {MAX_TEXT_BYTES} of a text; then"
        " signed.",
    )

    def wanted(self) -> tuple[str, int | None]:
        return self.media_type, self.size


class UploadOut(View):
    upload_id: str
    method: Literal["PUT"] = "PUT"
    url: str = Field(description="Send the bytes there once, without the API key.")
    headers: dict[str, str] = Field(description="Send exactly these headers.")
    expires_at: str

    @classmethod
    def of(cls, upload: Upload) -> UploadOut:
        headers = {"Content-Type": upload.content_type, "If-None-Match": "*"}
        return cls(upload_id=upload.upload_id, url=upload.url, headers=headers, expires_at=upload.expires_at)


def without_signature(target: dict[str, Any]) -> dict[str, Any]:
    """Give what is kept of a target for its repeat: the rest is good for minutes, and opens a door."""
    return {"upload_id": target["upload_id"]}


TOO_LARGE = ("event_too_large", "image_too_large")

APPEND_EVENTS = Operation(
    method="POST",
    path=EVENTS,
    id="appendEvents",
    tag="events",
    summary="Append events to a session's log: all of them or none.",
    description="What the policy's `pii` does not allow is taken out of them, in place.",
    scope="chat",
    query=Nothing,
    body=AppendBody,
    responses={201: Response("The events are durable.", AppendedOut)},
    codes=(
        *USER_WRITE,
        "session_not_found",
        "session_deleted",
        "upload_not_found",
        "client_id_conflict",
        "retracted",
        *TOO_LARGE,
    ),
    idempotent=True,
)

LIST_EVENTS = Operation(
    method="GET",
    path=EVENTS,
    id="listEvents",
    tag="events",
    summary="The log in seq order, or backwards.",
    scope="chat",
    query=EventsQuery,
    body=Nothing,
    responses={200: Response("A page of events.", EventsPage)},
    codes=("session_not_found",),
)

CREATE_UPLOAD = Operation(
    method="POST",
    path=UPLOADS,
    id="createUpload",
    tag="events",
    summary="A pre-signed target for one image or one long text.",
    scope="chat",
    query=Nothing,
    body=UploadBody,
    responses={201: Response("Where to send the bytes.", UploadOut)},
    codes=(*USER_WRITE, *TOO_LARGE),
    idempotent=True,
)
