"""One user of one service over HTTPS. Every write carries an Idempotency-Key, so that it may be sent again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2

from neve_cli.ids import path_of

TIMEOUT_S = 40.0
"""Above the 29 s that a gateway waits for the service."""
ATTEMPTS = 3
PAGE = 200
LOOK_S, MAX_LOOK_S = 1.0, 10.0


class Failed(Exception):
    """The service refused, or nobody answered. The message is for a person."""


class Refused(Failed):
    """A problem document. ``code`` is stable."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status, self.code = status, str(problem.get("code", "unknown"))
        errors = [f"{error['field']}: {error['message']}" for error in problem.get("errors", [])]
        reasons = "; ".join(errors) or str(problem.get("detail", f"HTTP {status}"))
        super().__init__(f"{self.code} ({status}): {reasons}")


@dataclass(frozen=True)
class Api:
    """``base_url``: with the stage's path, without ``/v1``. ``user``: whose memory ``/…`` is about."""

    base_url: str
    key: str
    user: str
    transport: httpx2.BaseTransport | None = None
    client: httpx2.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        client = httpx2.Client(base_url=self.base_url, headers=headers, timeout=TIMEOUT_S, transport=self.transport)
        object.__setattr__(self, "client", client)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """The answer of ``/v1/users/<user><path>``; ``path`` is made by ``path_of``. What may be sent again is, when
        nobody answered or a store was down. Raises Failed."""
        return self._call(method, f"/v1/users{path_of(self.user)}{path}", body, query, headers)

    def json(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """The JSON of ``call``; None for an answer without a body."""
        answer = self.call(method, path, body, **more)
        return answer.json() if answer.content else None

    def admin(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of ``/v1/admin<path>``."""
        return self._call(method, f"/v1/admin{path}", body, None, None).json()

    def pages(
        self, path: str, name: str, most: int, query: Mapping[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        """The members ``name`` of a list, page by page, at most ``most``."""
        cursor: dict[str, Any] = {}
        while most > 0:
            page = self.json("GET", path, query={**(query or {}), **cursor, "limit": min(PAGE, most)})
            yield from page[name]
            most -= len(page[name])
            following = {"cursor": page.get("next_cursor"), "from_seq": page.get("next_from_seq")}
            cursor = {key: value for key, value in following.items() if value is not None}
            if not cursor:
                return

    def ended(self, job: dict[str, Any], *, admin: bool = False) -> dict[str, Any]:
        """A job when it has ended, asked for again and again. Raises Failed for one that failed."""
        pause = LOOK_S
        while job["status"] not in ("done", "failed"):
            time.sleep(pause)
            pause = min(pause * 1.5, MAX_LOOK_S)
            path = path_of("jobs", job["id"])
            job = self.admin("GET", path) if admin else self.json("GET", path)
        if job["status"] == "failed":
            raise Failed(f"job {job['id']} failed: {job.get('result', {}).get('reason', 'the service has logged why')}")
        return job

    def _call(
        self, method: str, path: str, body: Any, query: Mapping[str, Any] | None, headers: Mapping[str, str] | None
    ) -> httpx2.Response:
        sent = dict(headers or {})
        if method != "GET":
            sent.setdefault("Idempotency-Key", uuid4().hex)
        for left in reversed(range(ATTEMPTS)):
            try:
                answer = self.client.request(method, path, json=body, params=query, headers=sent)
            except httpx2.TransportError as error:
                if not left:
                    raise Failed(f"nobody answers at {self.base_url}: {type(error).__name__}") from None
                continue
            if answer.status_code == 503 and left:
                time.sleep(min(float(answer.headers.get("Retry-After", 1)), 5.0))
                continue
            return _accepted(answer)
        raise AssertionError("the last attempt returns or raises")


def _accepted(answer: httpx2.Response) -> httpx2.Response:
    if answer.is_success:
        return answer
    try:
        problem = answer.json()
    except ValueError:
        problem = {"detail": f"HTTP {answer.status_code} without a reason"}
    raise Refused(answer.status_code, problem if isinstance(problem, dict) else {})
