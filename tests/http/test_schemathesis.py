"""Requests made up from the API's own description: no server error, no undocumented status, no undocumented body.

Every call is tried twice: with ids made up like everything else, which mostly leads to 404, and with those of a user, a
session and a memory that are there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case
from schemathesis.checks import CHECKS, load_all_checks, not_a_server_error
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.python._constants.orchestrator import make_constants_value_source

from local.api_client import ApiClient
from local.openapi import TARGET
from tests.http.driving.stage import Stage

pytestmark = pytest.mark.controls

SCHEMA = schemathesis.openapi.from_path(str(TARGET))
OPERATIONS = [
    (method.upper(), path) for path, methods in json.loads(TARGET.read_text())["paths"].items() for method in methods
]
SCHEMA.config.checks.negative_data_rejection.expected_statuses += [
    "413",
    "431",
]  # a list, or a parameter, that is far too long
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
Check = Callable[[Case[Any], list[Any]], None]
"""Sends a request and judges its answer by these checks."""


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
    given = [{"event_type": "user_message", "content": "I live in Lisbon."}]
    api.expect(201, "POST", f"/v1/users/{user}/sessions/s1/events", {"events": given})
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


@pytest.fixture(scope="module")
def connection() -> Iterator[requests.Session]:
    """Kept open, and the environment's proxies and passwords are not looked for with every request."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.fixture
def check(stage: Stage, key: str, connection: requests.Session) -> Check:
    def judge(case: Case[Any], checks: list[Any]) -> None:
        if isinstance(case.body, dict) and case.body.get("wait") is True:
            case.body["wait"] = False  # it would poll for seconds
        headers = {"Authorization": f"Bearer {key}"}
        case.call_and_validate(stage.base_url, connection, headers, checks)

    return judge


each_operation = pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=map(" ".join, OPERATIONS))


@each_operation
def test_made_up_requests(method: str, path: str, check: Check) -> None:
    """And what the description calls wrong is refused."""
    checks = [*CHECKED, *CHECKS.get_by_names(["negative_data_rejection"])]
    requests_to(method, path, lambda case: check(case, checks))


@each_operation
def test_made_up_requests_about_what_is_there(method: str, path: str, check: Check, existing: dict[str, str]) -> None:
    def about_what_is_there(case: Case[Any]) -> None:
        if case.method != "DELETE":
            put_in(case.path_parameters, existing)
        put_in(case.query, existing)
        check(case, CHECKED)

    requests_to(method, path, about_what_is_there)


def requests_to(method: str, path: str, judge: Callable[[Case[Any]], None]) -> None:
    """What ``SCHEMA.parametrize()`` makes of a test, but when it runs. It makes most requests up, those at the
    bounds of what the description allows, when tests are collected, which every process of a run does for 16 s."""
    load_all_checks()
    build_operation_test(
        config=SCHEMA.config,
        operation=SCHEMA[path][method],
        test_func=made_up(lambda case: judge(case)),
        given_kwargs={},
        feedback=FeedbackSources(constants_value_source=make_constants_value_source(SCHEMA)),
    )()


def put_in(parameters: Any, existing: dict[str, str]) -> None:
    for name in set(parameters or ()) & set(existing):
        parameters[name] = existing[name]
