"""One seed, one run: clients until they are done, then calm, then the invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from neve.domain.times import iso
from neve.ports.engines import Ports
from neve.ports.queue import QueueName
from neve.ports.table import Item, Table
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.store.outgoing import DELIVER
from neve.store.partitions import due_rows
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.core.jobs.messages.observation import observation_job_id
from neve.usecases.core.lag.memory_lag import progress_rows, read_progress
from neve.usecases.core.memories.replace_rows import ReplacementBusy
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.documents import document_writes
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.work.background import dispatch_changes, sweep_due
from neve.usecases.work.compact import retain_logs
from neve.usecases.work.export import export_user
from neve.usecases.work.forget import forget_listed
from neve.usecases.work.indexing.drain_embeddings import KIND, read_drain
from neve.usecases.work.indexing.requeue import WhoseRows, requeue_all
from neve.usecases.work.librarian import hand_in as filing_hand_in
from neve.usecases.work.reflect import hand_in
from tests.simulation.checks.knowledge.retention import DAY_S
from tests.simulation.checks.replay import Replay
from tests.simulation.clients.client import Api, Caller, Client
from tests.simulation.clients.history import History
from tests.simulation.clients.over_http import HttpApi
from tests.simulation.clients.use_cases import UseCaseApi
from tests.simulation.machine.cloud import QUEUES as WORKED
from tests.simulation.machine.cloud import Cloud
from tests.simulation.machine.functions import UseCases, listening
from tests.simulation.machine.handlers import Handlers, installed
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.receiving import make_webhooks
from tests.simulation.machine.swapped import Swap, swapped
from tests.simulation.machine.tasks import Bell
from tests.simulation.machine.workers import FORESEEN, Environment, Functions, start_workers
from tests.simulation.segments.workers import Segments
from tests.simulation.sometimes import watching
from tests.simulation.workloads import ROTATION, Workload
from tests.unlimited import unlimited

CALM_S = 4 * 3600.0
"""After so long without faults everything has to be done: two dozen sweeps."""
LOOK_EVERY_S = 60.0
OPERATE_EVERY = 10
NEVER_DONE = ("#USAGE", "#REFLECT", "#ARCHIVE")
"""Partitions of the index of due work that list what there is. Sessions that are open are looked at for ever, too."""
QUEUES = tuple(name for queue in WORKED for name in (str(queue), f"{queue}-dlq"))
API_PROCESSES = 2
PART_BYTES = 600
"""Of an export: a few lines."""
HTTP_EVERY = 20
"""One seed in so many goes through the handlers, in rounds of every workload."""
ROUND = len(ROTATION)


def _before_short_days(ports: Ports, days: int) -> str:
    return iso(ports.clock.now() - timedelta(seconds=days * DAY_S))


def _but_deliveries(table: Table, kind: str, until: datetime | None = None, first: int = 0) -> Iterator[Item]:
    return iter(()) if kind == DELIVER else due_rows(table, kind, until, first)


class Violation(AssertionError):
    """An invariant does not hold; the message says which, and where."""


@dataclass
class Run:
    """``erased``: users with the times at which their erasure began and was done. ``made_up``: from when to when an
    index was in use that may have lacked what came while it was filled."""

    seed: int
    workload: Workload
    cloud: Cloud
    history: History = field(default_factory=History)
    erased: dict[UserKeys, tuple[float, float]] = field(default_factory=dict)
    made_up: tuple[float, float] | None = None
    clients: int = 0
    operating: int = 0
    calm_s: float = 0.0
    replay: Replay | None = None
    segments: Segments = field(default_factory=Segments)

    def __post_init__(self) -> None:
        self.over_http = self.seed // ROUND % HTTP_EVERY == HTTP_EVERY - 1
        self.api: Api = HttpApi() if self.over_http else UseCaseApi()
        self.functions: Functions = Handlers() if self.over_http else UseCases()
        self._finished = Bell(self.cloud.scheduler)
        environments = [Environment(self.cloud, f"api{n}") for n in range(API_PROCESSES)]
        self.caller = Caller(self.cloud, self.api, self.history, environments)

    # --- the run --------------------------------------------------------------------------------

    def play(self) -> None:
        """Raises Violation when not everything is done in the end."""
        heard = listening(self._heard, self._postponed)
        small: list[Swap] = [
            (document_writes, "MAX_ROW_TEXT_BYTES", self.workload.longest_row_text),
            (export_user, "PART_BYTES", PART_BYTES),
            (forget_listed, "BATCH", 2),
            (retain_logs, "expired_before", _before_short_days),
            (hand_in, "ANSWERED_WITHIN", timedelta(hours=1)),
            (filing_hand_in, "ANSWERED_WITHIN", timedelta(hours=1)),
        ]
        if not self.workload.webhooks:  # nobody is told: what others do is what their seeds have always done
            small += [(dispatch_changes, "derived_events", lambda *_: []), (sweep_due, "due_rows", _but_deliveries)]
        with heard, watching(self.cloud.sometimes), installed(), swapped(*small):
            self._make_tenants()
            told = WORKED if self.workload.webhooks else WORKED[: WORKED.index(QueueName.DELIVER)]
            start_workers(self.cloud, self.functions, told)
            self._start_clients()
            self.cloud.scheduler.start(self._supervise)
            try:
                self.cloud.scheduler.run()
            finally:
                self.cloud.scheduler.end()

    def start_client(self, work: Callable[[], object]) -> None:
        """The faults end when all clients are done."""
        self.clients += 1

        def run() -> None:
            work()
            self.clients -= 1
            self._finished.ring()

        self.cloud.scheduler.start(run, self.cloud.random.random())

    def start_operator(self, work: Callable[[], object]) -> None:
        """Goes on without faults when the clients are done: what an operator has begun is brought to its end."""
        self.operating += 1

        def run() -> None:
            work()
            self.operating -= 1

        self.cloud.scheduler.start(run, self.cloud.random.random())

    def _make_tenants(self) -> None:
        policy = self.workload.policy(self.cloud.random)
        for tenant in self.workload.tenants:
            self.cloud.table.write([put_tenant(TenantRow(tenant, "2026-03-09T09:30:00.000Z", policy))])
            if self.workload.webhooks:
                make_webhooks(self.cloud, tenant)

    def _start_clients(self) -> None:
        random, workload = self.cloud.random, self.workload
        places = [SessionKeys(t, u, s) for t in workload.tenants for u in workload.users for s in workload.sessions]
        places = random.sample(places, random.randint(1, len(places)))
        for number in range(random.randint(*workload.clients)):
            client = Client(self.caller, f"c{number}", random.choice(places), workload.weights)
            steps = random.randint(*workload.steps)
            self.start_client(lambda client=client, steps=steps: client.run(steps))  # type: ignore[misc]
        for more in workload.more:
            if random.random() < 0.5:
                self.start_operator(lambda more=more: more(self))  # type: ignore[misc]

    def _supervise(self) -> None:
        cloud = self.cloud
        while self.clients:
            self._finished.wait()
        until_s = cloud.scheduler.now_s + cloud.settings.storm_s
        while cloud.scheduler.now_s < until_s and any(self._left()):
            cloud.scheduler.pause(min(LOOK_EVERY_S, until_s - cloud.scheduler.now_s))
        cloud.chaos.calm_down()
        self.calm_s = cloud.scheduler.now_s
        cloud.trace.add(cloud.scheduler.now_s, "supervisor", "calm")
        until_s = cloud.scheduler.now_s + CALM_S
        looks = 0
        while any(self._left()):
            if cloud.scheduler.now_s > until_s:
                left = sorted(set(self._left()))
                raise Violation(f"not everything is done {CALM_S:.0f} s after the last fault: {'; '.join(left[:8])}")
            if looks % OPERATE_EVERY == 0:
                self._operate()
            looks += 1
            cloud.scheduler.pause(LOOK_EVERY_S)
        cloud.scheduler.stop()

    # --- what is left to do ---------------------------------------------------------------------

    def _left(self) -> Iterator[str]:
        cloud = self.cloud
        if cloud.busy:
            yield f"{cloud.busy} at work"
        if self.operating:
            yield f"{self.operating} operators"
        if cloud.unreported():
            yield "stream"
        for name in QUEUES:
            yield from (f"{name}: {waiting.body}" for waiting in cloud.queues.waiting(name))
        for item in cloud.table.rows.values():
            if item["type"] == "job" and item["kind"] == KIND and item["status"] == "running":
                yield f"drain {item['sk']}"
            if "due_pk" in item and not item["due_pk"].endswith(NEVER_DONE) and item["type"] != "open_session":
                yield f"due: {item['due_pk']} {item['due_sk']}"
            if item["type"] == "archived" and rows.read_job(item).state.get("worker"):
                yield f"retention of {item['session_id']}"

    def _operate(self) -> None:
        """What runbooks ask of an operator: dead letters go back, what failed for want of an embedder or of a model is
        asked for again."""
        cloud = self.cloud
        for queue in WORKED:
            if cloud.queues.redrive(queue) if self.workload.redriven else cloud.queues.forget_dead(queue):
                cloud.sometimes["dead letter"] += 1
                cloud.bells[queue].ring()
        Environment(cloud, "operator").run(self._ask_again)

    def _ask_again(self, ports: SimPorts) -> None:
        cloud = self.cloud
        try:
            for tenant in self.workload.tenants:
                if any(
                    item.get("due_pk", "").startswith("DUE#failed") and item["tenant_id"] == tenant
                    for item in cloud.table.rows.values()
                ):
                    requeue_all(ports, WhoseRows(tenant), unlimited())
            for item in list(cloud.table.rows.values()):
                if item["type"] == "job" and item["kind"] == KIND and item["status"] == "running":
                    read_drain(tenant_scope(ports, item["pk"].split("#")[1]), f"job_{item['sk']}")
            for keys in self.history.sessions():
                if self._has_failed(keys):
                    request_observation(
                        tenant_scope(ports, keys.tenant).of_user(keys.user).of_session(keys.session), False
                    )
        except FORESEEN as error:
            cloud.trace.add(cloud.scheduler.now_s, "operator", type(error).__name__)

    def _has_failed(self, keys: SessionKeys) -> bool:
        """Whether the pass over what the session is behind with was given up. Where turns wait for one, its job says
        so."""
        table = self.cloud.table
        progress = read_progress(keys, table.get_many(progress_rows(keys)))
        if progress is None or not progress.unobserved:
            return False
        incarnation = rows.read_head(table.get(keys.head)).incarnation
        job = table.get(keys.job(observation_job_id(keys, incarnation, progress.head.last_seq)))
        return not self.workload.waits or (job is not None and rows.read_job(job).status == "failed")

    # --- what workers tell ----------------------------------------------------------------------

    def _heard(self, where: str, error: BaseException) -> None:
        name = type(error).__name__
        self.cloud.sometimes[f"{where} failed: {name}"] += 1
        self.cloud.trace.add(self.cloud.scheduler.now_s, where, "failed", name)
        if not isinstance(error, FORESEEN):
            self.cloud.unforeseen.append(f"{where}: {name} {error}")

    def _postponed(self, held: BaseException) -> None:
        self.cloud.sometimes["message postponed"] += 1
        self.cloud.sometimes["replacement busy"] += isinstance(held, ReplacementBusy)
