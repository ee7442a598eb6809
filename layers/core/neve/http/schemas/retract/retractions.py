"""E2 retract: a part of the log is taken back."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from neve.http.operations import USER_WRITE, Body, Operation, Response, View, route
from neve.http.schemas.enums import RetractReason
from neve.http.schemas.fields import Seq
from neve.http.schemas.sessions.events import EVENTS
from neve.usecases.tell.requests.retract_events import Retract


class RetractBody(Body):
    from_seq: Seq = Field(description="The first event that is taken back.")
    to_seq: Seq | None = Field(
        default=None,
        description="The last one; left out: to the end of the log as it is. A repeat of the call means the same end.",
    )
    reason: RetractReason = Field(
        description="`edited` (regenerated answers, too) and `branched` keep the words in the log, marked; `deleted`"
        " erases them, and what was made of them, for good."
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_null_end(cls, sent: Any) -> Any:
        """Take an end of null as left out: what is deleted must not wait for a client to be mended."""
        return {k: v for k, v in sent.items() if (k, v) != ("to_seq", None)} if isinstance(sent, dict) else sent

    def command(self) -> Retract:
        return Retract(self.from_seq, self.to_seq, self.reason)


class RetractedOut(View):
    from_seq: int
    to_seq: int
    epoch: int = Field(description="The session's history goes on in this epoch, without the events.")
    job_id: str = Field(description="Of the job that sees to what was made of them.")


class SessionDeletedOut(View):
    id: str
    job_id: str | None = Field(
        description="Of the job that erases the events and what was made of them; absent where there were none."
    )


RETRACT_EVENTS = Operation(
    **route("POST", f"{EVENTS}/retract", "retractEvents", "events", "chat"),
    summary="Take events back: edited, deleted, or left for another branch.",
    description="Prompts and recall are without them once this is answered; what was made of them follows by the job.",
    body=RetractBody,
    responses={200: Response("They are taken back.", RetractedOut)},
    codes=(*USER_WRITE, "session_not_found"),
    idempotent=True,
)

DELETE_SESSION = Operation(
    **route("DELETE", EVENTS.removesuffix("/events"), "deleteSession", "sessions", "chat"),
    summary="Delete a session for good: its events, title and metadata, and what was made of them.",
    description="It is no longer listed, and 404, once this is answered; a job erases the words. Its id is not given"
    " out again: what is appended to it later is 410 `session_deleted`. A repeat changes nothing. What a caller"
    " kept in it with `createMemory` stays.",
    responses={200: Response("It is deleted.", SessionDeletedOut)},
    codes=(*USER_WRITE, "session_not_found"),
    idempotent=True,
)
