"""Several workers write passages of one user, search and merge, and one erases: on the engine ``segments``, without the
rest of the product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from neve.adapters.segments.index import SegmentsIndex
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import TextQuery
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel, Owner, SearchFilter
from neve.store.keys import UserKeys
from tests.contract.engines.passages import passage
from tests.simulation.machine.ports import SimPorts
from tests.simulation.machine.workers import Environment

if TYPE_CHECKING:
    from tests.simulation.run import Run

MODEL = IndexModel("words", 0)
OWNER = Owner("t1", "u1")
KEYS = UserKeys(*OWNER)
ITEMS = ("a", "b", "c")
PASSAGES = 2
"""Of an item."""
STEPS = 25
WORKER_S = 60.0
SETTLE_S = 90.0
"""Of an erasure: until every worker has ended that began before it."""
EVERYTHING = TextQuery(groups=(("kayak",),))
Place = tuple[str, int]
T = TypeVar("T")


@dataclass
class Wrote:
    """One write of one rev, which is used once. ``keep``: of a removal, from which passage on; None: it is of the
    passage ``n``. ``ended_s`` infinite: nobody knows whether it was done."""

    rev: int
    item: str
    n: int
    keep: int | None
    began_s: float
    ended_s: float = float("inf")

    def concerns(self, place: Place) -> bool:
        item, n = place
        return item == self.item and (n == self.n if self.keep is None else n >= self.keep)


@dataclass
class Found:
    """What one search found of the passages ``n``: revs by place."""

    n: int
    began_s: float
    ended_s: float
    revs: dict[Place, int]


@dataclass
class Segments:
    """What was done to one user's passages in a run."""

    wrote: list[Wrote] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    erasing: bool = False
    erased: bool = False


def index_of(ports: SimPorts) -> SegmentsIndex:
    """The one of a process."""
    made: SegmentsIndex | None = getattr(ports, "segments", None)
    if made is None:
        made = SegmentsIndex(
            ports.table,
            ports.objects,
            MODEL,
            clock=ports.clock,
            ids=ports.ids,
            tasks=ports.tasks,
            merged_from=2,
            looked_at="0123456789ABCDEFGHJKMNPQ",
            page=2,
        )
        vars(ports)["segments"] = made
    return made


def work(run: Run) -> None:
    """A worker that writes, and one that searches."""
    run.start_client(lambda: _worker(run))


def erase(run: Run) -> None:
    """As an erasure does it: once, and once more when no worker is left that began before."""
    run.start_client(lambda: _eraser(run))


def _worker(run: Run) -> None:
    cloud, done = run.cloud, run.segments
    environment = Environment(cloud, "segments")
    for _ in range(cloud.random.randint(3, STEPS)):
        cloud.scheduler.pause(cloud.random.random() * cloud.settings.think_s)
        if done.erasing:
            return
        if cloud.random.random() < 0.4:
            began_s, n = cloud.scheduler.now_s, cloud.random.randrange(PASSAGES)
            revs = _try(run, environment, lambda ports, n=n: search(index_of(ports), OWNER, n))  # type: ignore[misc]
            if revs is not None:
                done.found.append(Found(n, began_s, cloud.scheduler.now_s, revs))
            continue
        one = _drawn(run)
        done.wrote.append(one)
        if cloud.random.random() < 0.3:  # it stands still between what it read and what it writes
            cloud.scheduler.pause(cloud.random.random() * 6 * cloud.settings.think_s)
        for _ in range(cloud.random.randint(1, 3)):  # a message is delivered again
            if done.erasing:
                return
            if _try(run, environment, lambda ports, one=one: _write(index_of(ports), OWNER, one)):  # type: ignore[misc]
                one.ended_s = cloud.scheduler.now_s
                break


def _try(run: Run, environment: Environment, step: Callable[[SimPorts], T]) -> T | None:
    """None when the worker died, or a store did not answer."""
    try:
        return environment.run(step, WORKER_S)
    except StoreUnavailable as error:
        run.cloud.trace.add(run.cloud.scheduler.now_s, "segments", type(error).__name__)
        return None


def _drawn(run: Run) -> Wrote:
    random = run.cloud.random
    keep = random.randint(0, 1) if random.random() < 0.3 else None
    rev = len(run.segments.wrote) + 1
    return Wrote(rev, random.choice(ITEMS), random.randrange(PASSAGES), keep, run.cloud.scheduler.now_s)


def _write(index: SegmentsIndex, owner: Owner, one: Wrote) -> bool:
    if one.keep is None:
        index.upsert(owner, [said(one)])
    else:
        index.trim(owner, one.item, keep=one.keep, version=one.rev)
    return True


def said(one: Wrote) -> Passage:
    return passage(
        one.item, f"kayak rev{one.rev}.", n=one.n, version=one.rev, fingerprint=f"fp{one.rev}", group=f"g{one.n}"
    )


def search(index: SegmentsIndex, owner: Owner, n: int) -> dict[Place, int]:
    """The revs of all passages with that number: a search finds one of each item."""
    found = index.search_text(owner, EVERYTHING, SearchFilter(group=f"g{n}"), 10).candidates
    return {(candidate.item_id, candidate.n): candidate.version for candidate in found}


def _eraser(run: Run) -> None:
    cloud, done = run.cloud, run.segments
    cloud.scheduler.pause(cloud.random.random() * 6 * cloud.settings.think_s)
    environment = Environment(cloud, "eraser")
    done.erasing = True
    for _ in range(2):
        while _try(run, environment, lambda ports: (index_of(ports).erase(OWNER),)) is None:
            cloud.scheduler.pause(1.0)
        cloud.scheduler.pause(SETTLE_S)
    done.erased = True
