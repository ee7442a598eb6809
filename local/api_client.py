"""A small HTTP client for the demo, the tests, the evals and the benchmark: JSON in and out over a kept connection."""

from __future__ import annotations

import http.client
import json
import select
import threading
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

BROKEN = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)


@dataclass(frozen=True, slots=True)
class Reply:
    """``headers`` by lower-case name."""

    status: int
    headers: dict[str, str] = field(repr=False)
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


class ApiError(Exception):
    """An answer that was not the expected one."""

    def __init__(self, method: str, path: str, reply: Reply) -> None:
        super().__init__(f"{method} {path} -> {reply.status}: {reply.text[:1000]}")
        self.reply = reply


def json_body(value: Any) -> bytes:
    """In UTF-8, which is a half of what escapes of many languages would be: a call takes 1 MiB. Half of a surrogate
    pair has no UTF-8, and stays an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


class ApiClient:
    """One connection a thread, opened again when the server closed it while it was idle. When it breaks during a
    request, the server may have carried that out: only a read, or a request with an ``Idempotency-Key``, is sent once
    more. ``base_url``: http or https, with or without a stage path. ``timeout_s``: for each wait of all clients."""

    timeout_s: ClassVar[float] = 60.0

    def __init__(self, base_url: str, key: str | None = None) -> None:
        parts = urlsplit(base_url)
        self._secure, self._host, self._prefix = parts.scheme == "https", parts.netloc, parts.path.rstrip("/")
        self._key = key
        self._local = threading.local()

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
        """One request. ``body`` is sent as JSON, ``raw`` as it is. Raises OSError when nobody answers, also for a
        request that may have been carried out."""
        sent = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        content = raw
        if body is not None:
            content = json_body(body)
            sent["Content-Type"] = "application/json"
        target = self._prefix + path + (f"?{urlencode(query, doseq=True)}" if query else "")
        return self._exchange(method, target, content, sent | (headers or {}))

    def expect(self, status: int, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The JSON of an answer with this status. Raises ApiError for another."""
        reply = self.call(method, path, body, **more)
        if reply.status != status:
            raise ApiError(method, path, reply)
        return reply.json() if reply.body else None

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _exchange(self, method: str, target: str, content: bytes | None, headers: dict[str, str]) -> Reply:
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is not None and _was_closed(connection):
            self.close()
            connection = None
        try:
            if connection is not None:
                try:
                    return _send(connection, method, target, content, headers)
                except BROKEN:
                    if not _repeatable(method, headers):
                        raise
                connection.close()
            kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
            self._local.connection = connection = kind(self._host, timeout=self.timeout_s)
            return _send(connection, method, target, content, headers)
        except (OSError, http.client.HTTPException):
            # in the middle of a request: it cannot be used again
            self.close()
            raise


def _was_closed(connection: http.client.HTTPConnection) -> bool:
    """Whether an idle connection has its end to read: nothing else can be waiting there."""
    if connection.sock is None:
        return False
    waiting = select.poll()  # unlike select, of a process with many files, too
    waiting.register(connection.sock, select.POLLIN)
    return bool(waiting.poll(0))


def _repeatable(method: str, headers: dict[str, str]) -> bool:
    return method in ("GET", "HEAD") or any(name.lower() == "idempotency-key" for name in headers)


def _send(
    connection: http.client.HTTPConnection, method: str, target: str, content: bytes | None, headers: dict[str, str]
) -> Reply:
    connection.request(method, target, content, headers)
    answer = connection.getresponse()
    return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
