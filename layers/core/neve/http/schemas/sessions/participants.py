"""E1: the people of a session of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from neve.domain.records.sessions import Participant
from neve.domain.sessions.participants import MAX_PARTICIPANTS
from neve.http.operations import Body, View
from neve.http.schemas.fields import Identifier, Name


class ParticipantBody(Body):
    id: Identifier = Field(description="By which events name them; unique in the session.")
    name: Name = Field(max_length=200, description="How prompts and memory call them.")
    user_id: Identifier | None = Field(
        default=None,
        description="Their own user, where they have one; that of the path, or such an `id`: it is theirs.",
    )
    share: bool = Field(
        default=False, description="What they say from now on goes into the memory of their `user_id`, too."
    )

    @model_validator(mode="after")
    def _shared_with_somebody(self) -> Self:
        if self.share and self.user_id is None:
            raise ValueError("must have a user_id to share with: whose memory it goes to")
        return self


class ParticipantOut(View):
    id: str
    name: str
    user_id: str | None
    share: bool

    @classmethod
    def of(cls, one: Participant) -> Self:
        return cls(id=one.id, name=one.name, user_id=one.user_id, share=one.share)


def _unique(people: list[ParticipantBody]) -> list[ParticipantBody]:
    twice = {one.id for n, one in enumerate(people) if any(other.id == one.id for other in people[:n])}
    if twice:
        raise ValueError(f"must have unique ids; {', '.join(sorted(twice))} is there twice")
    return people


Participants = Annotated[list[ParticipantBody], Field(max_length=MAX_PARTICIPANTS), AfterValidator(_unique)]
"""Those of one session (docs/rules/sessions.md#participants)."""
ParticipantId = Annotated[Identifier, Field(description="Who of the session's `participants` said it.")]


def records_of(people: Sequence[ParticipantBody] | None) -> tuple[Participant, ...]:
    return tuple(Participant(one.id, one.name, one.user_id, one.share) for one in people or ())
