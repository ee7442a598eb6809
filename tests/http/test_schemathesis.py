"""Requests made up from the API's own description: no server error, no undocumented status, no undocumented body.

Every request is sent twice: with ids made up like everything else, which mostly leads to 404, and with those of a user,
a session and a memory that are there. Once, where it is refused for its body alone, before anything is looked up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import requests

from local.api_client import ApiClient
from local.openapi import TARGET
from tests.http.driving.stage import Stage

if TYPE_CHECKING:
    from schemathesis import Case
    from schemathesis.core.transport import Response

pytestmark = pytest.mark.controls

OPERATIONS = [
    (method.upper(), path) for path, methods in json.loads(TARGET.read_text())["paths"].items() for method in methods
]
ELSEWHERE = ("path.", "query.", "header.")
"""What names of parameters begin with in the errors of an answer."""
Check = Callable[["Case[Any]", list[Any]], "Response"]
"""Sends a request and judges its answer by these checks."""


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
    def judge(case: Case[Any], checks: list[Any]) -> Response:
        if isinstance(case.body, dict) and case.body.get("wait") is True:
            case.body["wait"] = False  # it would poll for seconds
        for name in [name for name in case.headers or () if name.lower().startswith("x-test-")]:
            del case.headers[name]  # taken from our modules' constants: a test control, which answers in its own way
        headers = {"Authorization": f"Bearer {key}"}
        return case.call_and_validate(stage.base_url, connection, headers, checks)

    return judge


@pytest.mark.usefixtures("workers_awake")
@pytest.mark.parametrize(("method", "path"), OPERATIONS, ids=map(" ".join, OPERATIONS))
def test_made_up_requests_and_the_same_about_what_is_there(
    method: str, path: str, check: Check, existing: dict[str, str]
) -> None:
    """And what the description calls wrong is refused, whatever it is about. To make a request up takes as long as to
    send it, so each is sent twice."""
    from tests.http.driving.made_up import CHECKED, REFUSED, requests_to

    def both(case: Case[Any]) -> None:
        if refused_for_its_body(check(case, REFUSED)):
            return
        if case.method != "DELETE" and any([put_in(case.path_parameters, existing), put_in(case.query, existing)]):
            check(case, CHECKED)

    requests_to(method, path, both)


def refused_for_its_body(response: Response) -> bool:
    """Whether each error names a field of the body: had a made-up id been looked up before, it would be a 404."""
    if response.status_code != 422:
        return False
    named = [error["field"] for error in response.json().get("errors", [])]
    return bool(named) and not any(field.startswith(ELSEWHERE) for field in named)


def put_in(parameters: Any, existing: dict[str, str]) -> bool:
    """Whether there was anything to put in."""
    names = set(parameters or ()) & set(existing)
    for name in names:
        parameters[name] = existing[name]
    return bool(names)
