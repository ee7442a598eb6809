"""A tool's recall has its first candidates read again by a model; a prompt's has not, and nothing of a recall fails
with that model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, user_message

pytestmark = pytest.mark.controls
Tenants = Callable[..., ApiClient]
People = Callable[[ApiClient], Person]
LINES = (
    "The crane of the harbour gets a coat of paint deep=-9.",
    "Harbours smell of tar.",
    "A crane is a bird, too deep=9.",
)


def talk(user: Person, controls: Controls) -> None:
    user.open("s1")
    user.append("s1", *(user_message(line) for line in LINES))
    controls.drain()


def recall(user: Person, mode: str = "tool", **given: object) -> Json:
    question = "Which crane of the harbour gets paint?"
    return user.recall(question, limit=10, mode=mode, threshold=0, sources=["event"], **given)


def seqs(answer: Json) -> list[int]:
    return [hit["seq"] for hit in answer["hits"]]


def read_again(answer: Json) -> list[int]:
    return [hit["seq"] for hit in answer["hits"] if "deep" in hit["components"]]


def test_a_tool_has_the_first_candidates_read_again_and_a_prompt_has_not(user: Person, controls: Controls) -> None:
    talk(user, controls)
    deep, linear, prompt = recall(user), recall(user, rerank="linear"), recall(user, "prompt")
    assert (seqs(linear)[0], seqs(deep)[0]) == (1, 3)
    assert sorted(read_again(deep)) == sorted(seqs(deep)) == sorted(seqs(linear))
    assert read_again(linear) == read_again(prompt) == []
    assert deep["degraded"] == prompt["degraded"] == []


def test_the_policy_says_who_orders_and_the_default_is_deep(
    tenant_with: Tenants, person: People, controls: Controls
) -> None:
    api = tenant_with(rerank="linear")
    user = person(api)
    talk(user, controls)
    assert read_again(recall(user)) == [] != read_again(recall(user, rerank="deep"))
    api.expect(200, "PUT", "/v1/policy", {})
    assert api.expect(200, "GET", "/v1/policy")["in_force"]["rerank"] == "deep"


@pytest.mark.parametrize(
    ("fault", "flag"), [("error", "rerank:error"), ("slow:20000", "rerank:timeout"), ("status:404", "rerank:no_model")]
)
def test_without_that_model_the_order_is_linear_and_that_is_said(
    user: Person, controls: Controls, fault: str, flag: str
) -> None:
    talk(user, controls)
    linear = recall(user, rerank="linear")
    controls.fault("rerank", fault)
    named, by_default = recall(user, rerank="deep"), recall(user)
    controls.faults()
    assert seqs(named) == seqs(by_default) == seqs(linear)
    assert named["degraded"] == [flag]
    assert by_default["degraded"] == ([] if flag == "rerank:no_model" else [flag])
    assert flag in named["transparency"][-1]
