"""JSON schemas of the models that operations name.

Three rules make them the same for every client. What is optional is left out, so nothing is null. A request is closed
and an answer is open: it may get fields. An enum is a component of its own, and so is named in every language: the
alias that ``neve.http.schemas.enums`` or the domain gives it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue, models_json_schema
from pydantic_core import core_schema

from neve.http.operations import Operation, TextBody
from neve.http.problems import Problem

REF = "#/components/schemas/{model}"
Json = dict[str, Any]
Names = dict[tuple[type[BaseModel], JsonSchemaMode], Json]


class _Schemas(GenerateJsonSchema):
    """Pydantic's own, with the first two rules."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if "default" in described and described["default"] is None:
            del described["default"]
        return described

    def field_is_required(self, field: Any, total: bool) -> bool:
        in_a_dict = field["type"] == "typed-dict-field"
        required = field.get("required", total) if in_a_dict else super().field_is_required(field, total)
        return bool(required) and not (self.mode == "serialization" and _may_be_none(field["schema"]))

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return self._opened(super().model_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return self._opened(super().typed_dict_schema(schema))

    def _opened(self, described: JsonSchemaValue) -> JsonSchemaValue:
        if self.mode == "serialization" and described.get("additionalProperties") is False:
            del described["additionalProperties"]
        return described


def _may_be_none(schema: Any) -> bool:
    while schema["type"] != "nullable" and "schema" in schema:
        schema = schema["schema"]
    return bool(schema["type"] == "nullable")


def component_schemas(operations: Iterable[Operation[Any, Any]]) -> tuple[Names, Json]:
    """Make the schemas by (model, mode), and the components that they refer to. The schema of a query is no component:
    it stands whole under its model."""
    wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(Problem, "serialization"): None}
    queries = set[tuple[type[BaseModel], JsonSchemaMode]]()
    for operation in operations:
        queries.add((operation.query, "validation"))
        if operation.has_body and (body := asked(operation.body)):
            wanted[body, "validation"] = None
        for response in operation.responses.values():
            if response.model:
                wanted[response.model, "serialization"] = None
    references, document = models_json_schema([*wanted, *queries], ref_template=REF, schema_generator=_Schemas)
    components = tidy(document["$defs"])
    names: Names = {key: references[key] for key in wanted}
    names |= {key: components.pop(_name(references[key]["$ref"])) for key in queries}
    return names, dict(sorted(components.items()))


def asked(body: type[BaseModel]) -> type[BaseModel] | None:
    """Give the model whose schema describes the body: for a text the model of each line, if a line has one."""
    return body.line if issubclass(body, TextBody) else body


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


def tidy(schema: Any) -> Any:
    """Take out the titles that pydantic makes of every field name."""
    if isinstance(schema, list):
        return [tidy(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "properties" in schema:
        members = {name: tidy(part) for name, part in schema["properties"].items()}
        return {key: members if key == "properties" else tidy(v) for key, v in schema.items() if key != "title"}
    return {key: tidy(value) for key, value in schema.items() if key != "title" or not isinstance(value, str)}
