"""People who write the documents that a librarian writes too, and who decide what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neve.domain.documents.change import DocumentChange
from neve.domain.errors import NeveError
from neve.domain.librarian.looking import ALWAYS
from neve.scope import UserScope
from neve.usecases.ask.documents.get_document import find_document
from neve.usecases.ask.memories.list_inbox import list_inbox
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.inbox.decide import decide_item
from neve.usecases.tell.inbox.decision import Choice, Decision
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.workers import FORESEEN, Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

EDITS = 6
CHOICES: tuple[Choice, ...] = ("approve", "approve", "reject", "supersede")


def edit(run: Run) -> None:
    """Adds a line of their own to what they have read, or starts over; with If-Match or without."""
    cloud, environment = run.cloud, Environment(run.cloud, "editor")

    def once(ports: SimPorts, number: int) -> None:
        user = _somebody(run, ports)
        path = cloud.random.choice(ALWAYS)
        before = find_document(user, path)
        line = f"{user.tenant.id}.{user.user} a person wrote {number}"
        if before is None:
            write_document(user, path, DocumentChange(text=line), create=True)
            return
        cloud.scheduler.pause(cloud.random.random() * cloud.settings.think_s)
        write_document(user, path, DocumentChange(text=f"{before.text}\n{line}"), expected_rev=before.rev)

    _now_and_then(run, environment, once)


def answer(run: Run) -> None:
    """Decides what waits, two of them at a time."""
    cloud, environment = run.cloud, Environment(run.cloud, "reviewer")

    def once(ports: SimPorts, _: int) -> None:
        user = _somebody(run, ports)
        waiting, _cursor = list_inbox(user, 5, None)
        for one in waiting:
            decide_item(user, one.id, Decision(cloud.random.choice(CHOICES)))

    _now_and_then(run, environment, once)


def answer_too(run: Run) -> None:
    """Another one beside them."""
    answer(run)


def _somebody(run: Run, ports: SimPorts) -> UserScope:
    random, workload = run.cloud.random, run.workload
    return tenant_scope(ports, random.choice(workload.tenants)).of_user(random.choice(workload.users))


def _now_and_then(run: Run, environment: Environment, once: object) -> None:
    cloud = run.cloud
    for number in range(EDITS):
        cloud.scheduler.pause(cloud.random.random() * max(10.0, 4 * cloud.settings.think_s))
        try:
            environment.run(lambda ports, number=number: once(ports, number))  # type: ignore[misc,operator]
        except (*FORESEEN, NeveError) as error:
            cloud.trace.add(cloud.scheduler.now_s, "person", type(error).__name__)
