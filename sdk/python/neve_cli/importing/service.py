"""What lines are sent to: calls of one service, each answered with a status, headers and a body."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2

from neve_cli.importing.reading import NO_JSON

ATTEMPTS, PAUSE_S, MAX_PAUSE_S = 6, 1.0, 5.0
"""Of a call that came too fast, met a store that was down, or was not waited for by a gateway: longer than a failover
takes."""
TIMEOUT_S = 60.0
TOO_LARGE = 413
OF_A_LINE = (400, TOO_LARGE, 422)
"""Refusals that are about what one line holds, or how many there are: the others go in."""


class Reply(Protocol):
    """``headers`` by lower-case name."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def json(self) -> Any: ...


class Service(Protocol):
    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Reply:
        """One request; ``body`` as JSON, ``raw`` as it is. Raises OSError when nobody answers."""


class NotTaken(RuntimeError):
    """The service refused a call as a whole; the message says why."""


class OtherServer(NotTaken):
    """What answers is no Neve: whether it took anything, it does not say."""


@dataclass(frozen=True)
class HttpReply:
    answer: httpx2.Response

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def headers(self) -> Mapping[str, str]:
        return self.answer.headers

    def json(self) -> Any:
        return self.answer.json()


@dataclass(frozen=True)
class HttpService:
    """A service by a client that knows its address and the key."""

    client: httpx2.Client

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> HttpReply:
        """Raises OSError when nobody answers."""
        sent = {"json": body} if raw is None else {"content": raw}
        try:
            return HttpReply(
                self.client.request(method, path, params=query, headers=headers, timeout=TIMEOUT_S, **sent)
            )
        except httpx2.RequestError as error:
            raise OSError(f"nobody answers at {self.client.base_url}: {type(error).__name__}") from None


def in_the_end(ask: Callable[[], Reply]) -> Reply:
    """The answer of a call that may be repeated, when it no longer says to come back later."""
    for _ in range(ATTEMPTS - 1):
        reply = ask()
        if not _is_for_later(reply):
            return reply
        told = reply.headers.get("retry-after", "")
        time.sleep(min(float(told), MAX_PAUSE_S) if told.isdecimal() else PAUSE_S)
    return ask()


def _is_for_later(reply: Reply) -> bool:
    """A conflict that is worth another try says when (docs/rules/http.md#conflicts)."""
    if reply.status != 409:
        return reply.status in (429, 500, 502, 503, 504)
    return "retry-after" in reply.headers and is_conflict(reply)


def is_conflict(reply: Reply) -> bool:
    return reply.status == 409 and object_of(reply).get("code") == "conflict"


def object_of(reply: Reply) -> dict[str, Any]:
    """What it answers with; nothing of a page, which is how what stands before the service answers."""
    try:
        found = reply.json()
    except NO_JSON:
        return {}
    return found if isinstance(found, dict) else {}


def reason_of(reply: Reply) -> str:
    return str(object_of(reply).get("detail") or f"HTTP {reply.status}")


def not_taken(where: str, reply: Reply) -> NotTaken:
    """Says in a line which lines a call refused, with the id of the request."""
    found = object_of(reply)
    answer = f"{reply.status} {json.dumps(found, ensure_ascii=False)}" if found else f"HTTP {reply.status}, not as Neve"
    return (OtherServer if reply.status < 300 else NotTaken)(f"{where}: {answer}")
