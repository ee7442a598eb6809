"""What is done to the service while the clients are at it, and when."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from local.stack.jars import Server

CALM = "calm"
FAULTS: tuple[tuple[str, tuple[dict[str, Any], ...]], ...] = (
    ("table error", ({"target": "table", "fault": "error"},)),
    ("objects error", ({"target": "objects", "fault": "error"},)),
    ("queue error", ({"target": "queue", "fault": "error"},)),
    ("vector error", ({"target": "vector", "fault": "error"},)),
    ("lexical error", ({"target": "lexical", "fault": "error"},)),
    ("embed error", ({"target": "embed", "fault": "error"},)),
    ("ledger error", ({"target": "ledger", "fault": "error"},)),
    ("llm error", ({"target": "llm", "fault": "error"},)),
    ("table slow", ({"target": "table", "fault": "slow:120"},)),
    ("objects slow", ({"target": "objects", "fault": "slow:400"},)),
    ("queue slow", ({"target": "queue", "fault": "slow:400"},)),
    ("embed slow", ({"target": "embed", "fault": "slow:400"},)),
    ("both legs error", ({"target": "vector", "fault": "error"}, {"target": "lexical", "fault": "error"})),
    ("embed throttled", ({"target": "embed", "fault": "status:429"},)),
    ("table and queue error", ({"target": "table", "fault": "error"}, {"target": "queue", "fault": "error"})),
)
"""``local/controls/faults.py``. What is slow takes time from budgets, not from the wall
(``local/controls/virtual_time.py``)."""
RESTARTS: tuple[tuple[Server, bool], ...] = (
    (Server.DYNAMODB, True),
    (Server.OPENSEARCH, True),
    (Server.SQS, False),
    (Server.S3, False),
)
"""True: by ``kill -9``. The two that hold rows and passages are killed, the others are stopped."""
BEFORE, DURING = 0.35, 0.4
"""Shares of a step's time: calm, then the fault; the rest is calm again."""
MAX_FAULT_S = 20.0
"""Well below the 42 s after which a change that the stream cannot deliver is given up (10 retries, template.yaml)."""


@dataclass(frozen=True, slots=True)
class Step:
    """``at_s``: from the start of the soak. Either faults for ``lasts_s``, or one restart."""

    name: str
    at_s: float
    lasts_s: float
    faults: Sequence[dict[str, Any]] = ()
    restart: Server | None = None
    kill: bool = False


def schedule(minutes: float, seed: int, *, restarts: bool) -> list[Step]:
    """Every fault once, in an order that the seed decides, and between them every restart, all scaled to the time."""
    rng = random.Random(f"{seed}-schedule")
    faults = rng.sample(FAULTS, len(FAULTS))
    downs = rng.sample(RESTARTS, len(RESTARTS)) if restarts else []
    slot_s = minutes * 60 / (len(faults) + len(downs))
    places = {round((n + 1) * (len(faults) + len(downs)) / (len(downs) + 1)) - 1 for n in range(len(downs))}
    steps: list[Step] = []
    for slot in range(len(faults) + len(downs)):
        at_s = (slot + BEFORE) * slot_s
        if slot in places:
            server, kill = downs.pop()
            name = f"{server} {'killed' if kill else 'stopped'}"
            steps.append(Step(name, at_s, 0.0, restart=server, kill=kill))
        else:
            name, given = faults.pop()
            steps.append(Step(name, at_s, min(DURING * slot_s, MAX_FAULT_S), given))
    return steps
