"""What makes a night: two planners, each as often as it likes, and somebody who asks for one user or for everybody."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from neve.store import rows
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.requests.end_session import end_session_as_read
from neve.usecases.work.reflect.plan_nights import plan_nights
from neve.usecases.work.reflect.request_reflection import request_reflection
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.workers import FORESEEN, Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

TIMES = 4


def plan(run: Run) -> None:
    """The planner of every hour, which here comes at any time."""
    _now_and_then(run, "planner", plan_nights)


def plan_too(run: Run) -> None:
    """Another one beside it."""
    _now_and_then(run, "other-planner", plan_nights)


def ask(run: Run) -> None:
    """E14."""
    random, workload = run.cloud.random, run.workload

    def asking(ports: SimPorts) -> object:
        user = random.choice((None, *workload.users))
        return request_reflection(tenant_scope(ports, random.choice(workload.tenants)), user, None)

    _now_and_then(run, "asker", asking)


def end_silent(run: Run) -> None:
    """The sweep that ends a session, which here comes at any time. What it finds changed it leaves to the next."""
    random, workload = run.cloud.random, run.workload

    def ending(ports: SimPorts) -> object:
        user = tenant_scope(ports, random.choice(workload.tenants)).of_user(random.choice(workload.users))
        session = user.of_session(random.choice(workload.sessions))
        item = ports.table.get(session.keys.session_head)
        return item and end_session_as_read(session, rows.read_session(item))

    _now_and_then(run, "silence", ending)


def _now_and_then(run: Run, name: str, work: Callable[[SimPorts], object]) -> None:
    cloud, environment = run.cloud, Environment(run.cloud, name)
    for _ in range(TIMES):
        cloud.scheduler.pause(cloud.random.random() * max(30.0, 12 * cloud.settings.think_s))
        try:
            environment.run(work)
        except FORESEEN as error:
            cloud.trace.add(cloud.scheduler.now_s, name, type(error).__name__)
