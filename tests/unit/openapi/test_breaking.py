"""The rules of what breaks: for each one a change that is found and one that is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from local.openapi import RELEASED, TARGET
from local.openapi.breaking import breaking_changes, main

Json = dict[str, Any]


def api() -> Json:
    """One call with something of everything."""
    sent = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^a"},
            "free": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
            "any": {"type": "integer"},
            "kind": {"$ref": "#/components/schemas/Kind"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 9},
            "content": {
                "anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/components/schemas/Block"}}]
            },
        },
        "required": ["text"],
    }
    given = {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "at": {"type": "string", "format": "date-time"},
            "kind": {"$ref": "#/components/schemas/Kind"},
            "count": {"type": "integer"},
            "blocks": {"type": "array", "items": {"$ref": "#/components/schemas/Shown"}},
            "one": {"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/Shown"}]},
            "scores": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        "required": ["id", "kind"],
    }
    block = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"type": {"type": "string", "const": "text"}, "text": {"type": "string"}},
        "required": ["type", "text"],
    }
    shown = {"type": "object", "properties": {"text": {"type": "string"}, "in": {"$ref": "#/components/schemas/Shown"}}}
    call = {
        "operationId": "doThings",
        "x-neve-scope": "chat",
        "parameters": [
            {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}},
            {"name": "limit", "in": "query", "required": False, "schema": {"type": "integer", "default": 5}},
        ],
        "requestBody": {
            "required": False,
            "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Sent"}},
                "text/markdown": {"schema": {"type": "string"}},
            },
        },
        "responses": {
            "200": {
                "headers": {"ETag": {"schema": {"type": "string"}}},
                "content": {
                    "application/json": {"schema": {"$ref": "#/components/schemas/Given"}},
                    "text/plain": {"schema": {"type": "string"}},
                },
            },
            "202": {"content": {}},
            "409": {"content": {"application/problem+json": {"schema": {"type": "object"}}}},
        },
    }
    kinds = {"type": "string", "enum": ["a", "b"]}
    schemas = {"Sent": sent, "Given": given, "Block": block, "Shown": shown, "Kind": deepcopy(kinds)}
    return {
        "paths": {"/things/{id}": {"post": call}, "/things": {"get": deepcopy(call)}},
        "components": {"schemas": schemas},
    }


def the_call(document: Json) -> Json:
    found: Json = document["paths"]["/things/{id}"]["post"]
    return found


def schema(document: Json, name: str) -> Json:
    found: Json = document["components"]["schemas"][name]
    return found


def sent(document: Json, field: str) -> Json:
    found: Json = schema(document, "Sent")["properties"][field]
    return found


def given(document: Json, field: str) -> Json:
    found: Json = schema(document, "Given")["properties"][field]
    return found


Change = Callable[[Json], object]
BREAKS: list[tuple[str, Change]] = [
    ("GET /things is gone", lambda d: d["paths"].pop("/things")),
    ("POST /things/{id} is gone", lambda d: d["paths"]["/things/{id}"].pop("post")),
    ("POST /things/{id} is no longer called doThings", lambda d: the_call(d).update(operationId="do")),
    ("POST /things/{id} needs another scope, admin", lambda d: the_call(d).update({"x-neve-scope": "admin"})),
    # parameters
    ("query.limit is gone", lambda d: the_call(d)["parameters"].pop()),
    ("query.limit is required now", lambda d: the_call(d)["parameters"][1].update(required=True)),
    ("query.limit no longer takes integer", lambda d: the_call(d)["parameters"][1]["schema"].update(type="string")),
    ("query.limit has another default", lambda d: the_call(d)["parameters"][1]["schema"].update(default=9)),
    (
        "query.more is new and required",
        lambda d: the_call(d)["parameters"].append({"name": "more", "in": "query", "required": True, "schema": {}}),
    ),
    # the body
    ("takes no body any more", lambda d: the_call(d).pop("requestBody")),
    ("the body is required now", lambda d: the_call(d)["requestBody"].update(required=True)),
    ("the body may no longer be text/markdown", lambda d: the_call(d)["requestBody"]["content"].pop("text/markdown")),
    ("body.text is gone", lambda d: schema(d, "Sent")["properties"].pop("text")),
    ("body.limit is required now", lambda d: schema(d, "Sent")["required"].append("limit")),
    (
        "body.more is new and required",
        lambda d: (schema(d, "Sent")["properties"].update(more={}), schema(d, "Sent")["required"].append("more")),
    ),
    ("body.text no longer takes string", lambda d: sent(d, "text").update(type="integer")),
    ('body.kind no longer takes "b"', lambda d: schema(d, "Kind")["enum"].remove("b")),
    ("body.free takes some values only", lambda d: sent(d, "free").update(enum=["a"])),
    ("body.text has another pattern", lambda d: sent(d, "text").update(pattern="^b")),
    ("body.free has another format", lambda d: sent(d, "free").update(format="date")),
    ("body.text has a higher minLength", lambda d: sent(d, "text").update(minLength=2)),
    ("body.free has a higher minLength", lambda d: sent(d, "free").update(minLength=1)),
    ("body.limit has a lower maximum", lambda d: sent(d, "limit").update(maximum=8)),
    ("body.any has a higher minimum", lambda d: sent(d, "any").update(minimum=0)),
    ("body.limit has another default", lambda d: sent(d, "limit").update(default=6)),
    ("body.tags has a lower maxItems", lambda d: sent(d, "tags").update(maxItems=8)),
    ("body.tags[] no longer takes string", lambda d: sent(d, "tags").update(items={"type": "integer"})),
    ("body.content no longer takes array", lambda d: sent(d, "content")["anyOf"].pop()),
    ("body.content no longer takes array", lambda d: schema(d, "Block")["required"].append("more")),
    # answers
    ("200 is not answered any more", lambda d: the_call(d)["responses"].pop("200")),
    ("200 is no longer text/plain", lambda d: the_call(d)["responses"]["200"]["content"].pop("text/plain")),
    ("200 has no header ETag any more", lambda d: the_call(d)["responses"]["200"]["headers"].pop("ETag")),
    ("200.count is gone", lambda d: schema(d, "Given")["properties"].pop("count")),
    ("200.kind may be absent now", lambda d: schema(d, "Given")["required"].remove("kind")),
    ("200.count may now be number", lambda d: given(d, "count").update(type="number")),
    ("200.id may now be null", lambda d: given(d, "id").update(type=["string", "null"])),
    ("200.at has another format", lambda d: given(d, "at").pop("format")),
    ("200.kind is no enum any more", lambda d: schema(d, "Kind").pop("enum")),
    ("200.one may now be boolean", lambda d: given(d, "one")["oneOf"].append({"type": "boolean"})),
    ("200.blocks[].text is gone", lambda d: schema(d, "Shown")["properties"].pop("text")),
    ("200.scores.* may now be string", lambda d: given(d, "scores").update(additionalProperties={"type": "string"})),
]
HOLDS: list[tuple[str, Change]] = [
    ("nothing", lambda _: None),
    ("a new call", lambda d: d["paths"].update({"/more": {"get": {"operationId": "more", "responses": {}}}})),
    ("a call without a key", lambda d: the_call(d).pop("x-neve-scope")),
    ("another summary", lambda d: the_call(d).update(summary="Does things.")),
    (
        "a new optional parameter",
        lambda d: the_call(d)["parameters"].append({"name": "m", "in": "query", "schema": {}}),
    ),
    ("a new kind of body", lambda d: the_call(d)["requestBody"]["content"].update({"text/plain": {"schema": {}}})),
    ("a new optional field", lambda d: schema(d, "Sent")["properties"].update(more={"type": "string"})),
    ("a field that may be left out", lambda d: schema(d, "Sent")["required"].clear()),
    ("more types in a request", lambda d: sent(d, "text").update(type=["string", "integer"])),
    ("a number for an integer in a request", lambda d: sent(d, "any").update(type="number")),
    ("one more value", lambda d: schema(d, "Kind")["enum"].append("c")),
    ("no pattern any more", lambda d: sent(d, "text").pop("pattern")),
    ("wider bounds", lambda d: (sent(d, "text").update(minLength=0, maxLength=10), sent(d, "limit").pop("minimum"))),
    ("a least of nothing", lambda d: sent(d, "tags").update(minItems=0)),
    ("one more kind of content", lambda d: sent(d, "content")["anyOf"].append({"type": "object"})),
    ("a field of a block that may be left out", lambda d: schema(d, "Block")["required"].remove("text")),
    ("a new field of an answer", lambda d: schema(d, "Given")["properties"].update(more={"type": "string"})),
    ("a field that is always there now", lambda d: schema(d, "Given")["required"].append("count")),
    ("a format where there was none", lambda d: given(d, "id").update(format="uuid")),
    ("one kind less in an answer", lambda d: given(d, "one")["oneOf"].pop()),
    ("one status more", lambda d: the_call(d)["responses"].update({"201": {}})),
    ("another problem", lambda d: the_call(d)["responses"].pop("409")),
]


@pytest.mark.parametrize(("sentence", "change"), BREAKS, ids=[name for name, _ in BREAKS])
def test_what_breaks_is_told(sentence: str, change: Change) -> None:
    changed = api()
    change(changed)
    assert any(one.endswith(sentence) for one in breaking_changes(api(), changed)), breaking_changes(api(), changed)


@pytest.mark.parametrize(("_name", "change"), HOLDS, ids=[name for name, _ in HOLDS])
def test_what_breaks_nothing_is_not_told(_name: str, change: Change) -> None:
    changed = api()
    change(changed)
    assert breaking_changes(api(), changed) == []


def test_nothing_that_was_released_breaks() -> None:
    released, current = (json.loads(path.read_text(encoding="utf-8")) for path in (RELEASED, TARGET))
    assert breaking_changes(released, current) == []


def test_the_command_ends_with_what_it_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name, path in (("RELEASED", "released.json"), ("TARGET", "current.json")):
        (tmp_path / path).write_text(json.dumps(api()))
        monkeypatch.setattr(f"local.openapi.breaking.{name}", tmp_path / path)
    assert (main(), capsys.readouterr().out) == (0, "nothing that was released breaks\n")
    changed = api()
    changed["paths"].pop("/things")
    (tmp_path / "current.json").write_text(json.dumps(changed))
    assert (main(), capsys.readouterr().out) == (1, "GET /things is gone\n")
