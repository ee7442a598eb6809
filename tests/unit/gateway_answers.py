"""What API Gateway's own answers have to say, by code: those of the template are compared with it."""

from __future__ import annotations

from typing import Any

from neve.http.problems import PROBLEMS, STORE_RETRY_S, problem_body

GATEWAY_RETRY_S = {"throttled": 1, "store_unavailable": STORE_RETRY_S}


def gateway_body(code: str) -> dict[str, Any]:
    """A response template: the gateway fills in its request id."""
    return problem_body(code, PROBLEMS[code].title + ".", "$context.requestId")
