"""The description of the API: complete, committed, and the same thing that the template and the functions say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from local import openapi
from local.template import read_template
from neve.http.operations import Operation
from neve.http.problems import CONTENT_TYPE, GATEWAY, PROBLEMS
from tests.unit.gateway_answers import GATEWAY_RETRY_S, gateway_body

OPERATIONS = openapi.operations()
DOCUMENT = json.loads(openapi.TARGET.read_text(encoding="utf-8"))
by_id = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)


def described(operation: Operation[Any, Any]) -> Any:
    return DOCUMENT["paths"][operation.path][operation.method.lower()]


def resolved(node: Any) -> Any:
    """What a reference leads to."""
    while "$ref" in node:
        target: Any = DOCUMENT
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = target
    return node


def test_committed_description_is_current() -> None:
    assert openapi.TARGET.read_text(encoding="utf-8") == openapi.text(), "run: python -m local.openapi"


def test_every_operation_is_described_once() -> None:
    ids = Counter(operation.id for operation in OPERATIONS)
    assert [name for name, n in ids.items() if n > 1] == []
    assert len({(operation.method, operation.path) for operation in OPERATIONS}) == len(OPERATIONS)
    assert sum(len(methods) for methods in DOCUMENT["paths"].values()) == len(OPERATIONS)


def test_functions_answer_the_routes_of_the_template() -> None:
    """``/mcp`` is described by its own protocol."""
    routes = {(one.function, one.method, one.path, one.public) for one in read_template().routes if one.path != "/mcp"}
    answered = {
        (name, operation.method, operation.path, operation.scope is None)
        for name in openapi.FUNCTIONS
        for operation in openapi.operations_of(name)
    }
    heads = {(name, "HEAD", path, public) for name, method, path, public in answered if method == "GET"}
    assert routes == answered | heads


@by_id
def test_statuses(operation: Operation[Any, Any]) -> None:
    responses = {status: resolved(answer) for status, answer in described(operation)["responses"].items()}
    expected = {*operation.responses, *(PROBLEMS[code].status for code in operation.all_codes)}
    assert {int(status) for status in responses} == expected
    assert {413, 422, 429, 500, 503} <= expected
    assert ({401, 403} <= expected) is (operation.scope is not None)
    for code in operation.all_codes:
        problem = responses[str(PROBLEMS[code].status)]["content"][CONTENT_TYPE]
        assert problem["examples"][code]["value"]["title"] == PROBLEMS[code].title


@by_id
def test_parameters(operation: Operation[Any, Any]) -> None:
    parameters = described(operation).get("parameters", [])
    assert [p["name"] for p in parameters if p["in"] == "path"] == re.findall(r"{(\w+)}", operation.path)
    query = [p["name"] for p in parameters if p["in"] == "query"]
    assert query == [field.alias or name for name, field in operation.query.model_fields.items()]


@by_id
def test_writes_take_an_idempotency_key(operation: Operation[Any, Any]) -> None:
    assert operation.idempotent is (operation.method != "GET" and operation.id not in WRITES_NOTHING)


WRITES_NOTHING = {
    "recall",
    "callRecallMemory",
    "callSearchConversation",
    "callSearchKnowledge",
    "callReadDocument",
    "compileContext",
    "createToken",
    "createUserToken",
}
"""By POST; a token is kept nowhere."""


def schemas(node: Any) -> Iterator[Any]:
    if isinstance(node, list):
        for part in node:
            yield from schemas(part)
    elif isinstance(node, dict):
        yield node
        for part in node.values():
            yield from schemas(part)


def test_references_lead_somewhere() -> None:
    for node in schemas(DOCUMENT):
        if isinstance(node.get("$ref"), str):
            assert isinstance(resolved(node), dict)


def test_answers_never_hold_null() -> None:
    answered = {
        ref
        for path in DOCUMENT["paths"].values()
        for operation in path.values()
        for response in operation["responses"].values()
        for node in schemas(response)
        if isinstance(ref := node.get("$ref"), str) and "/schemas/" in ref
    }
    seen: set[str] = set()
    while answered - seen:
        name = (answered - seen).pop()
        seen.add(name)
        schema = DOCUMENT["components"]["schemas"][name.rpartition("/")[2]]
        assert {"type": "null"} not in list(schemas(schema)), name
        answered |= {ref for node in schemas(schema) if isinstance(ref := node.get("$ref"), str)}


def test_constraints_are_those_of_json_schema() -> None:
    """Pydantic writes a constraint under its own name where it could not apply it to the type itself."""
    assert not {name for node in schemas(DOCUMENT) for name in node if name in ("ge", "gt", "le", "lt", "multiple_of")}


def test_no_schema_speaks_of_tenants() -> None:
    names = {name for node in schemas(DOCUMENT) for name in node.get("properties", {})}
    assert {name for name in names if "tenant" in name} == {"tenant"}
    told = [schema for schema in schemas(DOCUMENT) if "tenant" in schema.get("properties", {})]
    assert [set(schema["properties"]) >= {"subject", "data"} for schema in told] == [True], "an outgoing event"


def test_gateway_answers_as_the_problem_table_says() -> None:
    responses = read_template().gateway_responses
    assert set(responses) == set(GATEWAY)
    for kind, code in GATEWAY.items():
        response, retry = responses[kind], GATEWAY_RETRY_S.get(code)
        assert json.loads(response.body) == gateway_body(code), kind
        assert response.status == PROBLEMS[code].status
        assert response.headers["Content-Type"] == CONTENT_TYPE
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Request-Id"] == "$context.requestId"
        assert response.headers.get("Retry-After") == (str(retry) if retry else None)
