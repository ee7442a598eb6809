"""A tenant that begins to rerank late: what is there is encoded, what comes after it too, and recalls are ordered by it
as far as it is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, user_message

pytestmark = pytest.mark.controls
Tenants = Callable[..., ApiClient]
People = Callable[[ApiClient], Person]
POLICY = "/v1/policy"
LINES = ("The crane of the harbour gets a coat of paint.", "Harbours smell of tar.", "A crane is a bird, too.")


def components(answer: Json) -> list[Json]:
    return [hit["components"] for hit in answer["hits"] if hit["source"] == "event"]


def recall(user: Person) -> Json:
    return user.recall("Which crane of the harbour gets paint?", limit=10, mode="tool", threshold=0, sources=["event"])


def test_what_is_there_is_encoded_when_the_policy_becomes_late(
    tenant_with: Tenants, person: People, controls: Controls
) -> None:
    api = tenant_with()
    user = person(api)
    user.open("s1")
    user.append("s1", *(event for line in LINES for event in (user_message(line), answered("I see."))))
    controls.drain()
    before = components(recall(user))
    assert before and all("rerank" in one and "late" not in one for one in before)
    assert user.expect(200, "GET", "/stats")["embeddings"]["encoded"] == 0

    with controls.paused("embed"):
        api.expect(200, "PUT", POLICY, {"rerank": "late"})
        assert components(recall(user)) == before, "nothing is encoded yet: the linear order"
    controls.drain()
    assert api.expect(200, "GET", POLICY)["encoding_users"] == 0
    stats = user.expect(200, "GET", "/stats")
    assert stats["embeddings"]["encoded"] >= 6 and stats["usage"]["encoded_texts"] >= 6
    after = recall(user)
    assert after["degraded"] == []
    assert all("late" in one for one in components(after))
    assert after["hits"][0]["seq"] == 1

    user.append("s1", user_message("The paint of the crane of the harbour is green."))
    controls.drain()
    newest = next(hit for hit in recall(user)["hits"] if hit["seq"] == 7)
    assert "late" in newest["components"]


def test_a_deleted_memory_takes_its_token_vectors_along(
    tenant_with: Tenants, person: People, controls: Controls
) -> None:
    user = person(tenant_with(rerank="late"))
    memory_id = user.remember("User paints the crane of the harbour.")["id"]
    controls.drain()
    assert user.expect(200, "GET", "/stats")["embeddings"]["encoded"] == 1
    user.expect(200, "DELETE", f"/memories/{memory_id}")
    controls.drain()
    assert user.expect(200, "GET", "/stats")["embeddings"]["encoded"] == 0


def test_a_failing_encoder_is_said_and_the_order_is_linear(
    tenant_with: Tenants, person: People, controls: Controls
) -> None:
    user = person(tenant_with(rerank="late"))
    user.open("s1")
    user.append("s1", *(user_message(line) for line in LINES))
    controls.drain()
    controls.fault("late", "error")
    answer = recall(user)
    controls.faults()
    assert answer["degraded"] == ["late:error"]
    assert answer["hits"] and not any("late" in one for one in components(answer))
