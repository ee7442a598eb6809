"""Rows of docs/features.md about recall. What a broken leg, store or embedder leaves of a recall."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.other_server import Stores
from tests.http.driving.people import Json, Person, new_memory_id
from tests.http.real_encoder.rubric import plain
from tests.http.recall.asking import components


@pytest.mark.controls
@pytest.mark.parametrize(
    ("target", "flag", "statuses"),
    [
        ("embed", "vector:embed_error", {"lexical": "complete", "vector": "error"}),
        ("vector", "vector:error", {"lexical": "complete", "vector": "error"}),
        ("lexical", "lexical:error", {"lexical": "error", "vector": "complete"}),
    ],
)
def test_a30_a_broken_leg_leaves_the_other(
    twofold: tuple[Person, str, str], controls: Controls, target: str, flag: str, statuses: dict[str, str]
) -> None:
    user, memory_id, query = twofold
    controls.fault(target, "error")
    reply = user.call("POST", "/recall", {"query": query})
    answer = reply.json()
    assert reply.status == 200
    assert (answer["result_state"], [hit["id"] for hit in answer["hits"]]) == ("found", [memory_id])
    assert answer["degraded"] == [flag]
    assert reply.headers["x-neve-degraded"] == flag
    assert {name: leg["status"] for name, leg in answer["legs"].items()} == statuses
    [complete] = [name for name, status in statuses.items() if status == "complete"]
    [ranks] = [set(found) & {"rank_lex", "rank_vec"} for found in components(answer).values()]
    assert ranks == {{"lexical": "rank_lex", "vector": "rank_vec"}[complete]}
    assert any(line.startswith(f"{flag}:") for line in answer["transparency"])


@pytest.mark.controls
def test_a30_without_both_legs_nothing_was_searched(twofold: tuple[Person, str, str], controls: Controls) -> None:
    user, _, query = twofold
    controls.faults({"target": "vector", "fault": "error"}, {"target": "lexical", "fault": "error"})
    answer = user.recall(query)
    assert (answer["hits"], answer["result_state"]) == ([], "not_searched")
    assert set(answer["degraded"]) == {"vector:error", "lexical:error"}
    assert answer["injection_text"] == ""


@pytest.mark.controls
def test_a30_an_unverified_hit_is_never_returned(twofold: tuple[Person, str, str], controls: Controls) -> None:
    user, _, query = twofold
    controls.fault("table", "error")
    answer = user.recall(query)
    assert (answer["hits"], answer["result_state"]) == ([], "not_searched")
    assert "hydrate:error" in answer["degraded"]


@pytest.mark.controls
def test_a30_a_recall_that_cannot_be_recorded_is_answered(twofold: tuple[Person, str, str], controls: Controls) -> None:
    user, memory_id, query = twofold
    controls.fault("ledger", "error")
    answer = user.recall(query)
    assert [hit["id"] for hit in answer["hits"]] == [memory_id]
    assert answer["degraded"] == ["ledger:error"]
    assert "recall_id" not in answer


@pytest.mark.controls
def test_c27_without_an_embedder_recall_is_by_keyword(twofold: tuple[Person, str, str], controls: Controls) -> None:
    user, memory_id, query = twofold
    controls.fault("embed", "status:403")
    assert user.recalled(query) == [memory_id]
    by_meaning = query.replace("Reykjavik", "")
    answer = user.recall(by_meaning)
    assert (answer["hits"], answer["result_state"]) == ([], "none")
    assert answer["degraded"] == ["vector:embed_error"]
    controls.faults()
    assert user.recalled(by_meaning) == [memory_id]


@pytest.mark.live
def test_c35_a_leg_is_complete_or_contributes_nothing(user: Person) -> None:
    user.bring_in(*[plain(f"User paddled kayak number {n} today.") for n in range(4)])
    user.settle()
    for leg, other, rank in (("lexical", "vector", "rank_lex"), ("vector", "lexical", "rank_vec")):
        answer = user.recall("kayak number", legs=[leg], threshold=0)
        assert {name: part["status"] for name, part in answer["legs"].items()} == {leg: "complete", other: "skipped"}
        assert [found[rank] for found in components(answer).values()] == [1, 2, 3, 4]
        assert answer["degraded"] == []


@pytest.mark.controls
@pytest.mark.parametrize("slow", ["embed", "vector", "lexical"])
def test_c35_a_late_leg_has_one_of_three_states_too(user: Person, controls: Controls, slow: str) -> None:
    user.remember("User paddled a kayak.")
    user.settle()
    controls.fault(slow, "slow:400")
    answer = user.recall(f"kayak {new_memory_id()}")
    late = "lexical" if slow == "lexical" else "vector"
    assert {name: part["status"] for name, part in answer["legs"].items()} == {
        "lexical": "complete",
        "vector": "complete",
        late: "error",
    }
    kept = user.expect(200, "GET", f"/recalls/{answer['recall_id']}")["legs"]
    assert {name: part["status"] for name, part in kept.items()} == {
        name: part["status"] for name, part in answer["legs"].items()
    }


@pytest.mark.controls
@pytest.mark.parametrize(
    ("leg", "other", "flag"), [("lexical", "vector", "lexical:error"), ("vector", "lexical", "vector:error")]
)
def test_c35_a_store_that_fails_one_leg_leaves_the_other_complete(
    user: Person, controls: Controls, stack: Stores, leg: Literal["lexical", "vector"], other: str, flag: str
) -> None:
    """OpenSearch does not answer the leg's requests; the embedded index lacks the table that a phrase is looked up in,
    and its vectors, which are in memory, are made to fail at the port. So is either leg of segments,
    which read the same rows and objects for both."""
    user.bring_in(*[plain(f"User paddled the red kayak number {n} today.") for n in range(12)])
    user.settle()
    query: Json = {"query": '"red kayak" number', "mode": "tool", "threshold": 0, "limit": 20}
    alone = components(user.recall(**query, legs=[other]))
    assert len(alone) == 12
    assert user.recall(**query)["degraded"] == []

    if stack == "segments" or (stack, leg) == ("embedded", "vector"):
        controls.fault(leg, "error")
    else:
        controls.cut_search(leg)
    answer = user.recall(**query)
    assert (answer["result_state"], answer["degraded"]) == ("found", [flag])
    assert {name: part["status"] for name, part in answer["legs"].items()} == {leg: "error", other: "complete"}
    assert components(answer) == alone
    assert any(line.startswith(f"{flag}:") for line in answer["transparency"])

    controls.faults()
    controls.cut_search(None)
    again = user.recall(**query)
    assert {part["status"] for part in again["legs"].values()} == {"complete"}
    assert again["degraded"] == []
    assert {"rank_lex", "rank_vec"} <= set(components(again)[again["hits"][0]["id"]])
