"""E14: reflections that a caller asks for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, RootModel

from neve.domain.tenants.policy import MAX_DAYS
from neve.http.operations import Body, Operation, Response, View, route
from neve.http.schemas.fields import Identifier
from neve.http.schemas.jobs.jobs import JobOut


class ReflectBody(Body):
    user_id: Identifier | None = Field(default=None, description="Only this user; all users of the tenant when absent.")
    dry_run: bool = Field(default=False, description="Say what would be condensed, and write nothing.")
    min_age_days: float | None = Field(
        default=None, ge=0, le=MAX_DAYS, description="Instead of the policy's `reflection_min_age_days`."
    )


class PlannedBatchOut(View):
    user_id: str
    ids: list[str]
    tokens: int


class ReflectPlanOut(View):
    dry_run: Literal[True] = True
    eligible: list[str] = Field(description="Ids of the rows that would be condensed, oldest first, by user.")
    batches: list[PlannedBatchOut] = Field(description="What the model would be asked about together.")
    not_worth: list[str] = Field(description="Users with so few rows that a night would wait for more.")
    users: int = Field(description="How many users were looked at.")
    complete: bool = Field(description="False: there are more users than one call can look at.")


class ReflectedOut(RootModel[ReflectPlanOut | JobOut]):
    """`dry_run` says which one."""


REFLECT = Operation(
    **route("POST", "/v1/admin/reflect", "reflect", "admin", "admin"),
    summary="Condense older observations now.",
    description="As the night does it, however few rows there are; with `dry_run`, what it would do.",
    body=ReflectBody,
    responses={
        200: Response("What would be condensed, or a job that has ended already.", ReflectedOut),
        202: Response("The job is queued.", JobOut),
    },
    codes=("erasing", "user_closed", "conflict"),
    idempotent=True,
)
