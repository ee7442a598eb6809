"""One user of one service over HTTPS. Every write carries an Idempotency-Key, so that it may be sent again."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

import httpx2

from neve_cli.ids import NAME, path_of

TIMEOUT_S = 40.0
"""Above the 29 s that a gateway waits for the service."""
ATTEMPTS, WHILE_RUNNING = 3, 15
"""How often a request is sent: the second where the service still works on it. With ``MAX_PAUSE_S`` in between that is
longer than the 60 s for which a call that died holds its key."""
PAUSE_S, MAX_PAUSE_S = 1.0, 5.0
PAGE = 200
LOOK_S, MAX_LOOK_S = 1.0, 10.0
ENDED = ("done", "failed")
OK, NO_CONTENT = 200, 204
UNKNOWN = (500, 502, 503, 504)
"""Whether it was done, nobody knows: the service failed while it worked, or a gateway did not wait for it."""
NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout)
IN_PROGRESS = "idempotency_in_progress"
RECALL = ("POST", "/recall")
"""Changes nothing, although it is no GET, and takes no key."""
_JOB, _ITEM, _MEMORY, _DOCUMENT = ("id", "status"), ("id", "status"), ("id", "rev"), ("path", "rev")
ANSWERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "GET /admin/jobs/*": (_JOB,),
    "POST /admin/reflect": (_JOB, ("eligible", "batches")),
    "POST /keys": (("key_id", "scopes"),),
    "POST /tokens": (("token", "expires_at"),),
    "POST /users/*/tokens": (("token", "expires_at"),),
    "GET /policy": (("policy", "in_force", "rev"),),
    "PUT /policy": (("policy", "in_force", "rev"),),
    "GET /usage": (("users", "usage", "complete"),),
    "DELETE /users/*": (_JOB,),
    "GET /users/*/documents": (_DOCUMENT,),
    "PUT /users/*/documents": (_DOCUMENT,),
    "DELETE /users/*/documents": (("deleted", "more"),),
    "GET /users/*/documents/list": (("documents",),),
    "POST /users/*/documents/move": (_DOCUMENT, ("moved", "more")),
    "GET /users/*/documents/versions": (("versions",),),
    "POST /users/*/export": (_JOB,),
    "GET /users/*/inbox": (("items",),),
    "POST /users/*/inbox/*/approve": (_ITEM,),
    "POST /users/*/inbox/*/edit": (_ITEM,),
    "POST /users/*/inbox/*/reject": (_ITEM,),
    "GET /users/*/jobs/*": (_JOB,),
    "GET /users/*/memories": (("memories",),),
    "POST /users/*/memories": (_MEMORY, ("decision", "criteria"), ("facts",)),
    "POST /users/*/memories/forget": (_JOB, ("dry_run", "count", "memories")),
    "PATCH /users/*/memories/*": (_MEMORY,),
    "DELETE /users/*/memories/*": (("id", "in_packs", "derived"),),
    "GET /users/*/memories/*/trace": (("memory_id", "history"),),
    "GET /users/*/pack": (("state",),),
    "GET /users/*/pack/diff": (("added", "removed", "unified"),),
    "GET /users/*/pack/versions": (("versions",),),
    "POST /users/*/recall": (("hits", "result_state"),),
    "GET /users/*/recalls": (("recalls",),),
    "GET /users/*/recalls/*": (("id", "hits"),),
    "GET /users/*/sessions": (("sessions",),),
    "POST /users/*/sessions": (("session", "pack", "created"),),
    "GET /users/*/sessions/*": (("id", "last_seq"),),
    "POST /users/*/sessions/*/compact": (_JOB,),
    "POST /users/*/sessions/*/end": (_JOB,),
    "GET /users/*/sessions/*/events": (("events",),),
    "POST /users/*/sessions/*/events": (("seqs", "observation"),),
    "POST /users/*/sessions/*/observe": (_JOB, ("dry_run", "observations")),
    "GET /users/*/stats": (("memories", "embeddings"),),
}
"""Some of the members that Neve always answers a call with, one tuple for each form of its answer. What lacks them is
another server's: that it took a write, and answered 200, says nothing of what became of it."""
MAY_BE_DONE = "It may have been done. Repeated within a day as neve --idempotency-key {key} … the command does it once."


class Failed(Exception):
    """The service refused, or nobody answered. The message is for a person."""


class Refused(Failed):
    """A problem document. ``code`` is stable. What refuses in front of the service, such as a gateway without such a
    stage, says ``message``."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status, self.code = status, str(problem.get("code", "unknown"))
        given = problem.get("errors")
        errors = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
        named = [f"{error.get('field')}: {error.get('message')}" for error in errors]
        reasons = "; ".join(named) or str(problem.get("detail") or problem.get("message") or f"HTTP {status}")
        super().__init__(f"{self.code} ({status}): {reasons}")


class Answer(dict[str, Any]):
    """An object of an answer. A member that Neve always answers with is missing, null or of another type at another
    server only: to read it raises Failed."""

    def __getitem__(self, name: str) -> Any:
        value = self.get(name)
        if value is None:
            raise Failed(f"this is no answer of Neve: it has no '{name}'")
        return value

    def text(self, name: str) -> str:
        value = self[name]
        if not isinstance(value, str):
            raise _other(name, "a text")
        return value

    def identifier(self, name: str) -> str:
        """One that can be a part of a path."""
        value = self.text(name)
        if not re.fullmatch(NAME, value):
            raise _other(name, "an id")
        return value

    def object(self, name: str) -> Answer:
        value = self[name]
        if not isinstance(value, Answer):
            raise _other(name, "an object")
        return value

    def rows(self, name: str) -> list[Answer]:
        value = self[name]
        if not isinstance(value, list) or not all(isinstance(one, Answer) for one in value):
            raise _other(name, "a list of objects")
        return value

    def rows_if_any(self, name: str) -> list[Answer]:
        """None where there is no such member."""
        return [] if self.get(name) is None else self.rows(name)


def _other(name: str, kind: str) -> Failed:
    return Failed(f"this is no answer of Neve: its '{name}' is not {kind}")


@dataclass(frozen=True)
class Api:
    """``base_url``: with the stage's path, without ``/v1``. ``user``: whose memory ``/…`` is about; empty for calls of
    the tenant alone. ``write_key``: of every write of one command; the service keeps it for each method and path."""

    base_url: str
    key: str
    user: str
    transport: httpx2.BaseTransport | None = None
    write_key: str = field(default_factory=lambda: uuid4().hex)
    client: httpx2.Client = field(init=False, repr=False)

    def __post_init__(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            client = httpx2.Client(base_url=self.base_url, headers=headers, timeout=TIMEOUT_S, transport=self.transport)
        except (OSError, ValueError, ImportError, httpx2.InvalidURL) as error:
            # where its certificates are, and through which proxy it goes, is said by the environment
            raise Failed(
                f"no connection can be made, by what SSL_CERT_FILE or a proxy's variable says: {error}"
            ) from error
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
        """The answer of ``/v1/users/<user><path>``; ``path`` is made by ``path_of``. It is asked for
        again, after a pause, when nobody answered, or the answer was to try again. Raises Failed."""
        return self._call(method, self._of_user(path), body, query, headers)

    def json(self, method: str, path: str, body: Any = None, **more: Any) -> Answer:
        """The JSON of ``call``."""
        return self.of_tenant(method, self._of_user(path), body, **more)

    def text(self, path: str, query: Mapping[str, Any]) -> tuple[str, str]:
        """The text of a pack, and what is degraded of it. Raises Failed where there is none: JSON is one that is not to
        be had (docs/rules/pack.md#http), and whatever is not Neve's has no request id."""
        answer = self.call("GET", path, query=query)
        kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
        if answer.status_code == OK and kind == "text/plain" and "X-Request-Id" in answer.headers:
            return answer.text, answer.headers.get("X-Neve-Degraded", "")
        state = self._json(answer, "GET", self._of_user(path))["state"]
        raise Failed(f"there is no pack to be had just now ({state}): the last one stays good")

    def admin(self, method: str, path: str, body: Any = None) -> Answer:
        """The JSON of ``/v1/admin<path>``."""
        return self.of_tenant(method, f"/admin{path}", body)

    def of_tenant(self, method: str, path: str, body: Any = None, **more: Any) -> Answer:
        """The JSON of ``/v1<path>``, which is about no user."""
        return self._json(self._call(method, path, body, more.get("query"), more.get("headers")), method, path)

    def remove_of_tenant(self, path: str) -> None:
        """DELETE ``/v1<path>``, which is answered without a body."""
        answer = self._call("DELETE", path, None, None, None)
        if answer.status_code != NO_CONTENT or "X-Request-Id" not in answer.headers:
            raise self.not_neve(f"HTTP {answer.status_code}")

    def pages(self, path: str, name: str, most: int, query: Mapping[str, Any] | None = None) -> Iterator[Answer]:
        """The members ``name`` of a list, page by page, at most ``most``."""
        cursor: dict[str, Any] = {}
        while most > 0:
            page = self.json("GET", path, query={**(query or {}), **cursor, "limit": min(PAGE, most)})
            rows = page.rows(name)
            yield from rows
            most -= len(rows)
            following = {"cursor": page.get("next_cursor"), "from_seq": page.get("next_from_seq")}
            cursor = {key: value for key, value in following.items() if value is not None}
            if not cursor:
                return

    def ended(self, job: Answer, timeout_s: int, *, admin: bool = False) -> Answer:
        """A job when it has ended, asked for again and again. Raises Failed for one that failed, or goes on when the
        time is over."""
        ends, pause = time.monotonic() + timeout_s, LOOK_S
        while job["status"] not in ENDED:
            if (left := ends - time.monotonic()) <= 0:
                raise Failed(f"not done after {timeout_s} s; it goes on: {look_at(job, admin=admin)}")
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, MAX_LOOK_S)
            path = path_of("jobs", job.identifier("id"))
            job = self.admin("GET", path) if admin else self.json("GET", path)
        if job["status"] == "failed":
            result = job.get("result")
            reason = result.get("reason") if isinstance(result, Answer) else None
            raise Failed(f"job {job['id']} failed: {reason or 'the service has logged why'}")
        return job

    def download(self, url: str) -> bytes:
        """What is at an address that the service has signed, which is asked without the key. Raises Failed."""
        reason = ""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with httpx2.Client(timeout=TIMEOUT_S, transport=self.transport) as client:
                    answer = client.get(url)
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                reason = type(error).__name__
            else:
                if answer.is_success:
                    return answer.content
                reason = f"HTTP {answer.status_code}"
            if attempt < ATTEMPTS:
                time.sleep(PAUSE_S * attempt)
        raise Failed(f"the export cannot be loaded: {reason}")

    def _call(
        self, method: str, path: str, body: Any, query: Mapping[str, Any] | None, headers: Mapping[str, str] | None
    ) -> httpx2.Response:
        sent = dict(headers or {})
        writes = method != "GET" and not (method == RECALL[0] and path.endswith(RECALL[1]))
        if writes:
            sent["Idempotency-Key"] = self.write_key
        may_be_done = False
        try:
            for attempt in count(1):
                answer = self._asked(
                    self.client.build_request(method, f"/v1{path}", json=body, params=query, headers=sent)
                )
                may_be_done = may_be_done or _leaves_open(answer)
                if attempt >= _attempts(answer):
                    return self._accepted(answer)
                time.sleep(_pause(answer, attempt))
        except (Failed, KeyboardInterrupt) as ended:
            if writes and (may_be_done or isinstance(ended, KeyboardInterrupt)):
                ended.add_note(MAY_BE_DONE.format(key=self.write_key))
            raise
        raise AssertionError("it is counted without end")

    def _asked(self, request: httpx2.Request) -> httpx2.Response | httpx2.RequestError:
        try:
            return self.client.send(request)
        except httpx2.RequestError as error:
            return error

    def _accepted(self, answer: httpx2.Response | httpx2.RequestError) -> httpx2.Response:
        if isinstance(answer, httpx2.TransportError):
            raise Failed(f"nobody answers at {self.base_url}: {type(answer).__name__}")
        if isinstance(answer, httpx2.RequestError):
            raise self.not_neve(type(answer).__name__)
        if answer.is_success:
            return answer
        if answer.is_redirect:  # not followed: the key would go along
            raise self.not_neve(f"HTTP {answer.status_code} to {answer.headers.get('Location', 'nowhere')}")
        raise Refused(answer.status_code, _problem(answer))

    def _of_user(self, path: str) -> str:
        return f"/users{path_of(self.user)}{path}"

    def _json(self, answer: httpx2.Response, method: str, path: str) -> Answer:
        """What the call is answered with. Raises Failed: there may be another server at the address."""
        try:
            found = answer.json(object_hook=Answer)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, Answer):
            raise self.not_neve("no JSON object")
        forms = answers_to(method, path)
        if not any(all(found.get(name) is not None for name in form) for form in forms):
            raise self.not_neve(f"no {' or '.join(repr(form[0]) for form in forms)} as this call is answered with")
        return found

    def not_neve(self, reason: str) -> Failed:
        """Says that something else answers at the address."""
        return Failed(f"{self.base_url} does not answer as Neve does: {reason}")


def answers_to(method: str, path: str) -> tuple[tuple[str, ...], ...]:
    """Of ``ANSWERS``. ``path``: behind ``/v1``."""
    asked = f"{method} {path}"
    return next(forms for call, forms in ANSWERS.items() if re.fullmatch(call.replace("*", "[^/]+"), asked))


def look_at(job: Answer, *, admin: bool) -> str:
    """The command that shows how far it is."""
    return f"neve job {job.identifier('id')}{' --admin' if admin else ''}"


def _attempts(answer: httpx2.Response | httpx2.RequestError) -> int:
    """How often its request, a read or one with a key, is sent at most. A conflict that is worth another try says when
    (docs/rules/http.md#conflicts), as does an erasure, which takes minutes; what is about an earlier attempt, whose
    answer was lost, is not about the caller's wish."""
    if isinstance(answer, httpx2.RequestError):
        return ATTEMPTS if isinstance(answer, httpx2.TransportError) else 1
    if answer.status_code != 409:
        return ATTEMPTS if answer.status_code in (429, *UNKNOWN) else 1
    code = _problem(answer).get("code")
    if code == IN_PROGRESS:
        return WHILE_RUNNING
    return ATTEMPTS if code == "conflict" and "Retry-After" in answer.headers else 1


def _leaves_open(answer: httpx2.Response | httpx2.RequestError) -> bool:
    """Whether what was asked for was done, or is being done."""
    if isinstance(answer, httpx2.RequestError):
        return not isinstance(answer, NOT_SENT)
    return answer.status_code in UNKNOWN or (answer.status_code == 409 and _problem(answer).get("code") == IN_PROGRESS)


def _pause(answer: httpx2.Response | httpx2.RequestError, attempt: int) -> float:
    """In seconds. A time of day, as a proxy may send it, counts as none."""
    if isinstance(answer, httpx2.RequestError):
        return PAUSE_S * attempt
    told = answer.headers.get("Retry-After", "")
    return min(float(told), MAX_PAUSE_S) if told.isdecimal() else PAUSE_S


def _problem(answer: httpx2.Response) -> dict[str, Any]:
    try:
        problem = answer.json()
    except (ValueError, RecursionError):
        return {"detail": f"HTTP {answer.status_code} without a reason"}
    return problem if isinstance(problem, dict) else {}
