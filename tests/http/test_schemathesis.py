"""Requests made up from the API's own description: no server error, no undocumented status, no undocumented body.

Every call is tried twice: with ids made up like everything else, which mostly leads to 404, and with those of a user, a
session and a memory that are there."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import CHECKS, not_a_server_error

from local.api_client import ApiClient
from local.openapi import TARGET
from tests.http.driving.stage import Stage

pytestmark = pytest.mark.controls

SCHEMA = schemathesis.openapi.from_path(str(TARGET))
CHECKED = [
    not_a_server_error,
    *CHECKS.get_by_names(
        [
            "status_code_conformance",
            "content_type_conformance",
            "response_headers_conformance",
            "response_schema_conformance",
        ]
    ),
]
EXAMPLES = 15


@schemathesis.serializer("application/jsonl")
def json_lines(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """As it is: a text that is rarely JSON lines."""
    return value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")


made_up = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def key(stage: Stage) -> str:
    """Of a tenant of its own: policies are replaced and API keys made here."""
    assert stage.controls is not None
    return stage.controls.new_tenant(f"made-up-{uuid4().hex}")


@pytest.fixture(scope="module")
def existing(stage: Stage, key: str) -> dict[str, str]:
    """Values of path and query parameters that name something."""
    api, user = ApiClient(stage.base_url, key), "ann"
    api.expect(200, "POST", f"/v1/users/{user}/sessions", {"session_id": "s1"})
    said = [{"event_type": "user_message", "content": "I live in Lisbon."}]
    api.expect(201, "POST", f"/v1/users/{user}/sessions/s1/events", {"events": said})
    memory = api.expect(201, "POST", f"/v1/users/{user}/memories", {"text": "Lives in Lisbon.", "kind": "note"})
    job = api.expect(202, "POST", f"/v1/users/{user}/sessions/s1/observe", {})
    found = api.expect(200, "POST", f"/v1/users/{user}/recall", {"query": "Lisbon"})
    api.close()
    return {
        "user_id": user,
        "session_id": "s1",
        "memory_id": memory["id"],
        "job_id": job["id"],
        "recall_id": found["recall_id"],
    }


def check(case: Case[Any], stage: Stage, key: str, checks: list[Any]) -> None:
    if isinstance(case.body, dict) and case.body.get("wait") is True:
        case.body["wait"] = False  # it would poll for seconds
    case.call_and_validate(base_url=stage.base_url, headers={"Authorization": f"Bearer {key}"}, checks=checks)


@SCHEMA.parametrize()
@made_up
def test_made_up_requests(case: Case[Any], stage: Stage, key: str) -> None:
    """And what the description calls wrong is refused."""
    check(case, stage, key, [*CHECKED, *CHECKS.get_by_names(["negative_data_rejection"])])


@SCHEMA.parametrize()
@made_up
def test_made_up_requests_about_what_is_there(
    case: Case[Any], stage: Stage, key: str, existing: dict[str, str]
) -> None:
    if case.method != "DELETE":
        put_in(case.path_parameters, existing)
    put_in(case.query, existing)
    check(case, stage, key, CHECKED)


def put_in(parameters: Any, existing: dict[str, str]) -> None:
    for name in set(parameters or ()) & set(existing):
        parameters[name] = existing[name]
