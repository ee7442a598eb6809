"""An optional field is left out, never null: in a request, in an answer, and in the description of both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, JsonValue

from local import openapi
from neve.domain.errors import NeveError
from neve.http.json_body import NOT_NULL, check_model
from neve.http.model_mistakes import without_nulls
from neve.http.operations import Operation, TextBody
from tests.unit.openapi.test_contract import DOCUMENT, parts

OPERATIONS = openapi.operations()
ANYTHING = {Any, JsonValue}
BODIES = [o for o in OPERATIONS if o.has_body and not issubclass(o.body, TextBody)]


def test_nothing_is_described_as_null() -> None:
    null = [at for at, part in parts(DOCUMENT) if part.get("type") == "null" or "null" in (part.get("enum") or [])]
    assert null == []
    assert [at for at, part in parts(DOCUMENT["components"]["schemas"]) if part.get("default", 0) is None] == []


def optional_fields(model: type[BaseModel], at: str = "") -> Iterator[str]:
    """Paths of fields that may be left out, in the model and in what it is made of."""
    for name, field in model.model_fields.items():
        if field.is_required() or field.annotation in ANYTHING:
            continue
        yield f"{at}{name}"
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from optional_fields(part, f"{at}{name}.")


@pytest.mark.parametrize("operation", BODIES, ids=lambda operation: operation.id)
def test_a_null_is_refused_by_name_and_told_to_be_left_out(operation: Operation[Any, Any]) -> None:
    for path in optional_fields(operation.body):
        if (operation.id, path) == ("retractEvents", "to_seq"):
            continue  # no end is none: tests/http/retraction/test_retract_rows.py
        sent: Any = None
        for name in reversed(path.split(".")):
            sent = {name: sent}
        with pytest.raises(NeveError) as refused:
            check_model(operation.body, sent)
        found = [error.message for error in refused.value.errors if error.field == path]
        assert found == [NOT_NULL], path


def test_an_argument_that_a_model_wrote_as_null_is_one_that_it_left_out() -> None:
    given = {"session_id": None, "arguments": {"query": "tea", "limit": None, "tags": [None]}}
    assert without_nulls(given) == {"session_id": None, "arguments": {"query": "tea", "tags": [None]}}
    others: list[Any] = [{}, [], {"arguments": None}, {"arguments": [None]}]
    for other in others:
        assert without_nulls(other) == other
