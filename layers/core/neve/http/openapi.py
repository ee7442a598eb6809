"""OpenAPI 3.1 of a list of operations. Nothing is described twice: schemas come from the models, errors from the
problem table, parameters from the path and the query model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import neve
from neve.domain.ids import IDENTIFIER
from neve.http.openapi_schemas import REF, Json, Names, component_schemas
from neve.http.operations import Operation, Response, TextBody
from neve.http.problems import CONTENT_TYPE, PROBLEMS, Problem, problem_body
from neve.http.schemas.fields import PATH_IDS

JSON = "application/json"
MARKDOWN = "text/markdown"
AnyOperation = Operation[Any, Any]

_RETRY = (409, 429, 503)
_EXAMPLE_ID = "5f1c2e1e-9a51-4c6e-8f0e-0d8b1b7e3c55"
_IDEMPOTENCY = (
    "1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets "
    "the first answer again."
)
_IF_MATCH = 'The rev that is to be changed, in quotes (`"3"`), or `*`.'
_IF_NONE_THERE = "`*`: only where there is nothing yet, else 412."
_IF_NONE_MATCH = "Entity tags of the copies held, or `*`; 304 when one of them is current."


def describe(operations: Sequence[AnyOperation]) -> Json:
    """Make the whole description, in the order of paths and methods."""
    ordered = sorted(operations, key=lambda o: (o.path, o.method))
    names, components = component_schemas(ordered)
    paths: Json = {}
    for operation in ordered:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, names)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Neve",
            "version": neve.__version__,
            "summary": "The memory of chat products: observe, freeze, recall.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:8787", "description": "`make run`"}],
        "security": [{"apiKey": []}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in ordered)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key, `nv_…`, with the scopes `chat`, `records`, `admin`, `documents`,"
                    " `tokens`, or an access token of one, a JWT, which may have the scope `self`.",
                }
            },
            "headers": _HEADERS,
            "responses": _refusals(ordered),
        },
    }


_HEADERS: Json = {
    "X-Request-Id": {"description": "Quote it when asking for help.", "required": True, "schema": {"type": "string"}},
    "X-Neve-Degraded": {
        "description": "What the answer had to do without, by commas (`vector:error`). Absent when complete.",
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}},
}


def _operation(operation: AnyOperation, names: Names) -> Json:
    described: Json = {"operationId": operation.id, "tags": [operation.tag], "summary": operation.summary}
    if operation.description:
        described["description"] = operation.description
    if operation.scope is None:
        described["security"] = []
    else:
        described["x-neve-scope"] = operation.scope
        described |= {"x-neve-scopes": list(operation.scopes)} if len(operation.scopes) > 1 else {}
    if parameters := [
        *[{"name": name, "in": "path", "required": True, "schema": _id(name)} for name in operation.path_names],
        *_query_parameters(operation, names),
        *_header_parameters(operation),
    ]:
        described["parameters"] = parameters
    if operation.has_body:
        described["requestBody"] = _request_body(operation, names)
    responses = {str(status): _success(response, names) for status, response in operation.responses.items()}
    refusals = _codes_by_status(operation).items()
    described["responses"] = responses | {
        str(status): {"$ref": f"#/components/responses/{_refusal_name(codes)}"} for status, codes in refusals
    }
    return described


def _id(name: str) -> Json:
    pattern = f"^({PATH_IDS[name]})$" if name in PATH_IDS else f"^{IDENTIFIER}$"
    return {"type": "string", "minLength": 1, "maxLength": 128, "pattern": pattern}


def _query_parameters(operation: AnyOperation, names: Names) -> list[Json]:
    schema = names[operation.query, "validation"]
    required = schema.get("required", [])
    parameters = []
    for name, given in schema.get("properties", {}).items():
        member = dict(given)
        description = member.pop("description", None)
        parameter = {"name": name, "in": "query", "required": name in required, "schema": member}
        parameters.append(parameter | ({"description": description} if description else {}))
    return parameters


def _header_parameters(operation: AnyOperation) -> Iterable[Json]:
    text: Json = {"type": "string"}
    if operation.idempotent:
        key = text | {"minLength": 1, "maxLength": 255, "pattern": "^[\\x21-\\x7e]+$"}
        yield {"name": "Idempotency-Key", "in": "header", "description": _IDEMPOTENCY, "schema": key}
    if operation.if_match:
        yield {"name": "If-Match", "in": "header", "description": _IF_MATCH, "schema": text}
    if operation.if_none_match:
        meant = _IF_NONE_MATCH if operation.method == "GET" else _IF_NONE_THERE
        yield {"name": "If-None-Match", "in": "header", "description": meant, "schema": text}


def _request_body(operation: AnyOperation, names: Names) -> Json:
    if issubclass(operation.body, TextBody):
        return {"required": True, "content": {operation.body.media_type: {"schema": _text_body(operation.body, names)}}}
    required = operation.method == "PUT" or any(field.is_required() for field in operation.body.model_fields.values())
    content: Json = {JSON: {"schema": names[operation.body, "validation"]}}
    if operation.text_field:
        meant = f"The field `{operation.text_field}` alone, in UTF-8: no other field changes."
        content[MARKDOWN] = {"schema": {"type": "string", "description": meant}}
    return {"required": required, "content": content}


def _text_body(body: type[TextBody], names: Names) -> Json:
    described = {"type": "string", "description": " ".join((body.__doc__ or "").split())}
    return described | ({"x-neve-line": names[body.line, "validation"]} if body.line else {})


def _success(response: Response, names: Names) -> Json:
    own = {name: {"description": text, "schema": {"type": "string"}} for name, text in (response.headers or {}).items()}
    shared = {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-Id", "X-Neve-Degraded")}
    content: Json = {}
    if response.model:
        content[JSON] = {"schema": names[response.model, "serialization"]}
    if response.text:
        content[response.text.media_type] = {"schema": {"type": "string", "description": response.text.when}}
    described: Json = {"description": response.description, "headers": shared | own}
    return described | ({"content": content} if content else {})


def _codes_by_status(operation: AnyOperation) -> dict[int, tuple[str, ...]]:
    by_status: dict[int, tuple[str, ...]] = {}
    for code in operation.all_codes:
        status = PROBLEMS[code].status
        by_status[status] = (*by_status.get(status, ()), code)
    return dict(sorted(by_status.items()))


def _refusal_name(codes: tuple[str, ...]) -> str:
    """Name the component of a response that refuses: two operations that refuse alike with a status share one."""
    return ".".join(codes)


def _refusals(operations: Iterable[AnyOperation]) -> Json:
    """Describe every response that some operation refuses with: one a status and set of codes."""
    wanted = {(status, codes) for o in operations for status, codes in _codes_by_status(o).items()}
    return {_refusal_name(codes): _refusal(status, codes) for status, codes in sorted(wanted)}


def _refusal(status: int, codes: tuple[str, ...]) -> Json:
    headers = {"X-Request-Id": {"$ref": "#/components/headers/X-Request-Id"}}
    if status in _RETRY:
        headers["Retry-After"] = {"$ref": "#/components/headers/Retry-After"}
    examples = {code: {"value": problem_body(code, PROBLEMS[code].title + ".", _EXAMPLE_ID)} for code in codes}
    content = {CONTENT_TYPE: {"schema": {"$ref": REF.format(model=Problem.__name__)}, "examples": examples}}
    description = "; ".join(f"`{code}`: {PROBLEMS[code].title}" for code in codes) + "."
    return {"description": description, "headers": headers, "content": content}
