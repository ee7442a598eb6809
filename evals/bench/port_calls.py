"""Counts what each call asks of the ports, in this process.

Every port call takes one virtual millisecond, so that a request's virtual time is its number of sequential steps: work
that runs beside other work does not make it longer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from evals.bench.operations import Operations
from evals.in_process import BASE_URL, InProcess
from local.api_client import Reply
from local.backend import Choices, EmbeddedPorts
from local.bootstrap import KEY_FILE
from local.controls.virtual_time import VirtualClock, VirtualTasks, spend
from local.functions import Functions, current_function
from local.http.gateway import Gateway
from local.template import Template
from neve import wiring
from neve.caching import Caches
from neve.observability import log_from

AUTHORIZER = "authorizer"
Calls = list[tuple[str, str]]
"""Function and port method, in order."""

KNOWN = ("model", "load")
"""``SearchIndex.model``, which an engine knows since it was opened, and ``load`` of an encoder that is loaded."""


def count_port_calls(data: Path, template: Template, embedder: str) -> dict[str, dict[str, Any]]:
    """By operation: ``calls`` by port method, ``steps`` one after the other, ``authorizer`` calls before them, which a
    gateway keeps for a minute. ``data``: a folder of the benchmark that no service has open; it is written to. Warm:
    policy and pack manifest are known."""
    log_from("WARNING")
    engines = EmbeddedPorts(data, template, BASE_URL, Choices(embedder))
    calls: Calls = []
    wiring.install(CountedPorts(engines, calls))
    asking = replace(template, authorizer_ttl=timedelta(0))  # else it would count what an earlier call left
    gateway = Gateway(asking, Functions(template.functions).invoke)
    client = _Stepped(gateway, (data / KEY_FILE).read_text().strip(), engines)
    operations = Operations(client, "in this process")
    operations.prepare()
    found = {}
    for name, operation in operations.timed.items():
        operation()
        calls.clear()
        client.steps = 0
        operation()
        counted = Counter(method for function, method in calls if function != AUTHORIZER)
        authorizing = sum(1 for function, _ in calls if function == AUTHORIZER)
        found[name] = {"calls": dict(counted), "steps": client.steps - authorizing, "authorizer": authorizing}
    engines.close()
    return found


class _Stepped(InProcess):
    """``steps``: virtual milliseconds of the requests so far."""

    def __init__(self, gateway: Gateway, key: str, engines: EmbeddedPorts) -> None:
        super().__init__(gateway, key)
        self._clock = VirtualClock(engines.clock)
        self.steps = 0

    def _exchange(self, method: str, target: str, content: bytes | None, headers: dict[str, str]) -> Reply:
        began = self._clock.monotonic_ms()
        reply = super()._exchange(method, target, content, headers)
        self.steps += round(self._clock.monotonic_ms() - began)
        return reply


class CountedPorts:
    """``ports.engines.Ports`` around the embedded engines, which give what is not counted."""

    def __init__(self, engines: EmbeddedPorts, calls: Calls) -> None:
        self._engines = engines
        self.clock = VirtualClock(engines.clock)
        self.tasks = VirtualTasks()
        self.caches = Caches(self.clock.now)
        for name in ("table", "objects", "queue", "search", "embedder"):
            setattr(self, name, _Counted(name, getattr(engines, name), calls))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engines, name)


class _Counted:
    """Any port: its methods are counted, its properties are not; neither is what a warm process has already
    (``KNOWN``)."""

    def __init__(self, name: str, port: Any, calls: Calls) -> None:
        self._name, self._port, self._calls = name, port, calls

    def __getattr__(self, attribute: str) -> Any:
        found = getattr(self._port, attribute)
        return self._counted(attribute, found) if callable(found) and attribute not in KNOWN else found

    def _counted(self, method: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._calls.append((current_function.get(), f"{self._name}.{method}"))
            spend(1)
            return work(*args, **kwargs)

        return call
