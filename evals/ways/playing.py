"""Plays each way through the product once in this process, and notes what it asks of the ports and which code it runs.

A way is a call with what it asks of the workers: an append and the pass behind it are two ways. Everything is warm: the
same was played for another session or user before."""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from evals.bench.port_calls import Calls, CountedPorts
from evals.bench.texts import memory_texts, questions
from evals.in_process import BASE_URL, InProcess
from evals.ways.touched import touching
from local.api_client import Reply
from local.backend import Choices, EmbeddedPorts
from local.bootstrap import ready_key
from local.functions import Functions
from local.http.gateway import Gateway
from local.template import Template
from local.workers.queue_worker import QueueWorker
from local.workers.stream_worker import StreamWorker
from neve import wiring
from neve.observability import log_from

MEMORIES = 60
AUTHORIZER = "authorizer"


@dataclass(frozen=True)
class Way:
    """``calls``: port calls without the authorizer's, by port; ``files`` and ``functions`` of ``layers/core/neve`` that
    ran."""

    name: str
    calls: dict[str, int]
    files: int
    functions: int


def play(data: Path, template: Template, embedder: str) -> list[Way]:
    """``data``: an empty folder."""
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
    log_from("ERROR")
    engines = EmbeddedPorts(data, template, BASE_URL, Choices(embedder))
    stage = _Stage(engines, template, str(ready_key(engines, data).text))
    for user in ("warm", "ann"):
        stage.user, stage.ways = user, []
        stage.play()
    engines.close()
    return stage.ways


class _Stage:
    def __init__(self, engines: EmbeddedPorts, template: Template, key: str) -> None:
        self.user, self.ways, self._calls = "", list[Way](), Calls()
        wiring.install(CountedPorts(engines, self._calls))
        functions = Functions(template.functions)
        self._client = InProcess(Gateway(template, functions.invoke), key)
        self._workers: list[StreamWorker | QueueWorker] = [
            *(StreamWorker(one, engines.changes, functions.invoke, _no_failure) for one in template.stream_sources),
            *(
                QueueWorker(one, template.queues[one.queue], engines.broker, engines.clock, functions.invoke)
                for one in template.queue_sources
            ),
        ]

    def play(self) -> None:
        known = memory_texts(MEMORIES, seed=11)
        for text in known:
            self._send("POST", "/memories", {"text": text}, 201)
        self._drain()
        said, asked = iter(memory_texts(40, seed=12)), iter([*known[:3], *questions(20, seed=13)])
        self._way("open a session, pack built", lambda: self._send("POST", "/sessions", {"session_id": "s"}, 200))
        self._drain()
        etag = self._pack(200).headers["etag"]
        self._turn(next(asked), next(said))
        self._way("append events", lambda: self._append("user_message", next(asked)))
        self._drain()
        self._way("pack (304)", lambda: self._pack(304, etag))
        recall = {"query": next(asked), "session_id": "s", "mode": "prompt"}
        self._way("recall", lambda: self._send("POST", "/recall", recall, 200))
        self._way("compile", lambda: self._send("POST", "/context", {"session_id": "s"}, 200))
        self._append("assistant_response", next(said))
        self._way("a pass", self._drain)
        turn = {"messages": [{"role": "user", "content": next(asked)}], "compile": {}}
        self._way("turn", lambda: self._send("POST", "/sessions/s/turn", turn, 200))
        self._append("assistant_response", next(said))
        self._drain()
        for reason, first in (("edited", 5), ("deleted", 3)):
            self._turn(next(asked), next(said))
            body = {"from_seq": first, "to_seq": first + 1, "reason": reason}
            self._way(f"retract two events, {reason}", partial(self._retract, body))
        self._way("night of a user", self._night)

    # --- what happens ---------------------------------------------------------------------------

    def _way(self, name: str, work: Callable[[], object]) -> None:
        self._calls.clear()
        with touching() as touched:
            work()
        counted = Counter(method.partition(".")[0] for function, method in self._calls if function != AUTHORIZER)
        self.ways.append(Way(name, dict(counted), len(touched.files), touched.functions))

    def _turn(self, asked: str, answered: str) -> None:
        self._append("user_message", asked)
        self._append("assistant_response", answered)
        self._drain()

    def _append(self, kind: str, text: str) -> None:
        event = {"event_type": kind, "content": text, "client_id": str(uuid.uuid4())}
        self._send("POST", "/sessions/s/events", {"events": [event]}, 201)

    def _pack(self, status: int, etag: str | None = None) -> Reply:
        headers = {"If-None-Match": etag} if etag else {}
        return self._send("GET", "/pack", None, status, headers, session_id="s", format="text")

    def _retract(self, body: dict[str, Any]) -> None:
        self._send("POST", "/sessions/s/events/retract", body, 200)
        self._drain()

    def _night(self) -> None:
        reply = self._client.call("POST", "/v1/admin/reflect", {"user_id": self.user, "min_age_days": 0})
        if reply.status != 202:
            raise RuntimeError(f"the night: {reply.status} {reply.body!r}")
        self._drain()

    def _send(
        self, method: str, path: str, body: Any, status: int, headers: dict[str, str] | None = None, **query: str
    ) -> Reply:
        reply = self._client.call(method, f"/v1/users/{self.user}{path}", body, query=query, headers=headers or {})
        if reply.status != status:
            raise RuntimeError(f"{method} {path}: {reply.status} {reply.body!r}")
        return reply

    def _drain(self) -> None:
        while sum(worker.step(hurry=True) for worker in self._workers):
            pass


def _no_failure(changes: Any, attempts: int) -> None:
    raise RuntimeError(f"a change was given up after {attempts} attempts: {changes}")
