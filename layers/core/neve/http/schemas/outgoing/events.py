"""The feed of outgoing events."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field

from neve.domain.outgoing.event import TYPES, OutgoingEvent
from neve.http.operations import Operation, Parameters, Response, View, route
from neve.http.schemas.enums import OutgoingType
from neve.http.schemas.fields import MAX_CURSOR, Identifier, Limit, Time
from neve.usecases.ask.outgoing.read_feed import FeedPage


def _types(text: str) -> str:
    unknown = [name for name in text.split(",") if name not in TYPES]
    if unknown:
        raise ValueError(f"must be some of {', '.join(TYPES)}, with commas between them")
    return text


class FeedQuery(Parameters):
    after: str | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_CURSOR,
        description="The `cursor` of the answer before; without it from the oldest event that is kept.",
    )
    types: Annotated[str, AfterValidator(_types)] | None = Field(
        default=None, min_length=1, max_length=400, description="Only these, with commas between them."
    )
    user_id: Identifier | None = None
    limit: Limit = 50


class OutgoingEventOut(View):
    id: str = Field(description="The same in every repeat.")
    type: OutgoingType
    at: Time
    tenant: str
    user_id: str | None = Field(description="Left out where it is about the tenant as a whole.")
    subject: str = Field(description="The id of what changed: a memory, a session, a job, a proposal.")
    data: dict[str, Any] = Field(description="Ids and counts, by type: docs/rules/events.md#types.")

    @classmethod
    def of(cls, shown: OutgoingEvent, /, *_: Any, **own: Any) -> Self:
        return cls.model_validate(shown.stored() | {"user_id": shown.user_id} | own)


class FeedOut(View):
    events: list[OutgoingEventOut]
    cursor: str = Field(description="Where the next call goes on, also when there is nothing more by now.")
    more: bool = Field(description="There is something behind it already.")
    missed: bool = Field(
        description="Events behind `after` were removed before this call, or may have been: they are kept for 7 days."
    )

    @classmethod
    def of(cls, shown: FeedPage, /, tenant: str = "", *_: Any, **own: Any) -> Self:
        return super().of(shown, events=[OutgoingEventOut.of(event, tenant=tenant) for event in shown.events], **own)


READ_FEED = Operation(
    **route("GET", "/v1/events", "readFeed", "events", "admin"),
    summary="What has happened in the tenant's memory, at least once, in order per user, for 7 days.",
    description="Ids and counts, no words. Ask with the `cursor` of the answer before: nothing is skipped, whoever"
    " writes meanwhile. A page may be short or empty where the filters let little through; its cursor goes on.",
    query=FeedQuery,
    responses={200: Response("Events, oldest first.", FeedOut)},
)
