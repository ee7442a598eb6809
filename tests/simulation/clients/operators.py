"""What operators do beside the clients: erase a user, rebuild the search index, drain, and exchange an API key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from neve.domain.errors import NeveError
from neve.http.api_keys import caller_of
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from neve.scope import UserData
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.tenants.keys import create_key, revoke_key
from neve.usecases.work.erase.erase_user import (
    SETTLE_S,
    ErasureUnderWay,
    UserNotFound,
    begin_erasure,
    erase_user,
    finish_erasure,
)
from neve.usecases.work.indexing.drain_embeddings import drain_embeddings
from neve.usecases.work.indexing.reindex import reindex
from tests.simulation.clients.history import Did
from tests.simulation.engines.memory_search import MemorySearch
from tests.simulation.machine.ports import SimPorts, SimSearch
from tests.simulation.machine.workers import FORESEEN, Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

T = TypeVar("T")
AGAIN_S = 7.0
ALIAS_S = 70.0
"""A process looks behind the alias again after 10 s; a worker's batch lasts at most 60 s."""
ERRORS = (*FORESEEN, EmbeddingUnavailable, EmbeddingRetryable)


def _until_done(run: Run, environment: Environment, step: Callable[[SimPorts], T]) -> T:
    """An operator looks at what a step came to, and tries again. Raises NeveError for a refusal that stays one."""
    while True:
        result: list[T] = []
        try:
            environment.run(lambda ports, result=result: result.append(step(ports)))  # type: ignore[misc]
        except ERRORS as error:
            run.cloud.trace.add(run.cloud.scheduler.now_s, "operator", type(error).__name__)
            if isinstance(error, NeveError) and error.code == "too_many_keys":
                raise
        if result:
            return result[0]
        run.cloud.scheduler.pause(AGAIN_S)


def erase_somebody(run: Run) -> None:
    """As ``infra.operate erase-user`` does it, tried again where it fails."""
    cloud = run.cloud
    cloud.scheduler.pause(cloud.random.random() * max(5.0, 4 * cloud.settings.think_s))
    keys = UserKeys(cloud.random.choice(run.workload.tenants), cloud.random.choice(run.workload.users))
    environment = Environment(cloud, "eraser")
    try:
        _until_done(run, environment, lambda ports: begin_erasure(ports.table, keys))
    except (UserNotFound, ErasureUnderWay):
        return
    began_s = cloud.scheduler.now_s
    cloud.sometimes["erasure during a pass"] += _is_observed(run, keys)
    run.erased[keys] = (began_s, float("inf"))
    _until_done(run, environment, lambda ports: erase_user(UserData(ports, keys)))
    cloud.scheduler.pause(SETTLE_S)
    _until_done(run, environment, lambda ports: erase_user(UserData(ports, keys)))
    run.erased[keys] = (began_s, cloud.scheduler.now_s)
    close = cloud.random.random() < 0.3
    try:
        _until_done(run, environment, lambda ports: finish_erasure(UserData(ports, keys), close=close))
    except UserNotFound:
        return  # its own finish, whose answer was lost


def _is_observed(run: Run, keys: UserKeys) -> bool:
    """Whether a pass is under way now."""
    return any(
        key.pk == keys.partition and item["type"] == "marker" and "lease_until" in item
        for key, item in run.cloud.table.rows.items()
    )


def reindex_everything(run: Run) -> None:
    """A new index is filled, and takes the place of the one in use."""
    cloud = run.cloud
    cloud.scheduler.pause(cloud.random.random() * max(5.0, 4 * cloud.settings.think_s))
    environment = Environment(cloud, "reindexer")

    def work(ports: SimPorts) -> None:
        target = cloud.new_search()

        def switch() -> None:
            run.made_up = run.made_up or (cloud.scheduler.now_s, float("inf"))
            cloud.search = target
            cloud.sometimes["index switched"] += 1
            cloud.trace.add(cloud.scheduler.now_s, "reindexer", "switched")

        reindex(ports, _Into(ports, target), switch, lambda: ports.clock.sleep(ALIAS_S), lambda _: None)

    _until_done(run, environment, work)
    if run.made_up is not None:
        run.made_up = (run.made_up[0], cloud.scheduler.now_s)


class _Into(SimSearch):
    """An index that is not in use yet."""

    def __init__(self, ports: SimPorts, target: MemorySearch) -> None:
        super().__init__(ports.process)
        self._target = target

    @property
    def _search(self) -> MemorySearch:
        return self._target


def drain(run: Run) -> None:
    """``POST …/embeddings:drain`` a few times."""
    cloud = run.cloud
    environment = Environment(cloud, "drainer")
    for _ in range(2):
        cloud.scheduler.pause(cloud.random.random() * max(5.0, 2 * cloud.settings.think_s))
        tenant, wait_s = cloud.random.choice(run.workload.tenants), cloud.random.choice((0.0, 5.0))
        try:
            environment.run(lambda ports, t=tenant, s=wait_s: drain_embeddings(tenant_scope(ports, t), None, s))  # type: ignore[misc]
        except FORESEEN as error:
            cloud.trace.add(cloud.scheduler.now_s, "drainer", type(error).__name__)


def exchange_key(run: Run) -> None:
    """A key is made, used, and revoked while it is used."""
    cloud, tenant = run.cloud, run.workload.tenants[0]
    environment = Environment(cloud, "admin")
    try:
        made = _until_done(run, environment, lambda ports: create_key(tenant_scope(ports, tenant), ["chat", "admin"]))
        spare = _until_done(run, environment, lambda ports: create_key(tenant_scope(ports, tenant), ["admin"]))
    except NeveError:
        return  # an answer that was lost left a key that nobody knows
    keys = SessionKeys(tenant, "-", made.key_id)

    def ask() -> None:
        for _ in range(12):
            cloud.scheduler.pause(cloud.random.random() * 20.0)
            did = Did("gateway", "authorize", keys, made.key_id, 0.0)
            run.caller.call(did, lambda ports: caller_of(ports, f"Bearer {made.key}"))

    run.start_operator(ask)
    cloud.scheduler.pause(cloud.random.random() * 60.0)
    revoke = Did("admin", "revoke", keys, spare.key_id, cloud.scheduler.now_s)
    run.history.done.append(revoke)

    def revoked(ports: SimPorts) -> bool:
        revoke_key(tenant_scope(ports, tenant), made.key_id)
        return True

    _until_done(run, environment, revoked)
    revoke.outcome, revoke.ended_s = "ok", cloud.scheduler.now_s
