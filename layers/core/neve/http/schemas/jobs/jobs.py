"""E3, E4, E5, E14: pieces of asynchronous work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, RootModel

from neve.domain.errors import invalid
from neve.domain.records.epochs import Verbosity
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Memory
from neve.http.operations import USER_WRITE, Body, Operation, Response, View, route
from neve.http.schemas.enums import (
    Category,
    CompactionReason,
    JobStage,
    JobStatus,
    MemoryStatus,
    Outcome,
    Priority,
    StageState,
)
from neve.http.schemas.fields import Degraded, Identifier, OtherLanguage
from neve.usecases.core.jobs.read_jobs import MAX_WAIT_S, WAIT_S

if TYPE_CHECKING:
    from neve.usecases.work.observe.dry_run import DryRun

SESSION = "/v1/users/{user_id}/sessions/{session_id}"
WAIT = "Poll up to 20 s for the end of the job."


class StageOut(View):
    stage: JobStage
    state: StageState


class JobOut(View):
    id: str
    kind: str
    status: JobStatus
    user_id: str | None
    session_id: str | None
    created_at: str
    finished_at: str | None
    result: dict[str, Any] | None = Field(description="What was done, or why nothing was.")
    degraded: Degraded | None = Field(
        default=None,
        description="Of a pass that has not ended: `extract:queued` while the language model gives no answer; of a call"
        " that asks for one: `observer:language`.",
    )
    other_language: OtherLanguage | None = None
    stages: list[StageOut] | None = Field(
        default=None, description="Of work on a session, when the job is read: from what was said to what can be found."
    )

    @classmethod
    def of(
        cls,
        job: Job,
        stages: Sequence[Mapping[str, str]] = (),
        degraded: Sequence[str] = (),
        other_language: int = 0,
    ) -> Self:
        return super().of(
            job,
            result=job.result or None,
            degraded=list(degraded) or None,
            other_language=other_language or None,
            stages=list(stages) or None,
        )


class ObserveBody(Body):
    wait: bool = Field(default=False, description=WAIT)
    dry_run: bool = Field(default=False, description="Say what a pass would write, and write nothing.")


class DryObservationOut(View):
    """A new memory of a pass."""

    text: str
    priority: Priority
    tokens: int
    seq_from: int | None
    seq_to: int | None
    about: list[str] | None


class DryFactOut(View):
    """The fate of a statement. Only a row that there is has an id; what is rejected has no text."""

    decision: str
    reason: str
    id: str | None = None
    text: str | None = None
    category: Category | None = None
    status: MemoryStatus | None = None
    tokens: int | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    supersedes: list[str] | None = None


class DryRunOut(View):
    dry_run: Literal[True] = True
    passes: int = Field(description="How often the observer was asked with success.")
    observed_seq: int = Field(description="How far the session would be observed.")
    observations: list[DryObservationOut]
    facts: list[DryFactOut]
    superseded: list[str] = Field(description="Ids of memories that would be superseded.")
    reinforced: list[str] = Field(description="Ids of memories that would be cited, or stated again.")
    tokens: int = Field(description="Of what would be new.")
    model: dict[str, int] | None = Field(description="What it has cost, which is counted: calls and tokens of a model.")
    complete: bool = Field(description="False: not all that is unobserved was looked at, `reason` says why.")
    reason: str | None

    @classmethod
    def of(cls, dry: DryRun) -> Self:
        return super().of(
            dry,
            dry_run=True,
            passes=dry.report.passes,
            observed_seq=dry.report.observed_seq,
            observations=[_observation(one) for one in dry.observations],
            facts=[_fact(one, dry.facts.get(one.get("id", ""))) for one in dry.report.facts],
            model=dict(dry.cost) or None,
        )


def _observation(memory: Memory) -> DryObservationOut:
    origin = memory.provenance
    return DryObservationOut.of(
        memory, seq_from=origin.seq_from, seq_to=origin.seq_to, about=list(memory.about) or None
    )


def _fact(told: Mapping[str, Any], fact: Memory | None) -> DryFactOut:
    decided = {name: told[name] for name in ("decision", "reason")}
    if fact is None:
        return DryFactOut(**decided, id=told.get("id"))
    origin, supersedes = fact.provenance, list(fact.supersedes) or None
    more = {"seq_from": origin.seq_from, "seq_to": origin.seq_to, "supersedes": supersedes, "id": None}
    return DryFactOut.of(fact, **decided, **more)


class ObservedOut(RootModel[DryRunOut | JobOut]):
    """`dry_run` says which one."""


class CompactBody(Body):
    reason: CompactionReason = "manual"
    verbosity: Verbosity | None = Field(
        default=None, description="How long the summary may be; the policy's when absent."
    )
    wait: bool = Field(default=False, description=WAIT)


class EndBody(Body):
    outcome: Outcome | None = Field(default=None, description="How the conversation ended.")


class DrainBody(Body):
    user_id: Identifier | None = Field(default=None, description="Only this user; all users of the tenant when absent.")
    wait: bool = Field(default=False, description="As ``wait_s: 20``.")
    wait_s: float | None = Field(
        default=None, ge=0, le=MAX_WAIT_S, description="Seconds to wait until nothing is pending any more."
    )

    def seconds(self) -> float:
        """Give the seconds to wait. Raises 422 where ``wait`` and ``wait_s`` disagree."""
        if self.wait and self.wait_s not in (None, WAIT_S):
            raise invalid("wait_s", f"must be left out beside wait, which means {WAIT_S:g}")
        if self.wait_s is not None:
            return self.wait_s
        return WAIT_S if self.wait else 0.0


_JOB = {200: Response("The job has ended.", JobOut), 202: Response("The job is queued or running.", JobOut)}

OBSERVE = Operation(
    **route("POST", SESSION + "/observe", "observeSession", "jobs", "chat"),
    summary="Turn the unobserved events of a session into memory now.",
    description="One job per session and last seq, shared with the automatic pass; done at once when nothing is new."
    " With `dry_run` there is no job, and no answer is kept for an `Idempotency-Key`.",
    body=ObserveBody,
    responses={
        200: Response("The job has ended, or what it would write.", ObservedOut),
        202: Response("The job is queued or running.", JobOut),
    },
    codes=(*USER_WRITE, "session_not_found"),
    idempotent=True,
)

COMPACT = Operation(
    **route("POST", SESSION + "/compact", "compactSession", "jobs", "chat"),
    summary="Summarise the middle of a session, move its horizon and rebuild its pack.",
    body=CompactBody,
    responses=_JOB,
    codes=(*USER_WRITE, "session_not_found"),
    idempotent=True,
)

END = Operation(
    **route("POST", SESSION + "/end", "endSession", "jobs", "chat"),
    summary="Close a session: it is observed to its end, compacted, and filed in documents and a summary.",
    description="One job for each state of the log, done when all of it is. A later append opens the session again.",
    body=EndBody,
    responses={202: Response("The job, also one that has ended.", JobOut)},
    codes=(*USER_WRITE, "session_not_found"),
    idempotent=True,
)

READ_JOB = Operation(
    **route("GET", "/v1/users/{user_id}/jobs/{job_id}", "readJob", "jobs", "chat", "self"),
    summary="A job of this user.",
    description="With the scope `self` alone an export or an erasure, and no other job. An export has the addresses of"
    " its parts for this scope only.",
    responses={200: Response("The job.", JobOut)},
    codes=("job_not_found",),
)

DRAIN_EMBEDDINGS = Operation(
    **route("POST", "/v1/admin/embeddings/drain", "drainEmbeddings", "admin", "admin"),
    summary="Index and embed everything that is pending.",
    description="Done when nothing of the tenant, or of the user, is unindexed or unembedded; running until then.",
    body=DrainBody,
    responses=_JOB,
    codes=("erasing", "user_closed", "conflict"),
    idempotent=True,
)

READ_ADMIN_JOB = Operation(
    **route("GET", "/v1/admin/jobs/{job_id}", "readAdminJob", "admin", "admin"),
    summary="Any job of the tenant.",
    responses={200: Response("The job.", JobOut)},
    codes=("job_not_found",),
)
