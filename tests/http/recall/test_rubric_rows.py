"""Rows of docs/features.md about recall. Twenty entries, their keywords and paraphrases; and the query cache."""

from __future__ import annotations

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.other_server import Stores
from tests.http.driving.people import Person, new_memory_id
from tests.http.real_encoder.rubric import RUBRIC
from tests.http.recall.asking import components


@pytest.mark.controls
def test_c31_keywords_find_their_entry_first(rubric: tuple[Person, list[str]], controls: Controls) -> None:
    user, ids = rubric
    assert [user.recalled(entry.keyword)[:1] for entry in RUBRIC] == [[memory_id] for memory_id in ids]


@pytest.mark.controls
def test_c31_paraphrases_are_found_by_meaning_alone(rubric: tuple[Person, list[str]], controls: Controls) -> None:
    user, ids = rubric
    asked = dict(zip([entry.paraphrase for entry in RUBRIC], ids, strict=True))
    assert [query for query, memory_id in asked.items() if memory_id not in user.recalled(query)] == []
    controls.fault("vector", "error")
    for query, memory_id in asked.items():
        answer = user.recall(query, limit=50)
        assert memory_id not in components(answer)
        assert answer["degraded"] == ["vector:error"]


@pytest.mark.live
def test_d46_most_prompts_have_evidence_among_their_five_hits(rubric: tuple[Person, list[str]]) -> None:
    """The share of the rubric's prompts, as every message asks; that of LoCoMo's questions is in docs/retrieval.md."""
    user, ids = rubric
    asked = [f"Tell me, {entry.paraphrase}, {entry.keyword}?" for entry in RUBRIC]
    held = [memory_id in user.recalled(prompt) for memory_id, prompt in zip(ids, asked, strict=True)]
    assert sum(held) > 0.8 * len(RUBRIC)


@pytest.mark.controls
def test_d49_the_legs_can_be_compared_and_tuned(
    rubric: tuple[Person, list[str]], controls: Controls, stack: Stores
) -> None:
    """Each leg alone and both together; the order of both follows from the components of each, so another fusion can
    be tried without the service."""
    user, ids = rubric
    found = {"lexical": 0, "vector": 0, "both": 0}
    tried = 5 if stack == "full" else len(RUBRIC)
    for memory_id, entry in zip(ids[:tried], RUBRIC[:tried], strict=True):
        for query in (f"{entry.keyword} {entry.paraphrase}", entry.paraphrase):
            lexical, vector, both = (
                components(user.recall(query, legs=legs, limit=20))
                for legs in (["lexical"], ["vector"], ["lexical", "vector"])
            )
            for name, answer in (("lexical", lexical), ("vector", vector), ("both", both)):
                found[name] += memory_id in answer
            ranks = {i: [lexical[i]["rank_lex"]] if i in lexical else [] for i in lexical | vector}
            for i, part in vector.items():
                ranks[i].append(part["rank_vec"])
            fused = {i: sum(1 / (60 + rank) for rank in many) for i, many in ranks.items()}
            assert list(both) == sorted(fused, key=lambda i: (-round(fused[i], 12), min(ranks[i]), i))
    assert found == {"lexical": tried, "vector": 2 * tried, "both": 2 * tried}, "a keyword finds no paraphrase"


@pytest.mark.controls
def test_c32_a_remembered_query_costs_no_embedding(user: Person, controls: Controls) -> None:
    """The embedder takes 40 ms on the clock of the tests: the second time nobody asks it."""
    memory_id = user.remember("User's sister lives in Reykjavik.")["id"]
    user.settle()
    controls.forget_calls()
    controls.fault("embed", "slow:40")
    question = f"where is my sibling, asks {new_memory_id()}"
    first, second, by_tool = (user.recall(question, threshold=0, **more) for more in ({}, {}, {"mode": "tool"}))
    assert [call["texts"] for call in controls.calls("embed", operation="query")] == [[question]]
    legs = [answer["legs"]["vector"] for answer in (first, second, by_tool)]
    assert [(leg["embed_cache"], leg["embed_ms"], leg["ms"]) for leg in legs] == [
        ("miss", 40.0, 40.0),
        ("hit", 0.0, 0.0),
        ("hit", 0.0, 0.0),
    ]
    assert [answer["elapsed_ms"] for answer in (first, second)] == [40.0, 0.0]
    assert components(first) == components(second) == components(by_tool)
    assert components(first)[memory_id]["rank_vec"] == 1


@pytest.mark.live
def test_c32_the_query_cache_forgets_the_oldest(user: Person) -> None:
    """500 queries are remembered: the 501st takes the place of the first."""
    name = new_memory_id()
    queries = [f"{name} {n}" for n in range(501)]

    def embedded(query: str) -> str:
        return str(user.recall(query, legs=["vector"])["legs"]["vector"]["embed_cache"])

    assert embedded(queries[0]) == "miss"
    assert embedded(queries[0]) == "hit"
    for query in queries[1:500]:
        embedded(query)
    assert user.recall(queries[1], legs=["vector"])["legs"]["vector"]["embed_cache"] == "hit"
    assert embedded(queries[500]) == "miss"
    assert embedded(queries[0]) == "miss"
