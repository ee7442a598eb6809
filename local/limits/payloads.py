"""How large a request, an event and an answer of a synchronous invocation may be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

MAX_PAYLOAD = 6_291_556
"""Bytes of JSON. Lambda's documents say 6 MB; its error messages name this number."""
MAX_HEAD = 10_240
"""Bytes of the request line and the values of the headers together: ``Total combined size of request line and header
values`` in the quotas of API Gateway's Developer Guide, which cannot be raised."""
MAX_CHARACTER = 6
"""A control character takes this many bytes in JSON, any other one fewer."""
BESIDE_THE_BODY = 256 * 1024
"""More than everything but the body of an event or an answer takes: a gateway carries 10 KB of headers."""


class RequestTooLarge(Exception):
    """Lambda refuses the event: the function is not called."""


class AnswerTooLarge(Exception):
    """The function has run, and Lambda throws its answer away: ``Function.ResponseSizeTooLarge``."""


def head_bytes(method: str, target: str, values: Iterable[str]) -> int:
    """``target``: path and query as sent. ``values``: of the headers, one byte a character."""
    return len(f"{method} {target} HTTP/1.1") + sum(map(len, values))


def payload_bytes(payload: Any) -> int:
    """As the Python runtimes from 3.12 on write it: characters as they are."""
    return len(json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def check_event(event: Any) -> None:
    """Raises RequestTooLarge."""
    if _may_be_too_large(event) and payload_bytes(event) > MAX_PAYLOAD:
        raise RequestTooLarge(f"an event may have {MAX_PAYLOAD} bytes")


def check_answer(answer: Any) -> None:
    """Raises AnswerTooLarge."""
    if _may_be_too_large(answer) and (size := payload_bytes(answer)) > MAX_PAYLOAD:
        raise AnswerTooLarge(f"an answer may have {MAX_PAYLOAD} bytes, not {size}")


def _may_be_too_large(payload: Any) -> bool:
    """Nearly every payload is far too small to be worth a look."""
    body = payload.get("body") if isinstance(payload, Mapping) else None
    return isinstance(body, str) and len(body) * MAX_CHARACTER + BESIDE_THE_BODY > MAX_PAYLOAD
