"""What a failure is told as: once of each kind in the log, in what is returned, and as a span."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from sdk.python.neve import Neve, NeveConnection, Session
from sdk.python.neve._shared import tracing
from tests.unit.sdk.fake_service import FakeService, chat


def told(*faults: str, strict: bool = False) -> Session:
    return chat(FakeService(faults=iter(faults)), strict=strict)


def test_a_kind_of_failure_is_logged_once_until_the_service_answers(caplog: pytest.LogCaptureFixture) -> None:
    s = told("down", "down", "503", "", "down")
    with caplog.at_level(logging.INFO, "neve"):
        for text in ("one", "two", "three", "four", "five"):
            s.conversation.retry_at = 0
            s.append(text)
    kinds = [record.getMessage().split(":")[0] for record in caplog.records if record.name == "neve"]
    assert kinds == [
        "memory is degraded (unreachable)",
        "memory is degraded (store_unavailable)",
        "memory is back",
        "memory is degraded (unreachable)",
        "memory is back",
    ]


def test_strict_raises_and_keeps_what_was_said() -> None:
    s = told("down", strict=True)
    with pytest.raises(NeveConnection):
        s.append("one")
    assert s.conversation.count() == 1
    assert s.flush().appended == 1


def test_what_is_lost_at_the_end_is_said(caplog: pytest.LogCaptureFixture) -> None:
    s = told(*["down"] * 9)
    s.append(["one", "two"])
    s._neve.close()
    assert "2 messages were not appended, and are lost" in caplog.text


class Span:
    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes = dict(attributes)

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes[name] = value


class Tracer:
    def __init__(self) -> None:
        self.spans: list[tuple[str, Span]] = []

    @contextmanager
    def start_as_current_span(self, name: str, attributes: Mapping[str, Any]) -> Iterator[Span]:
        span = Span(attributes)
        self.spans.append((name, span))
        yield span


def test_memory_is_told_to_open_telemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    tracer = Tracer()
    monkeypatch.setattr(tracing, "_tracer", lambda: tracer)
    down = httpx2.Client(transport=httpx2.MockTransport(lambda _: httpx2.Response(503)))
    neve = Neve("nv_x", linger=60, timeouts={"append": 0.01, "recall": 0.01}, http_client=down)
    s = neve.user("ada").session("s1")
    s.append("one")
    s.recall("one")
    s.rest()
    s.conversation.clear()
    told = [
        (name, span.attributes["gen_ai.operation.name"], span.attributes["error.type"]) for name, span in tracer.spans
    ]
    assert told == [
        ("upsert_memory neve", "upsert_memory", "http_503"),
        ("search_memory neve", "search_memory", "http_503"),
    ]
    assert {span.attributes["gen_ai.conversation.id"] for _, span in tracer.spans} == {"s1"}


def test_the_api_package_of_open_telemetry_is_found() -> None:
    assert hasattr(tracing._tracer(), "start_as_current_span")
