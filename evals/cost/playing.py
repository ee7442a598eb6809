"""Turns of one user and what follows them, played through the gateway and all workers in this process, so that every
unit that a call causes is on its bill, whichever function causes it.

The dearest way to play them: nobody else is there, so no two messages or changes share a batch; the two events of a
turn come in two calls; what each of them asks of the workers is done before the next."""

from __future__ import annotations

import io
import os
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from evals.bench.texts import memory_texts, questions
from evals.cost.priced_ports import PricedPorts
from evals.in_process import BASE_URL, InProcess
from local.api_client import Reply
from local.backend import Choices, EmbeddedPorts
from local.bootstrap import ready_key
from local.functions import Functions
from local.http.gateway import Gateway
from local.template import Template
from local.workers.queue_worker import QueueWorker
from local.workers.stream_worker import StreamWorker
from local.workers.worker_events import schedule_event
from neve import observability, wiring

USER = "ann"
MEMORIES = 300
"""Memories of the user before the first turn."""
TURNS_A_SESSION = 20
VCPU_MB = 1769
"""Memory at which Lambda gives one processor; less memory is less of it, in proportion."""
UNTIL_ERASED = timedelta(minutes=30)
"""An erasure looks again after 16 minutes, and the sweep comes every 10."""


@dataclass
class Played:
    """What happened ``times`` times: ``units``, ``calls``, ``billed_ms`` and ``logged`` (bytes) by function, of all of
    them together."""

    times: int
    units: dict[str, dict[str, float]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    billed_ms: Counter[str] = field(default_factory=Counter)
    logged: Counter[str] = field(default_factory=Counter)
    http: Counter[str] = field(default_factory=Counter)
    stored: int = 0

    def add(self, more: Played) -> None:
        """What the same ones caused later."""
        for name, units in more.units.items():
            self.units[name] = dict(Counter(self.units.get(name, {})) + Counter(units))
        self.calls.update(more.calls)
        self.billed_ms.update(more.billed_ms)
        self.logged.update(more.logged)
        self.stored += more.stored


@dataclass
class Bills:
    """``end``: of a session of ``TURNS_A_SESSION`` turns. ``export`` and ``erasure``: of the user after all turns.
    ``schedules``: one run of each, by its function."""

    turn: Played
    end: Played
    export: Played
    erasure: Played
    schedules: dict[str, Played]


def play(data: Path, template: Template, turns: int) -> Bills:
    """``data``: an empty folder."""
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "false"
    engines = EmbeddedPorts(data, template, BASE_URL, Choices("bge-small"))
    stage = Stage(engines, template, str(ready_key(engines, data).text))
    stage.load()
    turn, end, schedules = stage.play(turns), stage.end(), stage.schedules()
    bills = Bills(turn, end, stage.export(), stage.erase(), schedules)
    engines.close()
    return bills


class Stage:
    def __init__(self, engines: EmbeddedPorts, template: Template, key: str) -> None:
        self._template = template
        self._ports = PricedPorts(engines, {name: spec.fifo for name, spec in template.queues.items()})
        wiring.install(self._ports)
        self._functions = Functions(template.functions)
        self._log = io.StringIO()
        self._seen = Played(0)
        self._sessions: list[str] = []
        self._client = InProcess(Gateway(template, self._invoke), key)
        self._streams = [
            StreamWorker(source, engines.changes, self._invoke, _no_failure) for source in template.stream_sources
        ]
        self._queues = [
            QueueWorker(source, template.queues[source.queue], engines.broker, engines.clock, self._invoke, self._got)
            for source in template.queue_sources
        ]

    # --- what happens ---------------------------------------------------------------------------

    def load(self, memories: int = MEMORIES) -> None:
        """A user with memories, the functions loaded, caches warm."""
        for text in memory_texts(memories, seed=11):
            self._send("POST", "/memories", {"text": text}, 201)
        self._drain()
        self._session("warm")
        self._turn("warm", "Which of them lives in Lisbon?", "Good morning.", "How can I help?")

    def play(self, turns: int) -> Played:
        statements, asked = iter(memory_texts(3 * turns, seed=12)), iter(questions(turns, seed=13))
        self._forget()
        for turn in range(turns):
            if turn % TURNS_A_SESSION == 0:
                session = f"s{turn // TURNS_A_SESSION}"
                self._sessions.append(session)
                etag = self._session(session)
            self._turn(session, next(asked), next(statements), f"{next(statements)} {next(statements)}", etag)
        return self._result(turns)

    def end(self) -> Played:
        """Each session compacted and filed."""
        self._forget()
        for session in self._sessions:
            self._send("POST", f"/sessions/{session}/end", {}, 202)
            self._drain()
        return self._result(len(self._sessions))

    def export(self) -> Played:
        self._forget()
        self._send("POST", "/export", None, 202)
        self._drain()
        return self._result(1)

    def erase(self) -> Played:
        """The last: nothing is left of the user."""
        self._forget()
        job = self._send("DELETE", "", None, 202).json()
        self._drain()
        self._ports.clock.advance(UNTIL_ERASED)
        erased = self._result(1)
        self._forget()
        self._run("sweep")  # it comes anyway
        self._forget()
        self._drain()
        erased.add(self._result(1))
        found = self._client.call("GET", f"/v1/admin/jobs/{job['id']}").json()
        if found["status"] != "done":
            raise RuntimeError(f"the erasure is {found}")
        return erased

    def schedules(self) -> dict[str, Played]:
        """While there is nothing to do."""
        found = {}
        for schedule in self._template.schedules:
            self._forget()
            self._run(schedule.function)
            found[schedule.function] = self._result(1)
        return found

    def _run(self, function: str) -> None:
        [schedule] = [it for it in self._template.schedules if it.function == function]
        self._invoke(function, schedule_event(schedule, self._ports.clock.now()))

    def _session(self, session: str) -> str:
        self._send("POST", "/sessions", {"session_id": session, "budget_ms": 20_000}, 200)
        return self._send("GET", "/pack", None, 200, session_id=session, format="text").headers["etag"]

    def _turn(self, session: str, asked: str, user: str, assistant: str, etag: str | None = None) -> None:
        self._append(session, "user_message", user)
        if etag is not None:
            self._send("GET", "/pack", None, 304, etag, session_id=session, format="text")
        self._send("POST", "/recall", {"query": asked, "session_id": session, "mode": "prompt"}, 200)
        self._drain()
        self._append(session, "assistant_response", assistant)

    def _append(self, session: str, kind: str, text: str) -> None:
        event = {"event_type": kind, "content": text, "client_id": str(uuid.uuid4())}
        self._send("POST", f"/sessions/{session}/events", {"events": [event]}, 201)
        self._drain()

    def _send(self, method: str, path: str, body: Any, status: int, etag: str | None = None, **query: str) -> Reply:
        headers = {"If-None-Match": etag} if etag else {}
        reply = self._client.call(method, f"/v1/users/{USER}{path}", body, query=query, headers=headers)
        if reply.status != status:
            raise RuntimeError(f"{method} {path}: {reply.status} {reply.body!r}")
        self._seen.http[f"{method} {path.strip('/').partition('/')[0] or 'user'}"] += 1
        return reply

    def _drain(self) -> None:
        workers: list[StreamWorker | QueueWorker] = [*self._streams, *self._queues]
        while sum(worker.step(hurry=True) for worker in workers):
            pass

    # --- what it costs --------------------------------------------------------------------------

    def _invoke(self, name: str, event: Any) -> Any:
        """Billed: the processor's time at the function's share of one, and the waiting for stores."""
        clock, function = self._ports.clock, self._template.functions[name]
        waited, worked = clock.monotonic_ms(), time.process_time()
        with self._logged(name):
            answer = self._functions.invoke(name, event)
        cpu_ms = (time.process_time() - worked) * 1000
        share = min(1.0, function.memory_mb / VCPU_MB)
        self._seen.calls[name] += 1
        self._seen.billed_ms[name] += whole_ms(clock.monotonic_ms() - waited + cpu_ms / share)
        return answer

    @contextmanager
    def _logged(self, name: str) -> Iterator[None]:
        written = io.StringIO()
        handler = observability.logger.registered_handler
        before, handler.stream = handler.stream, written  # type: ignore[attr-defined]
        try:
            with redirect_stdout(written):
                yield
        finally:
            handler.stream = before  # type: ignore[attr-defined]
            self._seen.logged[name] += len(written.getvalue().encode())

    def _got(self, spec: Any, batch: Any) -> None:  # noqa: ARG002
        """Lambda asks for a batch and deletes it: two requests for up to ten messages."""
        unit = "fifo request" if spec.fifo else "standard request"
        self._ports.bill.units.setdefault("poller", Counter())[unit] += 2

    def _forget(self) -> None:
        self._ports.bill.clear()
        self._seen = Played(0)

    def _result(self, times: int) -> Played:
        self._seen.times, self._seen.stored = times, self._ports.bill.stored
        self._seen.units = {name: dict(units) for name, units in self._ports.bill.units.items()}
        return self._seen


def whole_ms(ms: float) -> int:
    """Lambda bills whole milliseconds."""
    return int(-(-ms // 1))


def _no_failure(changes: Any, attempts: int) -> None:
    print(f"a change was given up after {attempts} attempts: {changes}", file=sys.stderr)
    raise RuntimeError("a change was given up")
