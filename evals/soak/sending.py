"""Requests as a careful integrator sends them: an answer that says nothing about the outcome is repeated, with the same
idempotency key and the same client ids, until one comes that does."""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

from evals.soak.journal import Account
from local.api_client import ApiClient, Reply

PATIENCE_S = 150.0
"""Longer than any outage of the schedule, and than a claim that a failed call left on its idempotency key (60 s)."""
MAX_PAUSE_S = 5.0
FIRST_PAUSE_S = 0.1
UNKNOWN = frozenset({429, 502, 503, 504})
REPEATABLE_CODES = frozenset({"conflict", "idempotency_in_progress"})
"""Of a 409: others were first, which says nothing about an earlier attempt of our own."""
NOBODY_S = 5.0


@dataclass(frozen=True, slots=True)
class Call:
    """``what`` names its kind in the report. ``good``: the statuses that are an answer to it. ``good_again``: those
    that are one only behind an attempt of unknown outcome."""

    what: str
    method: str
    path: str
    body: Any = None
    key: str | None = None
    raw: bytes | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    good: tuple[int, ...] = (200,)
    good_again: tuple[int, ...] = ()

    @property
    def sent_headers(self) -> dict[str, str]:
        return {**self.headers, **({"Idempotency-Key": self.key} if self.key else {})}


@dataclass(frozen=True, slots=True)
class Attempt:
    """``outcome``: the status with a problem's code behind it, or the exception's name. ``window``: what was being done
    to the service when it was sent."""

    what: str
    window: str
    outcome: str
    good: bool
    ms: float


class Unexpected(Exception):
    """An answer that no fault explains."""


class Sender:
    """Of one thread."""

    def __init__(self, base_url: str, keys: Mapping[str, str], window: Callable[[], str], rng: random.Random) -> None:
        """``keys``: the API key of every tenant."""
        self.attempts: list[Attempt] = []
        self._netloc = urlsplit(base_url).netloc
        self._keys = keys
        self._clients = {tenant: ApiClient(base_url, key) for tenant, key in keys.items()}
        self._window = window
        self._random = rng

    def send(self, account: Account, call: Call, *, lost_before: bool = False) -> Reply | None:
        """The answer; None when none came for ``PATIENCE_S``. ``lost_before``: an earlier attempt was abandoned. Raises
        Unexpected."""
        end = time.monotonic() + PATIENCE_S
        pause_s, again = FIRST_PAUSE_S, lost_before
        while True:
            reply, outcome = self._attempt(account, call, again)
            if reply is not None and self._is_good(call, reply, again):
                return reply
            if reply is not None and not _is_unknown(reply):
                raise Unexpected(f"{account.tenant} {call.method} {call.path} -> {outcome}: {reply.text[:300]}")
            if time.monotonic() > end:
                return None
            time.sleep(self._random.uniform(0.5, 1.0) * max(pause_s, _asked_pause(reply)))
            pause_s, again = min(2 * pause_s, MAX_PAUSE_S), True

    def abandon(self, account: Account, call: Call) -> None:
        """Send it and do not wait for the answer, as a client whose connection breaks."""
        headers = {"Authorization": f"Bearer {self._keys[account.tenant]}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self._netloc, timeout=NOBODY_S)
        path = call.path + (f"?{urlencode(call.query)}" if call.query else "")
        with suppress(OSError):
            connection.request(call.method, path, json.dumps(call.body).encode(), headers | call.sent_headers)
        connection.close()

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _attempt(self, account: Account, call: Call, again: bool) -> tuple[Reply | None, str]:
        window, began = self._window(), time.perf_counter()
        reply = None
        try:
            reply = self._clients[account.tenant].call(
                call.method,
                call.path,
                call.body,
                raw=call.raw,
                query=dict(call.query) or None,
                headers=call.sent_headers,
            )
            outcome = f"{reply.status} {_code(reply)}".strip()
        except (OSError, http.client.HTTPException) as error:
            outcome = type(error).__name__
        good = reply is not None and self._is_good(call, reply, again)
        self.attempts.append(Attempt(call.what, window, outcome, good, (time.perf_counter() - began) * 1000))
        return reply, outcome

    def _is_good(self, call: Call, reply: Reply, again: bool) -> bool:
        return reply.status in call.good or (again and reply.status in call.good_again)


def _is_unknown(reply: Reply) -> bool:
    return reply.status in UNKNOWN or (reply.status == 409 and _code(reply) in REPEATABLE_CODES)


def _code(reply: Reply) -> str:
    """Of a problem, else nothing."""
    if reply.status < 400:
        return ""
    try:
        return str(reply.json().get("code", ""))
    except ValueError:
        return ""


def _asked_pause(reply: Reply | None) -> float:
    asked = float(reply.headers.get("retry-after", "0")) if reply is not None else 0.0
    return min(asked, MAX_PAUSE_S)
