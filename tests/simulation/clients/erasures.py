"""A tenant that has a user erased (E15), and waits for the receipt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neve.domain.errors import NeveError
from neve.domain.records.jobs import Job
from neve.store.keys import UserKeys
from neve.store.rows import read_job
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.requests.request_erasure import request_erasure
from tests.simulation.machine.workers import FORESEEN, Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

AGAIN_S = 7.0
TIMES = 2


def have_somebody_erased(run: Run) -> None:
    """Now and then another erasure of whoever it is, so that an id lives more than twice."""
    cloud = run.cloud
    for _ in range(cloud.random.randint(1, TIMES)):
        cloud.scheduler.pause(cloud.random.random() * max(5.0, 4 * cloud.settings.think_s))
        keys = UserKeys(cloud.random.choice(run.workload.tenants), cloud.random.choice(run.workload.users))
        job = _asked(run, keys)
        if job is None:
            return  # the id is closed
        began_s = cloud.scheduler.now_s
        run.erased[keys] = (began_s, float("inf"))
        while not _is_done(run, keys, job):
            cloud.scheduler.pause(AGAIN_S)
        run.erased[keys] = (began_s, last_look_s(run, keys, job))
        cloud.sometimes["erasure by a job"] += 1


def _asked(run: Run, keys: UserKeys) -> Job | None:
    """The job; asked again where the answer was lost. None when the user is refused for good."""
    cloud, environment = run.cloud, Environment(run.cloud, "tenant")
    close = cloud.random.random() < 0.2
    while True:
        made: list[Job] = []
        try:
            environment.run(
                lambda ports, made=made: made.append(  # type: ignore[misc]
                    request_erasure(tenant_scope(ports, keys.tenant).of_user(keys.user), close=close)
                )
            )
        except NeveError as refusal:
            if refusal.code == "user_closed":
                return None
        except FORESEEN as error:
            cloud.trace.add(cloud.scheduler.now_s, "tenant", type(error).__name__)
        if made:
            return made[0]
        cloud.scheduler.pause(AGAIN_S)


def _is_done(run: Run, keys: UserKeys, job: Job) -> bool:
    item = run.cloud.table.rows.get(keys.job(job.id))
    return item is not None and read_job(item).status == "done"


def last_look_s(run: Run, keys: UserKeys, job: Job) -> float:
    """When the worker that ended the job took it up: whatever is there behind its look came afterwards."""
    taken = [
        written.at_s
        for written in run.cloud.table.log
        if written.key == keys.job(job.id) and written.new is not None and _has_worker(written.new)
    ]
    return taken[-1]


def _has_worker(item: dict[str, object]) -> bool:
    return read_job(item).state.get("worker") is not None
