"""E14: what goes on for a tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field

from neve.http.operations import Operation, Response, View, route
from neve.http.schemas.enums import DeliveryFailure, DeliveryOutcome, JobStatus

if TYPE_CHECKING:
    from neve.usecases.work.background.tenant_work import Failing, Night, TenantWork


class OpenJobOut(View):
    id: str
    kind: str
    user_id: str | None
    session_id: str | None
    status: JobStatus
    created_at: str
    due_at: str | None = Field(description="When the sweep sends it again, unless it has ended by then.")


class NightOut(View):
    job_id: str
    began: str
    status: JobStatus
    finished_at: str | None
    users: int = Field(description="Whose rows it condenses, as far as it has told them.")
    ended: int
    failed: int
    reason: str | None

    @classmethod
    def of(cls, night: Night) -> Self:
        run = night.run
        counts = {name: int(run.result.get(name, 0)) for name in ("users", "ended", "failed")}
        reason = run.result.get("reason")
        return super().of(run, job_id=run.id, began=night.began, reason=reason, **counts)


class WaitingSessionOut(View):
    user_id: str
    session_id: str


class FailingWebhookOut(View):
    id: str
    failed: int = Field(description="Of the last 20 attempts.")
    at: str = Field(description="Of the newest that failed.")
    outcome: DeliveryOutcome
    status: int | None
    failure: DeliveryFailure | None
    disabled: bool

    @classmethod
    def of(cls, one: Failing) -> Self:
        last, webhook = one.last, one.webhook
        return super().of(last, id=webhook.id, failed=one.failed, disabled=webhook.disabled_at is not None)


class WorkOut(View):
    jobs: list[OpenJobOut] = Field(description="Those that have not ended, newest first, at most 50.")
    jobs_by_kind: dict[str, int] = Field(description="How many of them are of each kind.")
    jobs_complete: bool = Field(description="False: there are more, or older ones that were not looked at.")
    night: NightOut | None = Field(description="The last one that was begun, of the last two.")
    waiting: list[WaitingSessionOut] = Field(
        description="Sessions with words that are not indexed or not observed yet, at most 50."
    )
    waiting_complete: bool
    webhooks: list[FailingWebhookOut] = Field(description="Those of which one of the last 20 attempts failed.")

    @classmethod
    def of(cls, work: TenantWork) -> Self:
        kinds = [job.kind for job in work.jobs]
        return super().of(
            work,
            jobs_by_kind={kind: kinds.count(kind) for kind in sorted(set(kinds))},
            night=NightOut.of(work.night) if work.night else None,
            webhooks=list(map(FailingWebhookOut.of, work.failing)),
        )


READ_WORK = Operation(
    **route("GET", "/v1/admin/work", "readWork", "admin", "admin"),
    summary="What goes on for the tenant: jobs, the last night, sessions that wait, webhooks that fail.",
    description="No word of anybody. Observations, ends of sessions and filings are not among the jobs; the sessions"
    " they are of are among those that wait.",
    responses={200: Response("The work.", WorkOut)},
)
