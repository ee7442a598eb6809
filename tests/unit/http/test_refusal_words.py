"""What a refused field is told: in the words of JSON, never in those of the language or the library that looked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from local import openapi
from neve.domain.errors import NeveError
from neve.http import json_body
from neve.http.json_body import check_model
from neve.http.openapi import describe
from neve.http.operations import Operation, TextBody
from neve.http.schemas.fields import Filled, Time
from neve.http.schemas.memories.import_line import ImportLine
from neve.http.schemas.tenants.admin import PolicyChange

MERGED = (TextBody, PolicyChange)
"""What is in them is looked at behind their acceptance; of a policy in the words of a whole one."""
OPERATIONS = [one for one in openapi.operations() if one.has_body and not issubclass(one.body, MERGED)]
FOREIGN = re.compile(
    r"dictionary|instance|validation|valid (string|integer|list|number|boolean|tuple|set)|tuple|None|Value"
    r"|List\b|String\b|Input|[a-z]Body|Arguments|Python|pydantic|finite|parse|unable|pattern|\\^"
)
WRONG: tuple[Any, ...] = (None, True, 0, -1, 7.5, 10**15, "", " ", "x", "#", [], [None], {}, {"x": 1}, ["x", "x"])


def refusals(model: Any, body: Any, *, strict: bool = True) -> dict[str, str]:
    """Messages by field."""
    try:
        check_model(model, body, strict=strict)
    except NeveError as refusal:
        return {error.field: error.message for error in refusal.errors}
    return {}


def wrong(schema: Any, components: Any) -> Iterator[Any]:
    """What the schema refuses, and some that it takes, each with one thing changed."""
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    yield from WRONG
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if "maxItems" in schema:
        yield ["x"] * (schema["maxItems"] + 1)
    for other in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from wrong(other, components)
    if "items" in schema:
        yield from ([one] for one in wrong(schema["items"], components))
    if isinstance(schema.get("additionalProperties"), dict):
        yield from ({"x": one} for one in wrong(schema["additionalProperties"], components))
    properties = schema.get("properties", {})
    fixed = {name: part["const"] for name, part in properties.items() if "const" in part}
    for name, part in properties.items():
        yield from (fixed | {name: one} for one in wrong(part, components))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_no_refusal_speaks_of_the_language_it_is_written_in(operation: Operation[Any, Any]) -> None:
    document = describe([operation])
    schema = document["paths"][operation.path][operation.method.lower()]["requestBody"]["content"]["application/json"]
    bodies = [one for one in wrong(schema["schema"], document["components"]["schemas"]) if isinstance(one, dict)]
    messages = {message for body in bodies for message in refusals(operation.body, body).values()}
    assert messages, "nothing was refused"
    assert sorted(message for message in messages if FOREIGN.search(message)) == []


def test_no_refusal_of_a_parameter_does_either() -> None:
    queries = {one.query for one in openapi.operations()}
    given = [str(one) for one in WRONG] + ["x" * 3_000, "9" * 30, "1.5", "٣"]
    messages = {
        message
        for query in queries
        for name in query.model_fields
        for one in given
        for message in refusals(query, {name: one}, strict=False).values()
    }
    assert "must be a whole number" in messages
    assert sorted(message for message in messages if FOREIGN.search(message)) == []


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)
def test_no_field_is_told_to_be_null_where_something_else_is_wrong_in_it(operation: Operation[Any, Any]) -> None:
    document = describe([operation])
    schema = document["paths"][operation.path][operation.method.lower()]["requestBody"]["content"]["application/json"]
    for body in wrong(schema["schema"], document["components"]["schemas"]):
        if isinstance(body, dict):
            found = refusals(operation.body, body)
            assert not [name for name, message in found.items() if "null" in message and _is_above(name, found)], body


def _is_above(name: str, found: dict[str, str]) -> bool:
    return any(other.startswith((f"{name}.", f"{name}[")) for other in found)


def test_a_number_beyond_its_bound_is_told_the_bound_however_long_it_is() -> None:
    """Zeros in front are no part of its size."""
    queries = {one.query for one in openapi.operations()}
    numbers = {
        (query, name)
        for query in queries
        for name in query.model_fields
        if refusals(query, {name: "x"}, strict=False).get(name) == "must be a whole number"
    }
    assert len(numbers) > 8
    for query, name in numbers:
        for sign, words in (("", "must be less than"), ("-", "must be greater than")):
            for digits in ("9" * 12, "9" * 13, "9" * 19, "9" * 5_000, "0" * 30 + "9" * 13):
                assert refusals(query, {name: sign + digits}, strict=False)[name].startswith(words), (name, digits)
        assert name not in refusals(query, {name: "0" * 30 + "1"}, strict=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("5", "must be a whole number, not a string"),
        (5.0, "must be a whole number, without a point or an exponent"),
        (1e300, "must be a whole number, without a point or an exponent"),
        (5.5, "must be a whole number"),
        (True, "must be a whole number"),
        (10**400, "must be less than or equal to 5"),
        (-(10**400), "must be greater than or equal to 1"),
    ],
)
def test_what_looks_like_a_whole_number_is_told_why_it_is_none(given: Any, message: str) -> None:
    assert refusals(ImportLine, {"text": "x", "importance": given}) == {"importance": message}


def test_lengths_are_told_in_the_unit_of_what_was_sent() -> None:
    assert refusals(ImportLine, {"text": "x" * 64_001})["text"] == "must have at most 64000 characters, not 64001"
    assert refusals(ImportLine, {"text": "x", "session_id": ""})["session_id"].startswith("must be 1 to 128 bytes of")
    many = refusals(ImportLine, {"text": "x", "tags": [str(n) for n in range(99)]})
    assert many == {"tags": "must have at most 32 items, not 99"}


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("2026-11-22t12:00:00z", "2026-11-22T12:00:00.000Z"),
        ("2026-11-22T12:00:00.5z", "2026-11-22T12:00:00.500Z"),
        ("2026-11-22t12:00:00+02:00", "2026-11-22T10:00:00.000Z"),
    ],
)
def test_a_time_in_small_letters_is_stored_in_the_one_form(given: str, stored: str) -> None:
    assert TypeAdapter(Time).validate_python(given) == stored
    with pytest.raises(ValidationError):
        TypeAdapter(Time).validate_python(given.replace("t", " ").replace("T", " "))


def test_an_object_is_asked_for_by_that_name() -> None:
    bodies = {one.id: one.body for one in OPERATIONS}
    assert refusals(bodies["callRecallMemory"], {"arguments": []}) == {"arguments": "must be an object"}
    assert refusals(bodies["appendEvents"], {"events": []}) == {"events": "must have at least 1 item, not 0"}


@pytest.mark.parametrize("blank", [" ", "\t\n", "\u200b", "\ufeff\u2060 ", "\u00a0\u3000", "\u200e"])
def test_a_text_that_nobody_can_see_is_blank(blank: str) -> None:
    filled: TypeAdapter[str] = TypeAdapter(Filled)
    with pytest.raises(ValidationError, match="must not be blank"):
        filled.validate_python(blank)
    for text in ("\U0001f469\u200d\U0001f692", "\u200bx", "."):
        assert filled.validate_python(text) == text


class Name(str):
    """Counts how often one of them is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


def test_a_repeated_name_among_very_many_is_found_in_one_look_at_each() -> None:
    """A body of 1 MiB has room for a hundred thousand: comparing each with each took minutes of a function's 29 s."""
    names = [Name(n) for n in range(2_000)]
    with pytest.raises(ValueError, match="The name '1999' occurs twice"):
        json_body._distinct([(name, 0) for name in [*names, Name(1_999)]])
    assert Name.compared < 10 * len(names)
