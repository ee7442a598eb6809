"""Leads from a proxy event to one call of a use case, and back.

How a function is written
-------------------------
1. Beside its models (``http/schemas/<thing>.py``) declare the call::

       class RecallBody(Body):                                  # strict: no coercion, unknown fields refused
           query: str = Field(max_length=8000, description="…")

       class RecallView(View):                                  # None is left out of the answer
           hits: list[HitView]

       RECALL = Operation(
           **route("POST", "/v1/users/{user_id}/recall", "recall", tag="recall", scope="chat"),
           summary="Search everything that is not in the pack.",
           body=RecallBody,                                     # the path is exactly the template's
           responses={200: Response("Candidates, best first.", RecallView)},
           codes=("session_not_found",), answers_without_stores=True,
       )

2. In ``functions/<name>/app.py`` bind it and export the handler::

       router = Router("recall", wiring.ports)

       @router.on(RECALL)
       def recall_call(call: Call[Nothing, RecallBody]) -> Answer:
           found = recall(call.user, call.body.command())
           return Answer(200, RecallView.of(found), degraded=found.degraded)

       handler = router.handle

3. Name the function in ``local/openapi/__init__.py``; ``python -m local.openapi`` writes ``docs/openapi.json``.

What the router does before the function is called, in this order: size of the body (413), key or token (401), a
token's user (404), scope (403), ids in the path, query parameters, headers, body (422, or 400 for what cannot be
parsed), the tenant's policy. In bodies use ``str``/``Literal`` rather than enums and ``schemas/fields.py`` for ids,
times, limits and cursors.
``call.idempotency`` is set when the operation is ``idempotent`` and the caller sent a key: pass it into a use case
that commits the record in its own transaction, or wrap the call with ``once(call, work)``. Refusals are raised as
NeveError with a code that the operation declares; anything else becomes 503, 409 or 500 by
``problems.as_refusal``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from neve import observability
from neve.being_erased import meeting_erasures
from neve.correlation import FIELD, correlated
from neve.domain.errors import NeveError
from neve.http.accept import accept
from neve.http.calls import Answer as Answer
from neve.http.calls import Call as Call
from neve.http.calls import again_at_its_rev as again_at_its_rev
from neve.http.calls import answered, with_missing
from neve.http.calls import once as once
from neve.http.calls import once_within as once_within
from neve.http.model_mistakes import is_a_models, mistake
from neve.http.operations import B, Operation, Q
from neve.http.pages import fitting as fitting
from neve.http.problems import CONTENT_TYPE, PROBLEMS, as_refusal, problem_body
from neve.http.request import Request
from neve.ports.engines import Ports
from neve.readable_table import ROWS_UNREADABLE, meeting_unreadable_rows

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
DEGRADED = "X-Neve-Degraded"

Run = Callable[[Call[Q, B]], Answer]


class Router:
    """The calls of one function."""

    def __init__(self, name: str, ports: Callable[[], Ports]) -> None:
        """``ports`` gives the process's engines at each call."""
        self.name = name
        self._ports = ports
        self._bound: dict[tuple[str, str], tuple[Operation[Any, Any], Run[Any, Any]]] = {}

    @property
    def operations(self) -> list[Operation[Any, Any]]:
        return [operation for operation, _ in self._bound.values()]

    def on(self, operation: Operation[Q, B]) -> Callable[[Run[Q, B]], Run[Q, B]]:
        """Bind a function to a declared call."""

        def bind(run: Run[Q, B]) -> Run[Q, B]:
            self._bound[operation.method, operation.path] = (operation, run)
            return run

        return bind

    def handle(self, event: Mapping[str, Any], _context: object) -> dict[str, Any]:
        """Handle a proxy integration's event, for Lambda. Never raises."""
        started = time.perf_counter()
        request = Request(event)
        operation_id, code, unreadable = "none", None, list[str]()
        try:
            operation, run = self._find(request)
            operation_id = operation.id
            with correlated({FIELD: request.request_id}), meeting_unreadable_rows() as unreadable:
                with meeting_erasures() as erasing:
                    answer = self._answer(request, operation, run)
                missing = [*([ROWS_UNREADABLE] if unreadable else []), *erasing]
                response = _reply(with_missing(answer, missing) if missing else answer, request.request_id)
        except Exception as error:
            refusal = as_refusal(error, unreadable=bool(unreadable))
            code = refusal.code
            if PROBLEMS[code].status >= 500:
                observability.failed(operation_id, request.request_id, error)
            observability.emit_metrics(self.name, refusal.metrics)
            response = _refusal(refusal, request.request_id)
        elapsed_ms = round((time.perf_counter() - started) * 1000, 1)
        degraded = response["headers"].get(DEGRADED, "")
        status = response["statusCode"]
        observability.request_completed(operation_id, request.request_id, status, code, elapsed_ms, degraded)
        return response

    def _answer(self, request: Request, operation: Operation[Any, Any], run: Run[Any, Any]) -> Answer:
        try:
            call = accept(self._ports(), request, operation)
        except NeveError as error:
            if not (operation.by_model and is_a_models(error)):
                raise
            return Answer(body=mistake(error.errors))
        return answered(run, operation, call)

    def _find(self, request: Request) -> tuple[Operation[Any, Any], Run[Any, Any]]:
        """Find the call of a method and path. A HEAD is answered as the GET that it asks about; the gateway or server
        leaves its body out."""
        method = "GET" if request.method == "HEAD" else request.method
        try:
            return self._bound[method, request.resource]
        except KeyError:
            raise NeveError("route_not_found", f"No route for {request.method} {request.resource}.") from None


def _reply(answer: Answer, request_id: str) -> dict[str, Any]:
    headers = {"X-Request-Id": request_id, "Cache-Control": "no-store"}
    text = ""
    if answer.text is not None:
        headers["Content-Type"], text = TEXT, answer.text
    elif answer.body is not None:
        headers["Content-Type"], text = JSON, answer.content
    if answer.degraded:
        headers[DEGRADED] = ", ".join(answer.degraded)
    return _proxy(answer.status, headers | dict(answer.headers), text)


def _refusal(refusal: NeveError, request_id: str) -> dict[str, Any]:
    headers = {"X-Request-Id": request_id, "Cache-Control": "no-store", "Content-Type": CONTENT_TYPE}
    if refusal.retry_after_s is not None:
        headers["Retry-After"] = str(refusal.retry_after_s)
    body = problem_body(refusal.code, refusal.detail, request_id, refusal.errors)
    return _proxy(body["status"], headers, json.dumps(body, ensure_ascii=False, separators=(",", ":")))


def _proxy(status: int, headers: dict[str, str], text: str) -> dict[str, Any]:
    return {"statusCode": status, "headers": headers, "body": text, "isBase64Encoded": False}
