"""API Gateway on one machine: routes and gateway answers of the template, the authorizer, then the function.

An authorizer that fails, an event that Lambda does not take and an answer that it throws away have gateway answers of
their own, as on a stage. The authorizer's answer holds for every call with the same header as long as on a stage: a
revoked key goes on for as long as that, and a policy for one method lets no other call through."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from local.http.message import Request, Response
from local.http.proxy_event import MalformedAnswer, allows, authorizer_event, http_response, method_arn, proxy_event
from local.http.routing import Match, Router
from local.limits.payloads import RequestTooLarge
from local.limits.points import API_GATEWAY, Points, Series
from local.template import Template
from local.workers.failure_log import report
from neve.caching import Cache, CacheSpec

Invoke = Callable[[str, Any], Any]
FAILURES = Series(API_GATEWAY, "5XXError")
MAX_AUTHORIZED = 10_000
"""Headers whose answers are kept (*chosen*: a process is small)."""


class Refused(Exception):
    """The gateway answers by itself; ``kind`` is an API Gateway response type such as ``ACCESS_DENIED``."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Gateway:
    """``points``: what CloudWatch would be told of the answers. ``now``: by which an authorizer's answer gets old."""

    def __init__(
        self,
        template: Template,
        invoke: Invoke,
        points: Points | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._template = template
        self._router = Router(template.routes)
        self._invoke = invoke
        self.points = points
        self._authorized = Cache[str, Mapping[str, Any]](
            CacheSpec("authorizer answers", MAX_AUTHORIZED, template.authorizer_ttl), now
        )

    def handle(self, request: Request) -> Response:
        """Never raises: what goes wrong becomes the template's gateway answer."""
        request_id = str(uuid.uuid4())
        try:
            response = self._answer(request, request_id)
        except Refused as refused:
            response = self._gateway_response(refused.kind, request_id)
        except Exception as error:
            _report(request, request_id, error)
            response = self._gateway_response("DEFAULT_5XX", request_id)
        if self.points is not None:
            self.points.add(FAILURES, response.status >= 500)
        return _with_request_id(response, request_id)

    def refuse(self, kind: str) -> Response:
        """The answer to a request that could not be read to its end."""
        return self._gateway_response(kind, str(uuid.uuid4()))

    def _answer(self, request: Request, request_id: str) -> Response:
        match = self._router.find(request.method, request.path)
        if match is None:
            raise Refused("MISSING_AUTHENTICATION_TOKEN")
        context = None if match.route.public else self._authorize(request, match, request_id)
        event = proxy_event(request, match, request_id, context, binary=self._template.binary)
        try:
            answer = self._invoke(match.route.function, event)
        except RequestTooLarge:
            raise Refused("REQUEST_TOO_LARGE") from None
        try:
            return http_response(answer)
        except MalformedAnswer as error:
            raise RuntimeError(f"function {match.route.function}: {error}") from error

    def _authorize(self, request: Request, match: Match, request_id: str) -> dict[str, str]:
        """The authorizer's context, every value as a string. Raises Refused."""
        identity = request.header(self._template.authorizer_header)
        if not identity:
            raise Refused("UNAUTHORIZED")

        def asked() -> Mapping[str, Any]:
            answer: Mapping[str, Any] = self._invoke(
                self._template.authorizer, authorizer_event(request, match, request_id)
            )
            return answer

        try:
            answer = self._authorized.read(identity, asked)
        except Exception as error:
            _report(request, request_id, error)
            raise Refused("AUTHORIZER_CONFIGURATION_ERROR") from None
        if not allows(answer["policyDocument"], method_arn(request)):
            raise Refused("ACCESS_DENIED")
        context: Mapping[str, Any] = answer.get("context") or {}
        return {"principalId": str(answer["principalId"])} | {name: _as_text(value) for name, value in context.items()}

    def _gateway_response(self, kind: str, request_id: str) -> Response:
        responses = self._template.gateway_responses
        chosen = responses[kind]
        headers = [(name, _filled(value, request_id)) for name, value in chosen.headers.items()]
        return Response(chosen.status, headers, _filled(chosen.body, request_id).encode())


def _report(request: Request, request_id: str, error: Exception) -> None:
    report(f"request {request_id}: {request.method} {request.path}", error)


def _filled(text: str, request_id: str) -> str:
    return text.replace("$context.requestId", request_id)


def _as_text(value: Any) -> str:
    """API Gateway hands context values on as strings and knows no lists or objects."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise TypeError(f"an authorizer's context holds text, numbers and booleans, not {type(value).__name__}")


def _with_request_id(response: Response, request_id: str) -> Response:
    if any(name.lower() == "x-request-id" for name, _ in response.headers):
        return response
    return Response(response.status, [*response.headers, ("X-Request-Id", request_id)], response.body)
