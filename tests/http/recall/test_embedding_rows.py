"""Rows of docs/features.md about recall. How rows come to their vectors."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import EMBED_QUEUE, Controls
from tests.http.driving.people import Person, new_memory_id
from tests.http.real_encoder.rubric import plain
from tests.http.recall.asking import NOW


@pytest.mark.controls
def test_a32_a_backlog_is_embedded_in_batches_of_50(user: Person, controls: Controls) -> None:
    with controls.paused("embed"):
        user.bring_in(*[plain(f"User read the novel {new_memory_id(n)}.") for n in range(120)])
        assert {row["embedding_state"] for row in user.memories()} == {"pending"}
    controls.drain()
    assert [row["embedding_state"] for row in user.memories()] == ["ready"] * 120
    assert {row["embedding_model"] for row in user.memories()} == {"fixture-384"}
    batches = [len(call["texts"]) for call in controls.calls("embed", operation="passages")]
    assert sum(batches) == 120
    assert max(batches) <= 50


@pytest.mark.controls
def test_a32_a_busy_provider_is_asked_three_times(user: Person, controls: Controls) -> None:
    controls.fault("embed", "status:429", times=2)
    memory_id = user.remember("User once saw a quetzal.")["id"]
    controls.drain()
    assert user.memory(memory_id)["embedding_state"] == "ready"
    outcomes = [call["outcome"] for call in controls.calls("embed", operation="passages")]
    assert outcomes == ["EmbeddingRetryable", "EmbeddingRetryable", "ok"]


@pytest.mark.controls
def test_a32_missing_credentials_are_tried_once_and_shown(user: Person, api: ApiClient, controls: Controls) -> None:
    controls.fault("embed", "status:403")
    memory_id = user.remember("User's sister once saw a quetzal.")["id"]
    controls.drain()
    assert len(controls.calls("embed", operation="passages")) == 1
    assert user.memory(memory_id)["embedding_state"] == "failed"
    assert user.recalled("quetzal") == [memory_id]
    health = api.expect(200, "GET", "/v1/health")
    assert (health["status"], health["embedder"]["state"]) == ("degraded", "unavailable")
    assert "403" in health["embedder"]["reason"]

    controls.faults()
    with controls.paused("embed"):
        job = api.expect(202, "POST", "/v1/admin/embeddings/drain", {"user_id": user.id})
        assert (job["status"], job["result"]) == ("running", {"queued": 1, "pending": 1})
        assert api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}")["status"] == "running"
    controls.drain()
    ended = api.expect(200, "GET", f"/v1/admin/jobs/{job['id']}")
    assert (ended["status"], ended["result"]) == ("done", {"queued": 1, "pending": 0})
    assert user.memory(memory_id)["embedding_state"] == "ready"
    assert user.recalled("my sibling") == [memory_id]
    assert api.expect(200, "GET", "/v1/health")["embedder"]["state"] == "ready"


@pytest.mark.controls
def test_a32_a_poison_row_ends_in_the_dlq_and_the_others_are_ready(user: Person, controls: Controls) -> None:
    before = controls.queues()[EMBED_QUEUE]["dlq"]
    controls.fault("embed", "error", match="poison")
    with controls.paused("embed"):
        user.bring_in(*[plain(f"User read novel {n}{' of poison' if n == 3 else ''}.") for n in range(10)])
    controls.drain()
    assert controls.queues()[EMBED_QUEUE]["dlq"] - before == 1
    states = {row["text"]: row["embedding_state"] for row in user.memories()}
    assert states.pop("User read novel 3 of poison.") != "ready"
    assert set(states.values()) == {"ready"}
    assert len(states) == 9


@pytest.mark.controls
def test_a32_the_sweep_finds_a_lost_message(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    controls.fault("embed", "error")
    memory_id = user.remember("User once saw a quetzal.")["id"]
    controls.drain()
    assert user.memory(memory_id)["embedding_state"] == "pending"
    controls.faults()
    controls.advance(9 * 60)
    controls.run("sweep")
    controls.drain()
    assert user.memory(memory_id)["embedding_state"] == "pending", "pending for less than 10 minutes"
    controls.advance(2 * 60)
    controls.run("sweep")
    controls.drain()
    assert user.memory(memory_id)["embedding_state"] == "ready"


@pytest.mark.controls
def test_a32_the_sweep_queues_a_row_once_in_five_minutes(user: Person, controls: Controls) -> None:
    """While the provider is down, and the sweep runs every minute. Each queueing ends in the DLQ: it is not retried."""

    def swept() -> tuple[int, bool]:
        """How many messages reached the DLQ, and whether the embedder was asked."""
        controls.forget_calls()
        before = controls.queues()[EMBED_QUEUE]["dlq"]
        controls.run("sweep")
        controls.drain()
        return controls.queues()[EMBED_QUEUE]["dlq"] - before, bool(controls.calls("embed", operation="passages"))

    controls.freeze(NOW)
    controls.fault("embed", "error")
    memory_id = user.remember("User once saw a quetzal.")["id"]
    controls.drain()
    controls.advance(11 * 60)
    assert swept() == (1, True)
    for _ in range(4):
        controls.advance(60)
        assert swept() == (0, False)
    controls.advance(59)
    assert swept() == (0, False), "4 min 59 s after it was queued"
    controls.advance(1)
    assert swept() == (1, True), "5 minutes after it was queued"
    assert user.memory(memory_id)["embedding_state"] == "pending"
    controls.faults()
    controls.advance(299)
    assert swept() == (0, False), "the cooldown starts over with each queueing"
    controls.advance(1)
    assert swept() == (0, True)
    assert user.memory(memory_id)["embedding_state"] == "ready"
    assert user.recalled("what did I see of a quetzal") == [memory_id]


@pytest.mark.live
def test_a33_identical_text_is_embedded_once_a_user(person: Callable[[ApiClient], Person], api: ApiClient) -> None:
    someone, other = person(api), person(api)

    def embedded(one: Person) -> int:
        return int(one.expect(200, "GET", "/stats")["usage"]["embedded_texts"])

    for _ in range(2):
        someone.remember("User once saw a quetzal.")
        someone.settle()
        assert embedded(someone) == 1
    assert {row["embedding_state"] for row in someone.memories()} == {"ready"}
    assert embedded(other) == 0
    other.remember("User once saw a quetzal.")
    other.settle()
    assert embedded(other) == 1
