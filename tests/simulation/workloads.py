"""Who does what in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from neve.domain.tenants.policy import Policy
from tests.simulation.clients import operators
from tests.simulation.machine.chaos import Temper

if TYPE_CHECKING:
    from tests.simulation.run import Run

PLAIN = Temper()


@dataclass(frozen=True)
class Workload:
    """``clients`` and ``steps``: fewest and most. ``weights``: of the kinds of calls. ``more``: others that act, beside
    the clients, each in one of two runs. ``temper``: what the run's faults are drawn from."""

    name: str
    weights: Mapping[str, int]
    policy: Callable[[Random], Policy]
    clients: tuple[int, int] = (2, 4)
    steps: tuple[int, int] = (3, 8)
    tenants: tuple[str, ...] = ("t1", "t2")
    users: tuple[str, ...] = ("u1",)
    sessions: tuple[str, ...] = ("s1", "s2")
    more: tuple[Callable[[Run], None], ...] = ()
    temper: Temper = PLAIN


def _roomy(random: Random) -> Policy:
    return Policy(observer_transcript_cap=random.choice((100, 35_000)), observer_output_cap=90)


def _narrow(random: Random) -> Policy:
    """Reflections and compactions after a few turns."""
    trigger = random.choice((20, 60))
    return Policy(
        session_reflection_trigger=trigger,
        session_reflection_target=trigger // 2,
        compaction_trigger=random.choice((40, 120)),
        observer_transcript_cap=random.choice((100, 35_000)),
        observer_output_cap=90,
    )


CHAT = Workload(
    "chat",
    {
        "append": 8,
        "read_log": 2,
        "read_pack": 2,
        "recall": 1,
        "list": 2,
        "create": 2,
        "get": 1,
        "update": 2,
        "delete": 1,
        "used": 1,
        "observe": 1,
    },
    _roomy,
)
RECORDS = Workload(
    "records",
    {
        "create": 4,
        "list": 3,
        "get": 3,
        "update": 7,
        "delete": 2,
        "used": 5,
        "recall": 2,
        "read_pack": 1,
        "fresh": 3,
    },
    _roomy,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(harsh=(0.0, 0.5, 0.9), think_s=(0.05, 0.3)),
)
LONG = Workload(
    "long",
    {
        "append": 10,
        "read_pack": 4,
        "list": 4,
        "observe": 2,
        "compact": 2,
        "recall": 1,
        "create": 1,
        "delete": 1,
        "used": 1,
        "open": 1,
    },
    _narrow,
    clients=(3, 4),
    steps=(6, 12),
    tenants=("t1",),
    temper=Temper(
        skew_s=(0.0, 2.0, 40.0, 300.0),
        model_s=(0.5, 3.0, 3.0, 30.0),
        think_s=(0.05, 1.0, 5.0),
        visibility_s=(15.0, 75.0),
    ),
)
OPERATORS = Workload(
    "operators",
    {"append": 6, "read_log": 1, "open": 2, "create": 3, "delete": 1, "recall": 1, "observe": 1, "list": 1},
    _roomy,
    tenants=("t1",),
    sessions=("s1",),
    steps=(4, 9),
    temper=Temper(harsh=(0.0, 0.4, 0.8), visibility_s=(15.0, 360.0, 360.0)),
    more=(operators.erase_somebody, operators.reindex_everything, operators.drain, operators.exchange_key),
)
HOSTILE = Workload(
    "hostile",
    {**CHAT.weights, "observe": 3, "compact": 3},
    _narrow,
    tenants=("t1",),
    sessions=("s1",),
    temper=Temper(
        harsh=(0.5, 0.9),
        worker_s=(None, None, 60.0),
        model_s=(30.0, 80.0, 200.0),
        visibility_s=(15.0, 75.0),
        skew_s=(0.0, 40.0, 300.0),
    ),
)

WORKLOADS = {workload.name: workload for workload in (CHAT, RECORDS, LONG, OPERATORS, HOSTILE)}


ROTATION = (CHAT, RECORDS, OPERATORS, HOSTILE, CHAT, RECORDS, HOSTILE, LONG)
"""Which workload a seed has where none is asked for: a long session costs three of the others."""


def workload_of(seed: int, name: str | None) -> Workload:
    return WORKLOADS[name] if name else ROTATION[seed % len(ROTATION)]
