"""People who edit the documents that stand in packs, beside the clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neve.domain.documents.change import DocumentChange
from neve.domain.records.memories import Status
from neve.store.keys import UserKeys
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.write_document import write_document
from tests.simulation.clients.client import WORDS, tag_of
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.workers import FORESEEN, Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

TIMES = (4, 12)
PATHS = (
    *("/always-load/rules", "/always-load/tone", "/reference/prices"),
    *("/profile/identity", "/profile/goals", "/profile/people/tom", "/profile/people/sarah"),
)


def edit(run: Run) -> None:
    _edit(run, "editor")


def edit_too(run: Run) -> None:
    """Somebody else, at the same documents."""
    _edit(run, "other-editor")


def _edit(run: Run, name: str) -> None:
    cloud = run.cloud
    environment = Environment(cloud, name)
    for number in range(cloud.random.randint(*TIMES)):
        cloud.scheduler.pause(cloud.random.random() * max(1.0, cloud.settings.think_s))
        keys = UserKeys(cloud.random.choice(run.workload.tenants), cloud.random.choice(run.workload.users))
        path, change = cloud.random.choice(PATHS), _change(run, f"{name}-{number}", keys)

        def work(
            ports: SimPorts, keys: UserKeys = keys, path: str = path, change: DocumentChange | None = change
        ) -> None:
            scope = tenant_scope(ports, keys.tenant).of_user(keys.user)
            if change is None:
                delete_document(scope, path, None)
            else:
                write_document(scope, path, change)

        try:
            environment.run(work)
        except FORESEEN as error:
            cloud.trace.add(cloud.scheduler.now_s, name, type(error).__name__)


def _change(run: Run, label: str, keys: UserKeys) -> DocumentChange | None:
    """Of the text; and now and then of what makes it stand in packs, and where. None: it is deleted."""
    random = run.cloud.random
    if random.random() < 0.15:
        return None
    text = f"{tag_of(keys)} {label} about the {random.choice(WORDS)}".ljust(random.choice((40, 40, 260)), ".")
    more: dict[str, Any] = {}
    if random.random() < 0.6:
        more["always_include"] = random.random() < 0.7
        more["prompt_order"] = random.randrange(3)
        more["include_priority"] = random.choice(("high", "normal", "low"))
        more["status"] = Status.ACTIVE if random.random() < 0.8 else Status.RESOLVED
    return DocumentChange(text=text, **more)
