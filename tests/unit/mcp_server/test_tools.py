"""What a model is told of the seven tools: their hints, and that the API takes what is told."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import BaseModel

from neve.domain.records.memories import Category
from neve.http.schemas.recall.forget_tool import ForgetArguments
from neve.http.schemas.recall.write_tools import CorrectArguments, RememberArguments
from neve.usecases.ask.recall.tool import READ_ANY_DOCUMENT, RECALL_MEMORY, SEARCH_CONVERSATION, SEARCH_KNOWLEDGE
from neve_mcp.memory import ITS_NAMES
from neve_mcp.tools import KINDS, TOOLS

READERS = [RECALL_MEMORY, SEARCH_KNOWLEDGE, READ_ANY_DOCUMENT, SEARCH_CONVERSATION]
HINTS = {
    "recall_memory": (True, False),
    "search_knowledge": (True, False),
    "read_document": (True, False),
    "search_conversation": (True, False),
    "remember": (False, False),
    "correct": (False, True),
    "forget": (False, True),
}
"""Whether a tool only reads, and whether it destroys."""


def test_every_tool_has_a_title_and_all_hints() -> None:
    found = {}
    for name, tool in TOOLS.items():
        hints = tool.annotations
        assert tool.title and hints is not None
        assert hints.idempotent_hint is True and hints.open_world_hint is False
        found[name] = (hints.read_only_hint, hints.destructive_hint)
    assert found == HINTS


@pytest.mark.parametrize("schema", READERS, ids=lambda schema: schema["name"])
def test_a_reader_takes_the_arguments_that_the_api_takes(schema: dict[str, Any]) -> None:
    told, known = TOOLS[schema["name"]].input_schema, schema["input_schema"]
    assert told["required"] == known["required"]
    assert {name: _rule(rule) for name, rule in told["properties"].items()} == {
        name: _rule(rule) for name, rule in known["properties"].items()
    }


def _rule(rule: dict[str, Any]) -> dict[str, Any]:
    """Its words are our own, because a model reads all seven here."""
    return {name: value for name, value in rule.items() if name != "description"}


@pytest.mark.parametrize(
    ("name", "body"), [("remember", RememberArguments), ("correct", CorrectArguments), ("forget", ForgetArguments)]
)
def test_a_writer_takes_no_argument_that_the_api_does_not_take(name: str, body: type[BaseModel]) -> None:
    told = TOOLS[name].input_schema
    required = {field for field, about in body.model_fields.items() if about.is_required()}
    assert {ITS_NAMES.get(name, {}).get(one, one) for one in told["properties"]} <= body.model_fields.keys()
    assert set(told.get("required", ())) == required


def test_a_kind_is_a_category_of_the_memory() -> None:
    assert get_args(Category) == KINDS


def test_no_tool_has_an_argument_that_names_a_user_or_a_tenant() -> None:
    names = {name for tool in TOOLS.values() for name in tool.input_schema["properties"]}
    assert not {name for name in names if "user" in name or "tenant" in name}
