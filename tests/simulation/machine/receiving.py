"""The receivers of webhooks, which all processes of a run share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neve.domain.outgoing.event import TYPES
from neve.domain.outgoing.webhook import Attempt, Webhook
from neve.store.keys import Keys
from neve.store.outgoing import Webhooks, put_webhooks

if TYPE_CHECKING:
    from tests.simulation.machine.cloud import Cloud
    from tests.simulation.machine.process import Process

REFUSES, HANGS, LEAVES = "https://refuses.example/", "https://hangs.example/", "https://leaves.example/"
SECRET = "whsec_" + "QUJD" * 10
HANGING_S = 10.0


@dataclass
class Receivers:
    """``taken``: by URL, the events that were answered with 2xx, as they came; ``left``: those of which a receiver has
    said that it wants nothing more."""

    cloud: Cloud
    taken: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    left: set[str] = field(default_factory=set)
    answers: Counter[str] = field(default_factory=Counter)

    def answer(self, url: str, event: dict[str, Any]) -> int | None:
        """The status; None: nobody answers. In calm everything is taken."""
        random, calm = self.cloud.random, self.cloud.chaos.calm
        if url == LEAVES and not calm and random.random() < 0.05:
            self.left.add(url)
            return 410
        if not calm and url == HANGS and random.random() < 0.5:
            self.cloud.sometimes["receiver gave no answer"] += 1
            return None
        if not calm and random.random() < 1 / 3:
            self.cloud.sometimes["receiver refused"] += 1
            return 500
        self.taken.setdefault(url, []).append(event)
        return 204


class SimReceivers:
    """The Receivers port of one process."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def refusal(self, url: str) -> str | None:
        return None if url.startswith("https://") else "must begin with https://"

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Attempt:
        """The process may die before the receiver hears of it, and before it hears of the answer."""
        process = self._process
        process.point()
        status = process.cloud.receivers.answer(url, dict(json.loads(body)))
        process.tell(f"post {url} {headers['webhook-id']}", str(status))
        if status is None:
            process.wait(HANGING_S)
            return Attempt(None, "timeout", int(HANGING_S * 1000))
        process.point()
        return Attempt(status, None if status < 300 else "status", 5)


def make_webhooks(cloud: Cloud, tenant: str) -> None:
    """One of each kind of receiver, for all types."""
    hooks = [
        Webhook(name, url, TYPES, False, (SECRET,), "2026-03-10T09:30:00.000Z")
        for name, url in (("w1", REFUSES), ("w2", HANGS), ("w3", LEAVES))
    ]
    cloud.table.write([put_webhooks(Keys(tenant), Webhooks(tuple(hooks)))])
