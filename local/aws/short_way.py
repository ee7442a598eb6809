"""A shorter way through botocore to a server of this machine, for the calls that a service makes all the time.

botocore checks and writes the request as ever, and makes the errors of what is refused. What lies between is left out:
an endpoint worked out, a request prepared, signed and repeated, and an answer read by its description value by value.
On AWS the wait for the network hides that; here it is two thirds of a call's processor time. A call that gets no proper
answer is left to botocore, which tries it as often as it should."""

from __future__ import annotations

import json
import select
from base64 import b64decode
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import finalize

from botocore.parsers import create_parser

if TYPE_CHECKING:
    from boto3 import Session

CALLS: Mapping[str, frozenset[str]] = {
    "dynamodb": frozenset(
        ("GetItem", "BatchGetItem", "Query", "PutItem", "DeleteItem", "TransactWriteItems"),
    ),
    "dynamodb-streams": frozenset(("GetRecords",)),
    "sqs": frozenset(
        ("ReceiveMessage", "SendMessageBatch", "DeleteMessage", "ChangeMessageVisibility", "GetQueueAttributes")
    ),
}
"""Their answers hold JSON's own types and bytes, which only rows do. Times stay numbers."""
REPEATED = "neve_repeated"
"""In botocore's context of a call: it may have been carried out before."""
GIVEN_UP = 500
"""From this status on botocore tries again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The part of botocore's ``AWSResponse`` that is read behind a call."""

    status_code: int
    headers: Mapping[str, str]


class ShortWay:
    """Safe for threads: who needs a connection takes one that is idle."""

    def __init__(self, headers: Mapping[str, str], timeout_s: float) -> None:
        """``headers``: of every request. ``timeout_s``: between two bytes."""
        self._headers = headers
        self._timeout_s = timeout_s
        self._idle: defaultdict[str, deque[HTTPConnection]] = defaultdict(deque)
        finalize(self, _close, self._idle)

    def take(self, session: Session) -> None:
        """Every client that is made from the session from now on. Other handlers of the same events come first if they
        name the call."""
        for service in CALLS:
            session.events.register_last(f"before-call.{service}", self._call)

    def _call(self, model: Any, params: Mapping[str, Any], context: dict[str, Any], **_: Any) -> Any:
        """A handler of botocore's ``before-call``: the answer and what it holds, or None."""
        if model.name not in CALLS[model.service_model.service_id.hyphenize()]:
            return None
        try:
            answer, body = self._exchange(params)
        except (OSError, HTTPException):
            context[REPEATED] = True
            return None
        if answer.status_code >= GIVEN_UP:
            context[REPEATED] = True
            return None
        if answer.status_code >= 300:
            return answer, _refusal(model, answer, body)
        reply = {"HTTPStatusCode": answer.status_code, "HTTPHeaders": answer.headers, "RetryAttempts": 0}
        return answer, {**_plain(body), "ResponseMetadata": reply}

    def _exchange(self, params: Mapping[str, Any]) -> tuple[Answer, bytes]:
        """Raises OSError and HTTPException."""
        url = urlsplit(params["url"])
        idle = self._idle[url.netloc]
        connection = _taken(idle) or HTTPConnection(url.netloc, timeout=self._timeout_s)
        try:
            connection.request(
                params["method"], url.path or "/", params["body"], {**params["headers"], **self._headers}
            )
            response = connection.getresponse()
            body = response.read()
        except BaseException:
            connection.close()
            raise
        idle.append(connection)
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}), body


def _close(idle: Mapping[str, Iterable[HTTPConnection]]) -> None:
    for connection in chain.from_iterable(idle.values()):
        connection.close()


def _taken(idle: deque[HTTPConnection]) -> HTTPConnection | None:
    """One that the server has not closed: nothing else could be waiting there to be read."""
    with suppress(IndexError):
        while True:
            connection = idle.pop()
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
    return None


def _plain(body: bytes) -> dict[str, Any]:
    hook: Callable[[Any], Any] | None = _with_bytes if b'"B"' in body or b'"BS"' in body else None
    found = json.loads(body, object_hook=hook) if body else {}
    return {name: value for name, value in found.items() if value is not None}


def _with_bytes(value: dict[str, Any]) -> dict[str, Any]:
    """An attribute of a row may be called B too: its value is no text."""
    if isinstance(value.get("B"), str):
        value["B"] = b64decode(value["B"])
    return value


def _refusal(model: Any, answer: Answer, body: bytes) -> dict[str, Any]:
    """As botocore's endpoint reads it: the error, and the fields that its description names."""
    service = model.service_model
    parser = create_parser(service.resolved_protocol)
    given = {"headers": answer.headers, "status_code": answer.status_code, "body": body, "context": {}}
    parsed: dict[str, Any] = parser.parse(given, model.output_shape)
    shape = service.shape_for_error_code(parsed["Error"]["Code"])
    if shape is not None:
        parsed.update(parser.parse(given, shape))
    parsed["ResponseMetadata"]["RetryAttempts"] = 0
    return parsed
