"""A request and an answer as the local server passes them on: whole, and free of connection matters."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neve.http.problems import CONTENT_TYPE, PROBLEMS, problem_body

Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Request:
    """``path`` is percent-encoded as sent, ``query`` has no question mark; header names are in lower case."""

    method: str
    path: str
    query: str
    headers: Headers
    body: bytes

    def header(self, name: str) -> str | None:
        """The last value of a header, whatever its case."""
        values = [value for key, value in self.headers if key.lower() == name.lower()]
        return values[-1] if values else None


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: Headers = field(default_factory=list)
    body: bytes = b""


def json_response(status: int, body: Mapping[str, Any]) -> Response:
    text = json.dumps(body, ensure_ascii=False)
    return Response(status, [("Content-Type", "application/json")], text.encode("utf-8", "surrogatepass"))


def problem_response(code: str, detail: str) -> Response:
    """A refusal of the one table that is known before there is a call, or beside the API."""
    request_id = str(uuid.uuid4())
    headers = [("Content-Type", CONTENT_TYPE), ("X-Request-Id", request_id)]
    return Response(PROBLEMS[code].status, headers, json.dumps(problem_body(code, detail, request_id)).encode())
