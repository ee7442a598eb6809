"""Who does what in a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from neve.domain.tenants.policy import Policy

if TYPE_CHECKING:
    from tests.simulation.run import Run


@dataclass(frozen=True)
class Workload:
    """``clients`` and ``steps``: fewest and most. ``weights``: of the kinds of calls. ``more``: others that act, beside
    the clients."""

    name: str
    weights: Mapping[str, int]
    policy: Callable[[Random], Policy]
    clients: tuple[int, int] = (2, 4)
    steps: tuple[int, int] = (3, 8)
    tenants: tuple[str, ...] = ("t1", "t2")
    users: tuple[str, ...] = ("u1",)
    sessions: tuple[str, ...] = ("s1", "s2")
    more: tuple[Callable[[Run], None], ...] = ()


def _chat_policy(random: Random) -> Policy:
    return Policy(observer_transcript_cap=random.choice((100, 35_000)), observer_output_cap=90)


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
    _chat_policy,
)

WORKLOADS = {workload.name: workload for workload in (CHAT,)}
