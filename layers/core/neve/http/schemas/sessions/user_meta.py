"""The facts that a caller states of the user of a session."""

from __future__ import annotations

from pydantic import Field

from neve.http.operations import Body
from neve.http.schemas.enums import UserStage
from neve.http.schemas.fields import Name, Timezone


class UserMeta(Body):
    """Facts that the pack and the observer should know about the user in this session."""

    name: Name | None = Field(default=None, max_length=200)
    stage: UserStage | None = Field(default=None, description="How well the product knows the user.")
    timezone: Timezone | None = Field(
        default=None, description="IANA name; the days in prompts, summaries, documents and observations follow it."
    )
