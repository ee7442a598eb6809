"""The one table of everything a call can be refused with, and the body that says so (RFC 9457).

OpenAPI's error responses, the gateway's own answers (``GATEWAY``) and every problem body derive from ``PROBLEMS``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field

from neve.domain.cursors import InvalidCursor
from neve.domain.errors import FieldError, NeveError, invalid, lost_to_writer
from neve.ports.errors import Conflict, StoreUnavailable

CONTENT_TYPE = "application/problem+json"
STORE_RETRY_S = 2
"""``Retry-After`` of a 503: a failover of the row store takes a few seconds."""


@dataclass(frozen=True, slots=True)
class ProblemKind:
    status: int
    title: str


PROBLEMS: dict[str, ProblemKind] = {
    "malformed_http": ProblemKind(400, "The request is not well-formed HTTP"),
    "malformed_json": ProblemKind(400, "The body is not well-formed JSON"),
    "unauthorized": ProblemKind(401, "The API key or token is missing, wrong, revoked or of another stage"),
    "token_expired": ProblemKind(401, "The access token has expired"),
    "forbidden": ProblemKind(403, "The API key or token lacks the scope for this call"),
    "write_tools_off": ProblemKind(403, "The policy lets no model write"),
    "route_not_found": ProblemKind(404, "There is no such call"),
    "user_not_found": ProblemKind(404, "There is no such user for this access token"),
    "session_not_found": ProblemKind(404, "There is no such session"),
    "memory_not_found": ProblemKind(404, "There is no such memory"),
    "pack_version_not_found": ProblemKind(404, "There is no such pack version"),
    "document_not_found": ProblemKind(404, "There is no such document"),
    "prompt_not_found": ProblemKind(404, "There is no such prompt, or it is more than seven days old"),
    "recall_not_found": ProblemKind(404, "There is no such recall"),
    "job_not_found": ProblemKind(404, "There is no such job"),
    "inbox_item_not_found": ProblemKind(404, "There is no such inbox item"),
    "key_not_found": ProblemKind(404, "There is no such API key"),
    "webhook_not_found": ProblemKind(404, "There is no such webhook"),
    "upload_not_found": ProblemKind(404, "There is no such upload"),
    "conflict": ProblemKind(409, "Another write came first"),
    "client_id_conflict": ProblemKind(409, "The client_id was used for other content"),
    "retracted": ProblemKind(409, "The client_id is that of a deleted event"),
    "idempotency_in_progress": ProblemKind(409, "The first call with this Idempotency-Key is still running"),
    "erasing": ProblemKind(409, "The user is being erased"),
    "too_many_keys": ProblemKind(409, "Ten API keys are live already"),
    "too_many_webhooks": ProblemKind(409, "Ten webhooks are there already"),
    "last_admin_key": ProblemKind(409, "The last key with the scope admin cannot be revoked"),
    "user_closed": ProblemKind(410, "The user was erased and closed"),
    "session_deleted": ProblemKind(410, "The session was deleted"),
    "static_prefix_version": ProblemKind(409, "The static prefix changed without a higher version"),
    "precondition_failed": ProblemKind(412, "The If-Match precondition does not hold"),
    "payload_too_large": ProblemKind(413, "The body is larger than 1 MiB"),
    "event_too_large": ProblemKind(413, "An event is larger than 256 KiB, or its uploaded text than 4 MiB"),
    "image_too_large": ProblemKind(413, "An image is larger than 3.75 MiB"),
    "validation_failed": ProblemKind(422, "The request cannot be accepted"),
    "invalid_policy": ProblemKind(422, "The policy cannot be accepted"),
    "pii_blocked": ProblemKind(422, "The text contains data that the policy blocks"),
    "budget_infeasible": ProblemKind(422, "The required parts of the prompt exceed its budget"),
    "profile_mismatch": ProblemKind(422, "The stored pack does not fit the budget profile"),
    "idempotency_mismatch": ProblemKind(422, "The Idempotency-Key was used for another body"),
    "head_too_large": ProblemKind(431, "The request line and the headers are larger than 10,240 bytes"),
    "throttled": ProblemKind(429, "Too many requests"),
    "internal": ProblemKind(500, "Internal error"),
    "store_unavailable": ProblemKind(503, "A store is unavailable"),
}

EVERY_CALL = ("payload_too_large", "head_too_large", "validation_failed", "throttled", "internal", "store_unavailable")
WITH_KEY = ("unauthorized", "token_expired", "forbidden")
WITH_USER = ("user_not_found",)
WITH_BODY = ("malformed_json",)
WITH_IDEMPOTENCY = ("idempotency_in_progress", "idempotency_mismatch")

GATEWAY: dict[str, str] = {
    "UNAUTHORIZED": "unauthorized",
    "ACCESS_DENIED": "unauthorized",
    "INVALID_API_KEY": "forbidden",
    "EXPIRED_TOKEN": "unauthorized",
    "MISSING_AUTHENTICATION_TOKEN": "route_not_found",
    "INVALID_SIGNATURE": "route_not_found",
    "RESOURCE_NOT_FOUND": "route_not_found",
    "REQUEST_TOO_LARGE": "payload_too_large",
    "THROTTLED": "throttled",
    "QUOTA_EXCEEDED": "throttled",
    "AUTHORIZER_FAILURE": "store_unavailable",
    "AUTHORIZER_CONFIGURATION_ERROR": "store_unavailable",
    "INTEGRATION_FAILURE": "store_unavailable",
    "INTEGRATION_TIMEOUT": "store_unavailable",
    "DEFAULT_4XX": "validation_failed",
    "DEFAULT_5XX": "internal",
}
"""API Gateway's own answers by response type. A key that the authorizer does not know is ``ACCESS_DENIED``; an
authorizer that fails, because its table does, is ``AUTHORIZER_CONFIGURATION_ERROR`` or ``AUTHORIZER_FAILURE``. For an
unknown route it says ``MISSING_AUTHENTICATION_TOKEN``, or with a Bearer token, which it takes for a broken signature,
``INVALID_SIGNATURE``."""


class FieldProblem(BaseModel):
    field: str = Field(description="Where: `events[3].content`, `query.limit`, `path.user_id`, `header.If-Match`.")
    message: str = Field(description="Why, for a person.")


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str = Field(description="`urn:neve:problem:<code>`.")
    title: str = Field(description="What the code means, the same for every occurrence.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What happened this time.")
    code: str = Field(description="Stable, for programs.")
    request_id: str = Field(description="Also in `X-Request-Id`; quote it when asking for help.")
    errors: list[FieldProblem] | None = Field(default=None, description="The fields at fault, where there are any.")


def type_of(code: str) -> str:
    return f"urn:neve:problem:{code}"


def problem_body(code: str, detail: str, request_id: str, errors: Sequence[FieldError] = ()) -> dict[str, Any]:
    """Give the members of ``Problem`` in their order; ``errors`` is absent when empty."""
    kind = PROBLEMS[code]
    body: dict[str, Any] = {
        "type": type_of(code),
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "code": code,
        "request_id": request_id,
    }
    if errors:
        body["errors"] = [{"field": error.field, "message": error.message} for error in errors]
    return body


def as_refusal(error: Exception, *, unreadable: bool = False) -> NeveError:
    """Turn any exception into what a caller hears of it. A reason that was not written for callers is not repeated to
    them. ``unreadable``: the call met a row that cannot be read. Then what was not found may be there, and a write that
    lost to another may have lost to that row."""
    if unreadable and isinstance(error, NeveError) and (error.code == "conflict" or PROBLEMS[error.code].status == 404):
        error = StoreUnavailable("table", "a row cannot be read")
    if isinstance(error, NeveError) and error.code in PROBLEMS:
        return error
    if isinstance(error, StoreUnavailable):
        detail = "A store did not answer; try again shortly."
        return NeveError("store_unavailable", detail, retry_after_s=STORE_RETRY_S)
    if isinstance(error, Conflict):
        return lost_to_writer("A concurrent write changed the same rows; read again and repeat.")
    if isinstance(error, InvalidCursor):
        return invalid("query.cursor", "is not a cursor of this list")
    return NeveError("internal", "Internal error; the failure was logged under this request id.")
