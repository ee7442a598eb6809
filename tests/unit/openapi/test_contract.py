"""What clients are generated from: the rules of ``docs/rules/http.md#description``, over the whole description."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from local import openapi

DOCUMENT = json.loads(openapi.TARGET.read_text(encoding="utf-8"))
"""As it is committed: tests/unit/http/test_openapi.py holds it to the operations."""
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
OPERATIONS = [operation for path in DOCUMENT["paths"].values() for operation in path.values()]


def parts(node: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Every object of the description, with its place."""
    if isinstance(node, list):
        for n, part in enumerate(node):
            yield from parts(part, f"{at}/{n}")
    elif isinstance(node, dict):
        yield at, node
        for name, part in node.items():
            yield from parts(part, f"{at}/{name}")


def reachable(nodes: Any) -> set[str]:
    """Names of the schemas that these lead to."""
    found = set[str]()
    waiting = [nodes]
    while waiting:
        for _, part in parts(waiting.pop()):
            name = str(part.get("$ref", "")).rpartition("/")[2]
            if name in SCHEMAS and name not in found:
                found.add(name)
                waiting.append(SCHEMAS[name])
    return found


ASKED = reachable([operation.get("requestBody", {}) for operation in OPERATIONS])
ANSWERED = reachable([[operation["responses"] for operation in OPERATIONS], DOCUMENT["components"]["responses"]])
KEPT_AS_SENT = {"AnswerData", "BoundaryData", "ThinkingBlock", "ToolCallData", "ToolResultData"}
"""Objects of a request that may have members of the caller's own."""


def test_every_schema_is_asked_or_answered_and_no_object_is_both() -> None:
    named = reachable([operation.get("parameters", []) for operation in OPERATIONS])
    assert set(SCHEMAS) == ASKED | ANSWERED | named
    assert [name for name in ASKED & ANSWERED if "properties" in SCHEMAS[name]] == []


def test_an_answer_is_open_and_a_request_is_closed() -> None:
    answered = {name: SCHEMAS[name] for name in ANSWERED}
    assert [at for at, part in parts(answered) if part.get("additionalProperties") is False] == []
    objects = {at for name in ASKED for at, part in parts(SCHEMAS[name], name) if "properties" in part}
    closed = {
        at for name in ASKED for at, part in parts(SCHEMAS[name], name) if part.get("additionalProperties") is False
    }
    assert objects - closed == KEPT_AS_SENT


def test_every_enum_is_a_component_of_its_own() -> None:
    for name, schema in SCHEMAS.items():
        assert "enum" not in schema or set(schema) <= {"enum", "type", "description"}, name
        assert [at for at, part in parts(schema) if "enum" in part and at] == [], name
    assert [at for at, part in parts(DOCUMENT["paths"]) if "enum" in part] == []
    assert {"Priority", "Category", "Trust", "Trigger"} <= set(SCHEMAS)


def test_no_two_enums_of_one_meaning() -> None:
    """Where two have the same values, they mean two things, and are named here."""
    values = Counter(tuple(schema["enum"]) for schema in SCHEMAS.values() if "enum" in schema)
    repeated = {name for name, schema in SCHEMAS.items() if "enum" in schema and values[tuple(schema["enum"])] > 1}
    assert repeated == {"Priority", "Plainness", "Certainty"}


def test_names_are_words_and_none_is_of_a_module() -> None:
    assert [name for name in SCHEMAS if not re.fullmatch(r"([A-Z][a-z0-9]*)+", name)] == []
    ids = [operation["operationId"] for operation in OPERATIONS]
    assert [name for name in ids if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name)] == []


def test_no_two_calls_are_told_apart_by_their_verb_for_reading() -> None:
    """``readDocument`` beside ``getDocument`` are two methods that nobody tells apart."""
    things = Counter(re.sub(r"^(get|read|fetch|load|show)", "", operation["operationId"]) for operation in OPERATIONS)
    assert [thing for thing, n in things.items() if n > 1] == []


def test_what_is_no_json_says_what_it_is() -> None:
    """Generators drop such bodies and answers; whoever writes the method by hand reads it here."""
    contents = [(at, part["content"]) for at, part in parts(DOCUMENT["paths"]) if "content" in part]
    plain = {kind: one["schema"] for _, content in contents for kind, one in content.items() if "json" not in kind[-4:]}
    assert set(plain) == {"application/jsonl", "text/markdown", "text/plain"}
    for kind, schema in plain.items():
        assert (schema["type"], bool(schema["description"])) == ("string", True), kind
    assert plain["application/jsonl"]["x-neve-line"] == {"$ref": "#/components/schemas/ImportLine"}
