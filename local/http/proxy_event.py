"""Turns an HTTP request into the events that API Gateway (REST, Lambda proxy) sends, and a function's answer back.

One difference from the real gateway, on purpose: nothing cuts a call off after 29 s. Its function is over after 28."""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from local.functions import STAGE
from local.http.message import Headers, Request, Response
from local.http.routing import Match

ACCOUNT = "000000000000"
API_ID = "local"


class MalformedAnswer(Exception):
    """A function answered with something that the gateway cannot turn into HTTP."""


def proxy_event(
    request: Request, match: Match, request_id: str, authorizer: Mapping[str, Any] | None, *, binary: bool = False
) -> dict[str, Any]:
    """The event of an API function. ``authorizer``: what the authorizer put into its context. ``binary``: the API takes
    every body for bytes."""
    body, is_base64 = _body_text(request.body, binary)
    event = _common(request, match, request_id)
    event["body"] = body
    event["isBase64Encoded"] = is_base64
    if authorizer is not None:
        event["requestContext"]["authorizer"] = dict(authorizer)
    return event


def authorizer_event(request: Request, match: Match, request_id: str) -> dict[str, Any]:
    """The event of a REQUEST authorizer."""
    return {"type": "REQUEST", "methodArn": method_arn(request), **_common(request, match, request_id)}


def method_arn(request: Request) -> str:
    return f"arn:aws:execute-api:local:{ACCOUNT}:{API_ID}/{STAGE}/{request.method}{request.path}"


def allows(policy: Mapping[str, Any], arn: str) -> bool:
    """Whether an IAM policy document lets ``execute-api:Invoke`` through to ``arn``: a Deny beats every Allow."""
    effects = [
        statement["Effect"]
        for statement in _listed(policy["Statement"])
        if any(_matches(pattern, "execute-api:Invoke") for pattern in _listed(statement["Action"]))
        and any(_matches(pattern, arn) for pattern in _listed(statement["Resource"]))
    ]
    return "Allow" in effects and "Deny" not in effects


def http_response(answer: Any) -> Response:
    """A proxy answer ``{statusCode, headers, multiValueHeaders, body, isBase64Encoded}``. Raises MalformedAnswer."""
    if not isinstance(answer, Mapping) or not isinstance(answer.get("statusCode"), int):
        raise MalformedAnswer(f"no statusCode in {type(answer).__name__}")
    body = answer.get("body") or ""
    if not isinstance(body, str):
        raise MalformedAnswer(f"body is {type(body).__name__}, not str")
    try:
        content = base64.b64decode(body, validate=True) if answer.get("isBase64Encoded") else body.encode()
    except (binascii.Error, UnicodeEncodeError) as error:
        raise MalformedAnswer(f"body: {error}") from error
    return Response(answer["statusCode"], _answer_headers(answer), content)


def _common(request: Request, match: Match, request_id: str) -> dict[str, Any]:
    query = parse_qsl(request.query, keep_blank_values=True)
    now = time.time()
    return {
        "resource": match.route.path,
        "path": request.path,
        "httpMethod": request.method,
        "headers": dict(request.headers),
        "multiValueHeaders": _grouped(request.headers),
        "queryStringParameters": dict(query) or None,
        "multiValueQueryStringParameters": _grouped(query) or None,
        "pathParameters": match.path_parameters or None,
        "stageVariables": None,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": API_ID,
            "domainName": "127.0.0.1",
            "extendedRequestId": request_id,
            "httpMethod": request.method,
            "identity": {"sourceIp": "127.0.0.1", "userAgent": request.header("User-Agent")},
            "path": f"/{STAGE}{request.path}",
            "protocol": "HTTP/1.1",
            "requestId": request_id,
            "requestTime": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
            "requestTimeEpoch": int(now * 1000),
            "resourceId": "local",
            "resourcePath": match.route.path,
            "stage": STAGE,
        },
    }


def _grouped(pairs: list[tuple[str, str]]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for name, value in pairs:
        grouped.setdefault(name, []).append(value)
    return grouped


def _body_text(body: bytes, binary: bool) -> tuple[str | None, bool]:
    """And whether it is base64. What is taken for text and is not UTF-8 loses its bytes."""
    if not body:
        return None, False
    if binary:
        return base64.b64encode(body).decode("ascii"), True
    return body.decode("utf-8", "replace"), False


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _matches(pattern: str, text: str) -> bool:
    """IAM wildcards: ``*`` any characters, ``?`` one."""
    expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return (
        re.fullmatch(expression, text, re.DOTALL | re.IGNORECASE if text.startswith("execute") else re.DOTALL)
        is not None
    )


def _answer_headers(answer: Mapping[str, Any]) -> Headers:
    """``headers`` and ``multiValueHeaders`` merged; where both name a header the list wins."""
    multiple = answer.get("multiValueHeaders") or {}
    listed = {name.lower() for name in multiple}
    single = answer.get("headers") or {}
    headers = [(name, str(value)) for name, value in single.items() if name.lower() not in listed]
    return headers + [(name, str(value)) for name, values in multiple.items() for value in values]
