"""JSON schemas of the models that operations name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from neve.http.operations import Operation, TextBody
from neve.http.problems import Problem

REF = "#/components/schemas/{model}"
Json = dict[str, Any]
Names = dict[tuple[type[BaseModel], JsonSchemaMode], Json]


def component_schemas(operations: Iterable[Operation[Any, Any]]) -> tuple[Names, Json]:
    """References by (model, mode), and the components they point to."""
    wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(Problem, "serialization"): None}
    for operation in operations:
        if operation.has_body and not issubclass(operation.body, TextBody):
            wanted[operation.body, "validation"] = None
        for response in operation.responses.values():
            if response.model:
                wanted[response.model, "serialization"] = None
    references, document = models_json_schema(list(wanted), ref_template=REF)
    components = document["$defs"]
    answered = [reference["$ref"] for (_, mode), reference in references.items() if mode == "serialization"]
    for name in _reachable(components, answered):
        components[name] = without_null(components[name])
    named = {key: references[key] for key in wanted}
    return named, {name: tidy(components[name]) for name in sorted(components)}


def _reachable(components: Json, references: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(references)
    while waiting:
        name = waiting.pop().rpartition("/")[2]
        if name not in found:
            found.add(name)
            waiting.extend(_references(components[name]))
    return found


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [ref for part in schema for ref in _references(part)]
    if isinstance(schema, dict):
        own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return own + [ref for part in schema.values() for ref in _references(part)]
    return []


def without_null(schema: Json) -> Json:
    """A view leaves None out, so its optional members are absent rather than null."""
    properties: Json = {}
    optional = set()
    for name, given in schema.get("properties", {}).items():
        choices = given.get("anyOf", [])
        left = [choice for choice in choices if choice != {"type": "null"}]
        if len(left) == len(choices):
            properties[name] = given
            continue
        optional.add(name)
        rest = {key: value for key, value in given.items() if key not in ("anyOf", "default")}
        properties[name] = rest | (left[0] if len(left) == 1 else {"anyOf": left})
    if not properties:
        return schema
    required = [name for name in schema.get("required", []) if name not in optional]
    return {**schema, "properties": properties, "required": required}


def tidy(schema: Any) -> Any:
    """Without the titles that pydantic makes of every field name."""
    if isinstance(schema, list):
        return [tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "properties" in schema:
        members = {name: tidy(part) for name, part in schema["properties"].items()}
        return {key: members if key == "properties" else tidy(v) for key, v in schema.items() if key != "title"}
    return {key: tidy(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)}
