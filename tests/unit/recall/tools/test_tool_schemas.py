"""The tools as providers take them: what was published once keeps its bytes."""

from __future__ import annotations

import hashlib
import json

import pytest

from neve.domain.compile.formats.declared_tools import OfferedTools, callers_tools
from neve.domain.errors import NeveError
from neve.domain.sessions.rendered_blocks import ANSWER_WITH_MEMORY, OWN_TOOLS
from neve.domain.tenants.policy import Policy
from neve.usecases.ask.recall.tool import TOOLS_VERSION, VERSIONS, WITH_WRITERS, offered_version, tools

PUBLISHED = {
    "1": "fde48c4efbf9fea78775215b5ad7b8c0662a46dff8127c1fda5b5affed68e6b0",
    "2": "a9d612ff5ad41ec76d761b0422544ecd792315d18b1422214fbcc4082c2e76ba",
    "3": "4ea19a06c9b55836fa48d7cf0f30a755374e0ed0a481034706e22af01bcfea9d",
    "4": "9ccb64caba74d67ef7e4db68a8387e2a59d04fadc73bb693fd5bfdd0ba63db5a",
    "5": "0c37af23f6dac4cb96f1cdfaf51896e67fb8c8c8dc7569a60c7d9852875e322d",
}
"""sha256 of the answer of each version, as it is sent. A line of this table never changes: another word in a schema is
another version."""


def sent(version: str) -> bytes:
    return json.dumps(tools(version)).encode()


def test_what_was_published_keeps_its_bytes() -> None:
    assert {version: hashlib.sha256(sent(version)).hexdigest() for version in VERSIONS} == PUBLISHED
    assert list(PUBLISHED)[-2:] == [TOOLS_VERSION, WITH_WRITERS]
    assert tools()["version"] == TOOLS_VERSION


def test_both_formats_hold_the_same_tools_in_the_order_of_their_names() -> None:
    for version in VERSIONS:
        found = tools(version)
        names = [tool["name"] for tool in found["anthropic"]]
        assert names == sorted(names) == [tool["function"]["name"] for tool in found["openai"]]
        for anthropic, openai in zip(found["anthropic"], found["openai"], strict=True):
            assert openai["type"] == "function"
            assert openai["function"]["parameters"] == anthropic["input_schema"]
            assert openai["function"]["description"] == anthropic["description"]


def test_prompts_know_every_tool_by_its_name() -> None:
    """What one answered is given back to the model whole."""
    named = {schema["name"] for schemas in VERSIONS.values() for schema in schemas}
    assert named - {"remember", "correct", "forget"} == OWN_TOOLS
    assert named - {"remember", "correct"} == ANSWER_WITH_MEMORY


def test_only_a_policy_that_lets_a_model_write_offers_the_writers() -> None:
    readers = [schema["name"] for schema in VERSIONS[offered_version(Policy())]]
    assert readers == [schema["name"] for schema in VERSIONS[TOOLS_VERSION]]
    for allowed in ("propose", "on"):
        offered = [schema["name"] for schema in VERSIONS[offered_version(Policy(write_tools=allowed))]]
        assert offered == sorted([*readers, "remember", "correct", "forget"])


def test_a_callers_tool_stands_before_a_writer_of_the_same_name() -> None:
    given = callers_tools([{"name": "forget", "input_schema": {"type": "object"}}], "anthropic")
    declared = OfferedTools("anthropic", given, VERSIONS[WITH_WRITERS]).beside(())
    names = [name for tool in declared for name in tool.names]
    assert names.count("forget") == 1 and names[0] == "forget"


def test_no_model_is_asked_for_the_id_of_a_conversation() -> None:
    offered = {tool["name"]: tool["input_schema"]["properties"] for tool in tools()["anthropic"]}
    assert set(offered["search_conversation"]) == {"query"}


def test_every_argument_is_described_and_none_names_a_user_or_a_tenant() -> None:
    for tool in tools(WITH_WRITERS)["anthropic"]:
        schema = tool["input_schema"]
        assert schema["additionalProperties"] is False and set(schema.get("required", ())) <= set(schema["properties"])
        assert all(given["description"] for given in schema["properties"].values())
        assert not {"user_id", "tenant_id", "user", "tenant"} & set(schema["properties"])


def test_a_version_that_there_is_not() -> None:
    with pytest.raises(NeveError, match=r"query\.version: must be one of 1, 2, 3, 4, 5"):
        tools("6")
