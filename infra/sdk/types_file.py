"""``types.py`` of the SDK: the components of the description as ``TypedDict`` and ``Literal``."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
HEAD = '''"""Requests and answers of the service as types, made of docs/openapi.json by ``make sdk-generate``.

An answer may hold more than its type says."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict
'''
OPTIONS = {
    "CompileOptions": ("CompileBody", {"session_id", "message", "format", "dry_run"}),
    "RecallOptions": ("RecallBody", {"query", "session_id"}),
}
"""What a session's calls take by name: fields of a request, less those that the session fills in."""
AS_THE_PROVIDER = {"tools": {"anyOf": [{"type": "array"}, {"type": "object"}]},
                   "system": {"anyOf": [{"type": "string"}, {"type": "array"}]}}  # fmt: skip
"""Of an option: the types of the provider's own package have to fit."""
LINE = 120
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
WIDTH = 120


def types_file(document: Schema) -> str:
    """The module's text, before it is formatted."""
    parts, schemas = [HEAD], document["components"]["schemas"]
    for name, schema in sorted((schemas | {name: _options(schemas, *of) for name, of in OPTIONS.items()}).items()):
        parts.append("\n".join(_definition(name, schema)))
    return "\n\n".join(parts) + "\n"


def type_of(schema: Schema, prefix: str = "") -> str:
    """The annotation of a schema. ``prefix``: in front of the names of components, such as ``shapes.``."""
    if "$ref" in schema:
        return prefix + str(schema["$ref"]).rpartition("/")[2]
    if "const" in schema or "enum" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        return f"Literal[{', '.join(map(repr, values))}]"
    for several in ("anyOf", "oneOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(type_of(one, prefix) for one in schema[several]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(PLAIN.get(one, "Any") for one in kind)
    if kind == "array":
        return f"list[{type_of(schema.get('items', {}), prefix)}]"
    if kind == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {type_of(more, prefix) if isinstance(more, Mapping) else 'Any'}]"
    return PLAIN.get(str(kind), "Any")


def _definition(name: str, schema: Schema) -> Iterator[str]:
    fields: Schema = schema.get("properties", {})
    if schema.get("type") != "object" or not fields:
        line = f'{name}: TypeAlias = "{type_of(schema)}"'
        if len(line) > LINE and "enum" in schema:  # one value a line; a quoted type may stand on one line alone
            values = [f'    "{value}",' for value in schema["enum"]]
            line = "\n".join([f"{name}: TypeAlias = Literal[", *values, "]"])
        yield line
        return
    required = schema.get("required", ())
    annotated = {field: _annotation(type_of(one), field in required) for field, one in fields.items()}
    if not all(field.isidentifier() and not keyword.iskeyword(field) for field in fields):
        members = ", ".join(f"{field!r}: {annotation!r}" for field, annotation in annotated.items())
        yield f"{name} = TypedDict({name!r}, {{{members}}})"
        return
    yield f"class {name}(TypedDict):"
    yield from _documented(schema.get("description"))
    for field, annotation in annotated.items():
        yield f"    {field}: {annotation}"
        yield from _documented(fields[field].get("description"))


def _options(schemas: Schema, source: str, left_out: set[str]) -> Schema:
    fields = {name: one for name, one in schemas[source]["properties"].items() if name not in left_out}
    own = {
        name: one | {"description": fields.get(name, {}).get("description")} for name, one in AS_THE_PROVIDER.items()
    }
    return {"type": "object", "properties": {name: own.get(name, one) for name, one in fields.items()}}


def _annotation(found: str, required: bool) -> str:
    return found if required else f"NotRequired[{found}]"


def _documented(text: str | None) -> Iterator[str]:
    if text:
        escaped = text.replace("\\", "\\\\").replace('"""', "'''")
        lines = textwrap.wrap(" ".join(escaped.split()), WIDTH - 10) or [""]
        closing = ' """' if lines[-1].endswith('"') else '"""'
        yield textwrap.indent('"""' + "\n".join(lines) + closing, "    ")
