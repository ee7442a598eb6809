"""Turns of one user and what follows them, played through the gateway and all workers in this process, so that every
unit that a call causes is on its bill, whichever function causes it.

As the SDKs do it: the answer of the last turn and the next message are appended, and the prompt compiled, in one call.
The dearest way to play that: nobody else is there, so no two turns share a batch of messages or changes; what each of
them asks of the workers is done before the next."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
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
from neve.domain.tenants.observe_after import MODEL_TOKENS

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
    them together. ``metrics``: those that were emitted, as ``function name``."""

    times: int
    units: dict[str, dict[str, float]] = field(default_factory=dict)
    calls: Counter[str] = field(default_factory=Counter)
    billed_ms: Counter[str] = field(default_factory=Counter)
    logged: Counter[str] = field(default_factory=Counter)
    http: Counter[str] = field(default_factory=Counter)
    metrics: set[str] = field(default_factory=set)
    stored: int = 0

    def add(self, more: Played) -> None:
        """What the same ones caused later."""
        for name, units in more.units.items():
            self.units[name] = dict(Counter(self.units.get(name, {})) + Counter(units))
        self.calls.update(more.calls)
        self.billed_ms.update(more.billed_ms)
        self.logged.update(more.logged)
        self.metrics |= more.metrics
        self.stored += more.stored


@dataclass
class Bills:
    """``turn``: with a pass of the observer after each, as the rules do it. ``turn_of_a_model``: with one when somebody
    could need it, as a language model does it; the passes themselves are by rules. ``end``: of a session of
    ``TURNS_A_SESSION`` turns. ``export`` and ``erasure``: of the user after all turns. ``schedules``: one run of each,
    by its function."""

    turn: Played
    turn_of_a_model: Played
    end: Played
    export: Played
    erasure: Played
    schedules: dict[str, Played]


def play(data: Path, template: Template, turns: int) -> Bills:
    """``data``: an empty folder."""
    os.environ["POWERTOOLS_METRICS_DISABLED"] = "false"
    with _stage(data / "rules", template) as stage:
        turn, end, schedules = stage.play(turns), stage.end(), stage.schedules()
        export, erasure = stage.export(), stage.erase()
    with _stage(data / "model", template) as stage:
        stage.observe_after(MODEL_TOKENS)
        return Bills(turn, stage.play(turns), end, export, erasure, schedules)


@contextmanager
def _stage(folder: Path, template: Template) -> Iterator[Stage]:
    folder.mkdir()
    engines = EmbeddedPorts(folder, template, BASE_URL, Choices("bge-small"))
    stage = Stage(engines, template, str(ready_key(engines, folder).text))
    stage.load()
    try:
        yield stage
    finally:
        engines.close()


class Stage:
    def __init__(self, engines: EmbeddedPorts, template: Template, key: str) -> None:
        self._template = template
        self._ports = PricedPorts(engines, {name: spec.fifo for name, spec in template.queues.items()})
        wiring.install(self._ports)
        self._functions = Functions(template.functions)
        self._log = io.StringIO()
        self._seen = Played(0)
        self._sessions: list[str] = []
        self._client = InProcess(Gateway(template, self._invoke, now=_hour_after_hour()), key)
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
        self.say("warm", "", "Good morning. Which of them lives in Lisbon?")

    def observe_after(self, tokens: int) -> None:
        """A pass comes after so many new tokens, a silence, or when another session is opened."""
        reply = self._client.call("PATCH", "/v1/policy", {"observe_after": {"tokens": tokens}})
        if reply.status != 200:
            raise RuntimeError(f"PATCH /v1/policy: {reply.status} {reply.body!r}")

    def play(self, turns: int) -> Played:
        statements, asked = iter(memory_texts(3 * turns, seed=12)), iter(questions(turns, seed=13))
        self._forget()
        for turn in range(turns):
            if turn % TURNS_A_SESSION == 0:
                session = f"s{turn // TURNS_A_SESSION}"
                self._sessions.append(session)
                self._session(session)
                answer = ""
            self.say(session, answer, f"{next(statements)} {next(asked)}")
            answer = f"{next(statements)} {next(statements)}"
        return self._result(turns)

    def end(self) -> Played:
        """End each session, which is compacted and filed, its last answer appended before."""
        self._forget()
        for session in self._sessions:
            self.append(session, [_answer("That is all for today.")])
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

    def _session(self, session: str) -> None:
        self._send("POST", "/sessions", {"session_id": session, "budget_ms": 20_000}, 200)

    def say(self, session: str, answer: str, message: str, *, calls: int = 1) -> None:
        """Play a turn: the answer of the last one, the next message, and the prompt, in so many ``calls``."""
        messages = [*([_answer(answer)] if answer else []), {"role": "user", "content": message}]
        if calls == 1:
            self._send("POST", f"/sessions/{session}/turn", {"messages": messages, "compile": {}}, 200)
            self._drain()
            return
        for part in [messages] if calls == 2 else [[one] for one in messages]:
            self.append(session, part)
        self._send("POST", "/context", {"session_id": session}, 200)
        self._drain()

    def append(self, session: str, messages: list[dict[str, str]]) -> None:
        self._send("POST", f"/sessions/{session}/messages", {"messages": messages}, 201)
        self._drain()

    def _send(self, method: str, path: str, body: Any, status: int) -> Reply:
        reply = self._client.call(method, f"/v1/users/{USER}{path}", body)
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
            lines = written.getvalue()
            self._seen.logged[name] += len(lines.encode())
            self._seen.metrics |= {f"{name} {metric}" for line in lines.splitlines() for metric in metrics_of(line)}

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


def _hour_after_hour() -> Callable[[], datetime]:
    """Make the clock of a gateway that has forgotten what the authorizer said by the time of the next call."""
    hours = count()
    return lambda: datetime.now(UTC) + timedelta(hours=next(hours))


def _answer(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def metrics_of(line: str) -> list[str]:
    """The metrics that a line of a log holds, as CloudWatch reads it: those of a line in the embedded format."""
    if '"_aws"' not in line:
        return []
    return [one["Name"] for part in json.loads(line)["_aws"]["CloudWatchMetrics"] for one in part["Metrics"]]


def whole_ms(ms: float) -> int:
    """Lambda bills whole milliseconds."""
    return int(-(-ms // 1))


def _no_failure(changes: Any, attempts: int) -> None:
    print(f"a change was given up after {attempts} attempts: {changes}", file=sys.stderr)
    raise RuntimeError("a change was given up")
