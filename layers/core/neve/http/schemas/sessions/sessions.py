"""E1: sessions."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from neve.http.operations import Body, Nothing, Operation, Parameters, Response, View
from neve.http.pages import Page
from neve.http.schemas.enums import SessionStatus
from neve.http.schemas.fields import Cursor, Degraded, Identifier, Limit, Metadata, MetadataParameters, Name
from neve.http.schemas.lag.memory_lag import MemoryLagOut
from neve.http.schemas.pack.packs import PackOut
from neve.http.schemas.sessions.participants import ParticipantOut, Participants, records_of
from neve.http.schemas.sessions.user_meta import UserMeta
from neve.http.schemas.tenants.usage import SessionPromptsOut
from neve.usecases.ask.sessions.read_sessions import SessionView
from neve.usecases.tell.sessions.open_session import OpenedSession, OpenSession

SESSIONS = "/v1/users/{user_id}/sessions"
SESSION = "/v1/users/{user_id}/sessions/{session_id}"


class OpenSessionBody(Body):
    session_id: Identifier | None = Field(
        default=None, description="Repeat a call with the same id for the same session."
    )
    title: Name | None = Field(default=None, max_length=200)
    user_meta: UserMeta | None = None
    metadata: Metadata | None = Field(
        default=None, description="Labels of the caller's own; sent again, they take the place of those that are there."
    )
    participants: Participants | None = Field(
        default=None,
        description="Who speaks beside an assistant; sent again, they join those who are there. What others than the"
        " user of the path say is told in no other session.",
    )
    room: bool | None = Field(
        default=None, description="The user of the path is no person but a room: what is said in it is the room's."
    )
    budget_ms: int | None = Field(
        default=None,
        ge=-(2**31),
        lt=2**31,
        description="How long the pack may take; the policy's session start budget when absent. 0 or less: no pack.",
    )

    def command(self) -> OpenSession:
        meta = self.user_meta.model_dump(exclude_none=True) if self.user_meta else {}
        people = records_of(self.participants)
        return OpenSession(self.session_id, self.title, meta, self.budget_ms, self.metadata, people, self.room)


class Covers(View):
    """The events that a compaction has summarised."""

    from_: int = Field(serialization_alias="from")
    to: int


class SessionOut(View):
    id: str
    status: SessionStatus
    title: str | None
    user_meta: dict[str, str]
    metadata: dict[str, str] | None = Field(description="Absent without any.")
    participants: list[ParticipantOut] | None = Field(description="Absent without any.")
    room: Literal[True] | None
    outcome: str | None = Field(description="What the caller said of it when it was ended.")
    started_at: str
    last_event_at: str | None
    last_seq: int = Field(description="Seq of the newest event; 0 before the first.")
    observed_seq: int = Field(description="The marker: events up to here are memory by now.")
    indexed_seq: int = Field(description="Utterances up to here are in the search index.")
    epoch: int
    covers: Covers | None
    pack_version: int | None
    current_task: str | None
    suggested_continuation: str | None
    thread_title: str | None = Field(description="What the observer would call the conversation.")
    total_tokens: int = Field(description="Sum of `original_tokens` over all events.")
    memory_lag: MemoryLagOut = Field(
        description="Of this session; in the answer to opening it, over all that its user has."
    )
    usage: SessionPromptsOut | None = Field(
        description="What was reported of its prompts; absent before the first report and in the answer to its opening."
    )

    @classmethod
    def of(cls, view: SessionView) -> SessionOut:
        head, marker, epoch = view.head, view.marker, view.epoch
        covers = None
        if epoch.covers_from is not None and epoch.covers_to is not None:
            covers = Covers(from_=epoch.covers_from, to=epoch.covers_to)
        return cls(
            id=head.session_id,
            status=head.status,
            title=head.title,
            user_meta=head.user_meta,
            metadata=head.metadata or None,
            participants=[ParticipantOut.of(one) for one in head.participants] or None,
            room=True if head.room else None,
            outcome=head.outcome,
            started_at=head.started_at,
            last_event_at=head.last_event_at,
            last_seq=head.last_seq,
            observed_seq=marker.observed_seq,
            indexed_seq=view.indexed_seq,
            epoch=epoch.epoch,
            covers=covers,
            pack_version=epoch.pack.pack_version if epoch.pack else None,
            current_task=marker.current_task,
            suggested_continuation=marker.suggested_continuation,
            thread_title=marker.thread_title,
            total_tokens=head.total_tokens,
            memory_lag=MemoryLagOut.of(view.lag),
            usage=SessionPromptsOut.of_session(view.prompts) if view.prompts else None,
        )


class OpenedOut(View):
    session: SessionOut
    pack: PackOut
    transparency: list[str] = Field(description="Lines for the person at the screen.")
    degraded: Degraded | None = Field(
        description="What is missing from the pack, and why; `extract:queued` while what was said waits for a language "
        "model that gives no answer. Absent when nothing is."
    )
    created: bool
    elapsed_ms: int

    @classmethod
    def of(cls, opened: OpenedSession) -> OpenedOut:
        return cls(
            session=SessionOut.of(opened.view),
            pack=PackOut.of(opened.pack),
            transparency=opened.transparency,
            degraded=opened.degraded or None,
            created=opened.created,
            elapsed_ms=opened.elapsed_ms,
        )


def opening_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Give what is stored of an ``OpenedOut`` for a repeat, which reads the same session again: not the whole pack."""
    return {"session_id": answer["session"]["id"], "created": answer["created"]}


class SessionPage(Page):
    sessions: list[SessionOut]
    next_cursor: str | None

    @classmethod
    def of(cls, views: list[SessionView], cursor: str | None) -> SessionPage:
        return cls(sessions=[SessionOut.of(view) for view in views], next_cursor=cursor)


class Paging(Parameters):
    limit: Limit = 50
    cursor: Cursor | None = None


class SessionsQuery(Paging):
    metadata: MetadataParameters = Field(default_factory=dict)


OPEN_SESSION = Operation(
    method="POST",
    path=SESSIONS,
    id="openSession",
    tag="sessions",
    summary="Open a session, or resume it, and fetch its pack.",
    description="The same `session_id` again gives the same session and the same pack version.",
    scope="chat",
    query=Nothing,
    body=OpenSessionBody,
    responses={200: Response("The session and its pack.", OpenedOut)},
    codes=("conflict", "erasing", "user_closed", "session_deleted"),
    idempotent=True,
)

LIST_SESSIONS = Operation(
    method="GET",
    path=SESSIONS,
    id="listSessions",
    tag="sessions",
    summary="The sessions of a user, by id.",
    scope="chat",
    query=SessionsQuery,
    body=Nothing,
    responses={200: Response("A page of sessions.", SessionPage)},
)

READ_SESSION = Operation(
    method="GET",
    path=SESSION,
    id="readSession",
    tag="sessions",
    summary="One session.",
    scope="chat",
    query=Nothing,
    body=Nothing,
    responses={200: Response("The session.", SessionOut)},
    codes=("session_not_found",),
)
