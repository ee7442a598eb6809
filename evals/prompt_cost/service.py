"""The service in this process: the gateway, the functions and their workers on the embedded engines, as a chat backend
calls them, without a socket and without waiting for a queue's delay."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from evals.in_process import BASE_URL, InProcess
from evals.prompt_cost.metered_observer import MeteredObserver
from evals.prompt_cost.transcripts import Turn
from local.backend import Choices, EmbeddedPorts
from local.bootstrap import ready_key
from local.functions import Functions
from local.http.gateway import Gateway
from local.template import read_template
from local.workers.queue_worker import QueueWorker
from local.workers.stream_worker import StreamWorker
from neve import wiring
from neve.scope import SessionScope
from neve.usecases.core.pack.gather_pack import gather_pack
from neve.usecases.core.tenants.policy_in_force import tenant_scope

USER, SESSION = "ann", "s1"
TENANT = "local"


class Service:
    """One user in one session. ``observer`` says what a model would have charged so far."""

    def __init__(self, data: Path, embedder: str, policy: dict[str, Any]) -> None:
        os.environ["POWERTOOLS_METRICS_DISABLED"] = "true"
        template = read_template()
        self._engines = EmbeddedPorts(data, template, BASE_URL, Choices(embedder))
        self.observer = MeteredObserver()
        self._engines.observer = self.observer
        key = str(ready_key(self._engines, data).text)
        wiring.install(self._engines)
        functions = Functions(template.functions)
        self._client = InProcess(Gateway(template, functions.invoke), key)
        self._workers: list[StreamWorker | QueueWorker] = [
            *(
                StreamWorker(source, self._engines.changes, functions.invoke, _give_up)
                for source in template.stream_sources
            ),
            *(
                QueueWorker(
                    source, template.queues[source.queue], self._engines.broker, self._engines.clock, functions.invoke
                )
                for source in template.queue_sources
            ),
        ]
        self._client.expect(200, "PUT", "/v1/policy", policy)
        self._session = SESSION

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engines.close()

    # --- the session ------------------------------------------------------------------------------

    def open(self, session: str = SESSION) -> int:
        """How many events the session has, which is talked in from now on."""
        self._session = session
        opened = self._send("POST", "/sessions", {"session_id": session, "budget_ms": 20_000}, 200)
        return int(opened["session"]["last_seq"])

    def compile(self, message: str) -> dict[str, Any]:
        """E8's answer. Raises RuntimeError for a degraded one: it is not a measurement."""
        body = {"session_id": self._session, "message": message}
        answer = self._send("POST", "/context", body, 200)
        if degraded := [flag for flag in answer["degraded"] if flag != "deadline"]:
            raise RuntimeError(f"a degraded prompt is not a measurement: {degraded}")
        return answer

    def append(self, turn: Turn) -> dict[str, Any]:
        """Both sides of a turn, and what the workers make of it."""
        events: list[dict[str, Any]] = [{"event_type": "user_message", "content": turn.user}]
        for tool in turn.tools:
            named = {"tool_use_id": tool.id, "name": tool.name}
            events.append({"event_type": "tool_call", "content": "", "event_data": named | {"args": tool.args}})
            events.append({"event_type": "tool_result", "content": tool.result, "event_data": named})
        events.append({"event_type": "assistant_response", "content": turn.assistant})
        appended = self._send("POST", f"/sessions/{self._session}/events", {"events": events}, 201)
        self._work()
        return appended

    def _work(self) -> None:
        while sum(worker.step(hurry=True) for worker in self._workers):
            pass

    def observe(self) -> None:
        """Have what waits observed, as a silence does."""
        self._client.call("POST", f"/v1/users/{USER}/sessions/{self._session}/observe", {})
        self._work()

    def end(self) -> None:
        """End the session, and have it filed."""
        self._send("POST", f"/sessions/{self._session}/end", {}, 202)
        self._work()

    def session(self) -> dict[str, Any]:
        return self._send("GET", f"/sessions/{self._session}", None, 200)

    def pack_now(self) -> str:
        """The pack as it would be if it were built at this moment."""
        scope = tenant_scope(self._engines, TENANT).of_user(USER).of_session(self._session)
        assert isinstance(scope, SessionScope)
        inputs = gather_pack(scope)[0]
        return inputs.text()

    def _send(self, method: str, path: str, body: Any, status: int) -> dict[str, Any]:
        return dict(self._client.expect(status, method, f"/v1/users/{USER}{path}", body))


def _give_up(changes: Any, attempts: int) -> None:
    print(f"a change was given up after {attempts} attempts: {changes}", file=sys.stderr)
    raise RuntimeError("a change was given up")
