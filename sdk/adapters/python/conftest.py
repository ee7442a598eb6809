"""What the tests of the adapters and of the pages of docs/frameworks stand on: a service, a proxy that counts, and a
strict model, all of them named by the environment (tests/frameworks/places.py)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest

from neve import Neve

PATIENCE_S = 60.0
SLOW = dict.fromkeys(("append", "context", "flush", "pack", "recall", "turn", "usage", "other"), PATIENCE_S)
"""Nothing here is about time: the machine may be busy."""
LINGER_S = 600.0
"""As long as a test waits for the next turn: what lingers is appended when a client is closed."""


def asked(url: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"Content-Type": "application/json"}), timeout=PATIENCE_S) as answer:
        return json.loads(answer.read() or b"null")


@dataclass(frozen=True)
class Service:
    """Neve behind the proxy. ``url``: of the proxy."""

    url: str
    key: str

    def client(self, **more: Any) -> Neve:
        return Neve(self.key, self.url, timeouts=SLOW, **more)

    def calls(self) -> list[str]:
        """Method and path of what was sent since ``heal``, without the query."""
        return [one["line"].partition("?")[0].partition("/v1/users/")[0] + _end(one["line"]) for one in self.sent()]

    def sent(self) -> list[dict[str, Any]]:
        return list(asked(f"{self.url}/_/sent"))

    def heal(self) -> None:
        asked(f"{self.url}/_/heal", {})

    def fault(self, **fault: Any) -> None:
        asked(f"{self.url}/_/fault", fault)


@dataclass(frozen=True)
class Model:
    """The loopback model."""

    url: str

    def will(self, *steps: dict[str, Any]) -> None:
        asked(f"{self.url}/_/script", list(steps))

    @property
    def requests(self) -> list[dict[str, Any]]:
        found = asked(f"{self.url}/_/requests")
        assert found["refused"] == []
        return list(found["requests"])


@pytest.fixture
def service() -> Iterator[Service]:
    found = Service(os.environ["NEVE_URL"], os.environ["NEVE_KEY"])
    found.heal()
    yield found
    found.heal()


@pytest.fixture
def model() -> Model:
    found = Model(os.environ["NEVE_TEST_MODEL"])
    asked(f"{found.url}/_/reset", {})
    return found


@pytest.fixture
def user() -> str:
    return f"user-{uuid4().hex[:12]}"


def events(service: Service, user: str, session_id: str) -> list[dict[str, Any]]:
    """The log, without what was taken back."""
    with service.client() as neve:
        return list(neve.raw.list_events(user, session_id, retracted=False, limit=200)["events"])


def index(service: Service) -> None:
    """Wait until what was appended can be found."""
    with service.client() as neve:
        job = neve.raw.drain_embeddings({})
        end = time.monotonic() + PATIENCE_S
        while neve.raw.read_admin_job(job["id"])["status"] != "done":
            assert time.monotonic() < end, "it is not indexed"
            time.sleep(0.05)


def rounds(number: int, name: str, arguments: str, answer: str) -> list[dict[str, Any]]:
    """Steps of a model that calls a tool so many times, then answers."""
    calls = [{"tool_calls": [{"name": name, "arguments": {arguments: f"place {n}"}}]} for n in range(number)]
    return [*calls, {"text": answer}]


def _end(line: str) -> str:
    return line.partition("?")[0].partition("/v1/users/")[2].partition("/")[2] or line.partition("?")[0]
