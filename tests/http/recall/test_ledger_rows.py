"""Rows of docs/features.md about recall. The ledger of recalls, and how much one looks at."""

from __future__ import annotations

import pytest

from local.controls.fixture_embedder import similar_pair
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person
from tests.http.real_encoder.rubric import plain
from tests.http.recall.asking import DAY, NOW, call_tool, components


@pytest.mark.controls
def test_c33_a_recall_is_recorded_without_its_words(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    memory_id = user.remember("User's sister lives in Reykjavik.")["id"]
    below = user.remember(similar_pair(0.69)[0])["id"]
    controls.drain()
    marker = "xylothecae"
    asked: Json = {
        "query": f"Reykjavik {marker}",
        "question": f"sibling vehicle {marker}",
        "threshold": 0.75,
        "mode": "tool",
    }
    answer = user.recall(**asked)
    controls.drain()
    record = user.expect(200, "GET", f"/recalls/{answer['recall_id']}")
    assert record["at"] == "2026-06-01T12:00:00.000Z"
    assert (record["mode"], record["limit"], record["result_state"]) == ("tool", 8, answer["result_state"])
    assert {name: leg["status"] for name, leg in record["legs"].items()} == {
        "lexical": "complete",
        "vector": "complete",
    }
    by_id = {hit["id"]: hit for hit in record["hits"]}
    assert by_id[memory_id]["outcome"] == "returned"
    assert by_id[memory_id]["components"] == components(answer)[memory_id]
    assert by_id[memory_id]["rank"] == 1
    assert by_id[below]["outcome"] == "below_threshold"
    assert by_id[below]["found"]["vector"] == pytest.approx(0.39 * (2 / 3) ** 0.5, abs=1e-3)
    assert controls.files_with(marker) == []
    assert controls.files_with("lives in Reykjavik") != [], "the search must be able to find what is there"

    again, other = user.recall(**asked), user.recall(f"Reykjavik {marker}x", mode="tool")
    hashes = [user.expect(200, "GET", f"/recalls/{one['recall_id']}")["query_hash"] for one in (answer, again, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert marker not in str(record)


@pytest.mark.controls
def test_c33_the_ledger_is_kept_90_days(user: Person, controls: Controls) -> None:
    controls.freeze(NOW)
    recall_id = user.recall("quetzal")["recall_id"]
    for days, status in ((89.99, 200), (90.01, 404)):
        at = {"X-Test-Now": (NOW + days * DAY).isoformat()}
        assert user.call("GET", f"/recalls/{recall_id}", headers=at).status == status
        listed = user.expect(200, "GET", "/recalls", headers=at)["recalls"]
        assert [row["id"] for row in listed] == ([recall_id] if status == 200 else [])


@pytest.mark.live
def test_c34_the_recalls_of_a_memory_can_be_traced(user: Person) -> None:
    remembered = user.remember("User once saw a quetzal.")["id"]
    never = user.remember("User collects harpsichords.")["id"]
    answer = user.expect(200, "GET", f"/memories/{remembered}/trace")
    assert [one["id"] for one in answer.pop("history")] == [remembered]
    assert answer == {
        "memory_id": remembered,
        "recalls_examined": 0,
        "surfaced": [],
        "summary": "Never recalled: there was no recall yet.",
        "packs": [],
        "more_packs": False,
    }
    by_prompt, by_tool = user.recall("I once saw a quetzal."), call_tool(user, query="quetzal")
    user.recall("harpsichord", exclude_ids=[never])
    trace = user.expect(200, "GET", f"/memories/{remembered}/trace")
    assert trace["recalls_examined"] == 3
    assert [(one["recall_id"], one["mode"]) for one in trace["surfaced"]] == [
        (by_tool["recall_id"], "tool"),
        (by_prompt["recall_id"], "prompt"),
    ]
    assert [one["rank"] for one in trace["surfaced"]] == [1, 1]
    assert trace["surfaced"][1]["score"] == by_prompt["hits"][0]["score"]
    assert user.expect(200, "GET", f"/memories/{never}/trace")["surfaced"] == []
    assert "Never recalled" in user.expect(200, "GET", f"/memories/{never}/trace")["summary"]


@pytest.mark.live
def test_b50_the_answer_does_not_grow_with_the_memory(user: Person) -> None:
    """800 memories that all match: what comes back, and what is looked at, is bounded by k. How long it takes among
    many more is measured by ``evals.bench.many_memories``. No call of this test is long, however slow the machine."""
    for first in range(0, 800, 200):
        user.bring_in(*[plain(f"User paddled kayak number {first + n}.") for n in range(200)])
    user.settle()
    for k in (5, 50):
        answer = user.recall("kayak", limit=k, sources=["memory"], mode="tool")
        assert len(answer["hits"]) == k
        assert {leg["depth"] for leg in answer["legs"].values()} == {30}
        record = user.expect(200, "GET", f"/recalls/{answer['recall_id']}")
        assert len(record["hits"]) <= 4 * max(30, 2 * k) + 200
    [best, *_] = user.recall("kayak 721", legs=["lexical"])["hits"]
    assert best["text"] == "User paddled kayak number 721."
