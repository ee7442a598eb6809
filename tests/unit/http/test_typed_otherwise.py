"""What is the same to whoever reads it, and other bytes: it is found by both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from functions.records.app import router as records
from neve.http.schemas.compile.context import ToolOutputBody
from neve.http.schemas.recall.recall import FiltersBody
from neve.http.schemas.recall.tools import SearchKnowledgeArguments
from neve.http.schemas.tenants.usage import ReportUsageBody
from tests.unit.api_world import Api, installed
from tests.unit.world import World

USER = "/v1/users/{user_id}"
COMPOSED, TYPED = "caf\u00e9", "cafe\u0301"
SPACED = (" red boat", "red boat ", "red  boat", "red\u00a0boat", "red\nboat")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for made in installed(World.make(tmp_path)):
        made.open()
        yield made


def ask(method: str, path: str, body: Any = None, **more: Any) -> Any:
    reply = Api(records).call(method, f"{USER}{path}", body, user_id="ann", **more)
    assert reply.status < 300, reply.text
    return reply.json


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("asked", [COMPOSED, TYPED], ids=["composed", "typed"])
@pytest.mark.parametrize("kept", [COMPOSED, TYPED], ids=["composed", "typed"])
def test_a_tag_and_a_group_are_found_however_their_accents_were_typed(kept: str, asked: str) -> None:
    memory = ask("POST", "/memories", {"text": "Likes it there.", "tags": [kept], "group": kept})
    for name in ("tag", "group"):
        found = ask("GET", "/memories", query=f"{name}={quote(asked)}")["memories"]
        assert [row["id"] for row in found] == [memory["id"]]
    assert (memory["tags"], memory["group"]) == ([COMPOSED], COMPOSED)
    document = ask("PUT", "/documents", {"text": "Likes it there.", "tags": [kept, asked]}, query="path=/a")
    assert document["tags"] == [COMPOSED]


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("asked", ["red boat", *SPACED])
@pytest.mark.parametrize("kept", ["red boat", *SPACED])
def test_a_tag_and_a_group_are_found_however_they_were_spaced(kept: str, asked: str) -> None:
    memory = ask("POST", "/memories", {"text": "Likes it there.", "tags": [kept, asked], "group": kept, "label": kept})
    assert (memory["tags"], memory["group"], memory["label"]) == (["red boat"], "red boat", "red boat")
    for name in ("tag", "group"):
        found = ask("GET", "/memories", query=f"{name}={quote(asked)}")["memories"]
        assert [row["id"] for row in found] == [memory["id"]]
    document = ask("PUT", "/documents", {"text": "x", "tags": [kept], "group": kept, "kind": kept}, query="path=/a")
    assert (document["tags"], document["group"], document["kind"]) == (["red boat"], "red boat", "red boat")
    assert "group" not in ask("PUT", "/documents", {"group": " "}, query="path=/a"), "blank is as good as empty"


def test_no_part_of_a_prompt_is_lost_to_one_of_almost_its_name() -> None:
    parts = {"static": "a", " static": "b"}
    given = {"session_id": "s1", "pack_version": 1, "model": "m", "usage": {"input": 1, "output": 1}}
    assert ReportUsageBody.model_validate({**given, "prefix_sha256": parts}).prefix_sha256 == parts


def test_the_name_of_a_tools_output_ends_no_line_of_the_prompt() -> None:
    assert ToolOutputBody(name=" read\n[write] ", content="x").name == "read [write]"


@pytest.mark.parametrize(
    ("asked", "kept"), [(TYPED, COMPOSED), *((one, "red boat") for one in SPACED)], ids=["typed", *SPACED]
)
def test_a_search_asks_for_a_tag_as_it_is_kept(asked: str, kept: str) -> None:
    filters = FiltersBody(tags=[asked], group=asked)
    assert (filters.tags, filters.group) == ([kept], kept)
    assert SearchKnowledgeArguments(query="x", tags=[asked]).tags == [kept]


@pytest.mark.usefixtures("world")
def test_a_mark_of_how_a_file_is_encoded_is_no_part_of_its_text() -> None:
    text = "# Bees\n\nThree hives."
    headers = {"Content-Type": "text/markdown"}
    marked = ask("PUT", "/documents", query="path=/a", raw="\ufeff" + text, headers=headers)
    assert (marked["text"], marked["name"], marked["summary"]) == (text, "Bees", "Three hives.")
