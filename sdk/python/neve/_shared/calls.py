"""Requests and answers of the service, as far as they need no connection."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from ..errors import FieldError, NeveConnection, NeveError, NeveProtocol, class_of

TRIES = 4
FIRST_PAUSE_S = 0.1
READS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Call:
    """``path``: below ``/v1``, percent-encoded. ``body``: JSON; a text or bytes go as ``content_type``. ``span``: the
    operation that tracing tells it as, with ``told``, its attributes."""

    method: str
    path: str
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    span: str | None = None
    told: Mapping[str, Any] = field(default_factory=dict)

    def target(self, base_url: str) -> str:
        """The whole address."""
        sent = {name: _plain(value) for name, value in self.query.items() if value is not None}
        return f"{base_url}/v1{self.path}" + (f"?{urlencode(sent, doseq=True)}" if sent else "")

    def sent_headers(self, key: str) -> dict[str, str]:
        """With the key, and for a write with an ``Idempotency-Key``: the same in every repeat."""
        found = {"Authorization": f"Bearer {key}", **self.headers}
        if self.body is not None:
            found["Content-Type"] = self.content_type
        if self.method not in READS and "Idempotency-Key" not in found:
            found["Idempotency-Key"] = chance()
        return found

    def content(self) -> bytes | None:
        """The body as it is sent."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        if self.content_type != "application/json":
            return str(self.body).encode()
        return json_bytes(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """``headers`` by lower-case name; ``body``: the parsed JSON, or the text of what is none."""

    status: int
    headers: Mapping[str, str]
    body: Any
    size: int


def chance() -> str:
    """A key or an id that nobody else has."""
    return os.urandom(16).hex()


def path_of(*parts: str) -> str:
    """Ids as parts of a path."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def json_bytes(value: Any) -> bytes:
    """In UTF-8, where a half of a surrogate pair has to stay an escape."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def understood(status: int, headers: Mapping[str, str], content: bytes, base_url: str) -> Reply:
    """The answer, when it is one of Neve below 400. Raises NeveError for any other."""
    kind = headers.get("content-type", "")
    text = content.decode(errors="replace")
    body: Any = text
    if "json" in kind and "jsonl" not in kind:
        try:
            body = json.loads(text) if text else None
        except (ValueError, RecursionError):
            body = None
    if status >= 400:
        raise _refused(status, headers, body, base_url)
    ours = status in (204, 304) or ("x-request-id" in headers and (isinstance(body, dict) or kind.startswith("text/")))
    if not ours or (300 <= status < 400 and status != 304):
        raise not_neve(base_url, f"HTTP {status}")
    return Reply(status, headers, body, len(content))


def error_of(problem: Mapping[str, Any]) -> NeveError:
    """The exception of a problem as the service tells it (RFC 9457)."""
    status = int(problem.get("status") or 500)
    errors: list[FieldError] = [
        {"field": str(one.get("field")), "message": str(one.get("message"))}
        for one in problem.get("errors") or ()
        if isinstance(one, Mapping)
    ]
    said = str(problem.get("detail") or problem.get("title") or f"The service answered {status}.")
    if named := [text for one in errors if (text := f"{one['field']}: {one['message']}") not in said]:
        said += f" ({'; '.join(named)})"
    code = str(problem.get("code") or f"http_{status}")
    return class_of(status)(code, said, status=status, errors=errors, request_id=problem.get("request_id"))


def named_fields(error: NeveError) -> set[str]:
    """The fields of a body that an error names, without what is in them."""
    return {one["field"].partition(".")[0].partition("[")[0] for one in error.errors}


def not_neve(base_url: str, why: str) -> NeveProtocol:
    """Says that something else answers at the address."""
    return NeveProtocol(
        "not_neve",
        f"{base_url} answers, but not as Neve does ({why}). Set base_url, or NEVE_URL, to the address of the service, "
        "without /v1.",
    )


def unreachable(base_url: str, why: str) -> NeveConnection:
    """Says that nobody answers, and what to do."""
    return NeveConnection(
        "unreachable",
        f"{base_url} cannot be reached ({why}): is the service running there? Else set base_url, or NEVE_URL.",
    )


def closed() -> NeveConnection:
    """Says that a client is used behind its end."""
    failed = NeveConnection("closed", "This client was closed: make another, or close it when the process ends.")
    failed.may_have_arrived = False
    return failed


def too_late(base_url: str, seconds: float) -> NeveConnection:
    """Says that the budget is over, and how to have a larger one."""
    return NeveConnection(
        "timeout", f"{base_url} did not answer within {seconds:g} s; Neve(timeouts={{...}}) gives a call more."
    )


def pause_s(error: NeveError, attempt: int) -> float:
    """How long to wait before the next attempt, the first being 1."""
    if error.retry_after is not None:
        return error.retry_after
    return FIRST_PAUSE_S * float(2 ** (attempt - 1)) * (0.5 + os.urandom(1)[0] / 512)


def _refused(status: int, headers: Mapping[str, str], body: Any, base_url: str) -> NeveError:
    known = isinstance(body, dict) and isinstance(body.get("code"), str)
    if not known and status < 500 and status != 429:
        return not_neve(base_url, f"HTTP {status}")
    error = error_of({**(body if known else {}), "status": status})
    error.request_id = error.request_id or headers.get("x-request-id")
    error.retry_after = _seconds(headers.get("retry-after"))
    hint = ""
    if status == 401:
        hint = " Check the key, or NEVE_KEY."
    if error.code == "route_not_found":
        hint = f" Is base_url {base_url} right, and the service as new as this package?"
    error.args = (f"{error}{hint}",)
    return error


def _seconds(value: str | None) -> float | None:
    """A time of day, as a proxy may send it, counts as none."""
    return float(value) if value is not None and value.isdecimal() else None


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value
