"""Rows of docs/features.md about recall. The recall of every prompt, and its budget."""

from __future__ import annotations

import re

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.people import Person, new_memory_id
from tests.http.real_encoder.rubric import plain
from tests.http.recall.asking import components


@pytest.mark.live
def test_c07_every_prompt_is_recorded(user: Person) -> None:
    memory_id = user.remember("User once saw a quetzal.")["id"]
    first, second = (user.recall("quetzal", mode="prompt")["recall_id"] for _ in range(2))
    rows = user.expect(200, "GET", "/recalls")["recalls"]
    assert [row["id"] for row in rows] == [second, first]
    assert {row["mode"] for row in rows} == {"prompt"}
    assert [hit["id"] for hit in rows[0]["hits"]] == [memory_id]


@pytest.mark.live
def test_c08_the_prompt_is_the_query(user: Person) -> None:
    memory_id = user.remember("User's cello needs new strings.")["id"]
    prompt = (
        "Hello there, I was wondering whether you could help me with the cello that my grandfather"
        " restored, because the strings are old and I would like to play it again soon in Vienna please"
    )
    assert len(prompt.split()) >= 30
    user.settle()
    answer = user.recall(prompt, threshold=0, debug=True)
    terms = answer["debug"]["lexical_terms"]
    assert {"cello", "grandfather", "strings", "vienna"} <= set(terms)
    assert not {"i", "was", "the", "you", "could", "with", "that", "my", "is", "it", "in", "please"} & set(terms)
    assert answer["debug"]["vector_text"] == prompt
    assert memory_id in {hit["id"] for hit in answer["hits"]}
    asked = user.recall("cello strings", question="Who restores instruments?", debug=True)
    assert asked["debug"]["lexical_terms"] == ["cello", "strings"]
    assert asked["debug"]["vector_text"] == "Who restores instruments?"


@pytest.mark.live
def test_c08_phrases_exclusions_and_alternatives(user: Person) -> None:
    red = user.remember("The red cello needs strings.")["id"]
    cello = user.remember("A cello, red as wine.")["id"]
    viola = user.remember("A viola for the quartet.")["id"]

    def found(query: str) -> set[str]:
        return set(user.recalled(query, legs=["lexical"], mode="tool"))

    assert found("cello") == {red, cello}
    assert found('"red cello"') == {red}
    assert found("cello -wine") == {red}
    assert found("wine OR quartet") == {cello, viola}


@pytest.mark.live
def test_c08_of_a_long_message_both_ends_are_the_query(user: Person) -> None:
    cello = user.remember("User's cello needs new strings.")["id"]
    page = "".join(f'Line {n} says "cables of {n} bridges" and -rust- again.\n' for n in range(120))
    question = "What does my cello need?"
    ends_only = "Read only the beginning and the end of the message: it is too long to be searched as a whole."
    user.settle()
    for message in (page + question, f"{question}\n{page}"):
        assert len(message) > 5_000
        for legs in (["lexical"], ["vector"], ["lexical", "vector"]):
            answer = user.recall(message, legs=legs, threshold=0, debug=True)
            assert (answer["hits"][0]["id"], answer["degraded"]) == (cello, [])
            assert answer["transparency"][1:] == [ends_only], "and no quotation in it was required"
            assert answer["debug"]["vector_text"] == question
            assert {"cello", "need"} <= set(answer["debug"]["lexical_terms"])
    assert user.recall(question)["transparency"] == [f"Loaded 1 relevant entries: {cello}"]


@pytest.mark.live
def test_c11_a_line_says_what_was_loaded(user: Person) -> None:
    for n in range(7):
        user.remember(f"User paddled kayak number {n} today.")
    user.settle()
    answer = user.recall("kayak number 3")
    ids = [hit["id"] for hit in answer["hits"]]
    assert len(ids) == 5
    assert answer["transparency"] == [f"Loaded 5 relevant entries: {', '.join(ids)}"]
    shown = re.findall(r"^- \[(mem_\w+)\]", answer["injection_text"], re.MULTILINE)
    assert shown == ids
    assert answer["injection_text"].startswith("<neve-retrieved>\n")
    assert answer["injection_text"].endswith("</neve-retrieved>\n")
    nothing = user.recall("zymurgy", legs=["lexical"])
    assert nothing["transparency"] == ["Loaded 0 relevant entries: (none)"]


@pytest.mark.controls
def test_c11_only_what_was_put_into_the_text_is_named(user: Person, controls: Controls) -> None:
    """A long passage has 500 tokens and its row's beginning 40: twelve of them do not fit into 5,000."""
    user.bring_in(*[plain(f"kayak {n} " + f"lorem{n} " * 190) for n in range(12)])
    user.settle()
    answer = user.recall("kayak", limit=12)
    ids = [hit["id"] for hit in answer["hits"]]
    assert len(ids) == 12
    shown = re.findall(r"^- \[(mem_\w+)\]", answer["injection_text"], re.MULTILINE)
    assert 5 < len(shown) < 12
    assert shown == ids[: len(shown)]
    assert answer["transparency"] == [f"Loaded {len(shown)} relevant entries: {', '.join(shown)}"]


@pytest.mark.controls
def test_c12_a_slow_embedder_is_not_waited_for(twofold: tuple[Person, str, str], controls: Controls) -> None:
    user, memory_id, query = twofold
    controls.fault("embed", "slow:400")
    answer = user.recall(query)
    assert answer["budget_ms"] == 300
    assert answer["elapsed_ms"] <= 300
    assert [hit["id"] for hit in answer["hits"]] == [memory_id]
    assert "rank_vec" not in components(answer)[memory_id]
    assert answer["degraded"] == ["vector:embed_timeout"]
    assert (answer["legs"]["vector"]["status"], answer["legs"]["vector"]["late"]) == ("error", True)
    assert answer["legs"]["lexical"]["status"] == "complete"
    by_hand = user.recall(f"{query} again", mode="tool")
    assert by_hand["degraded"] == []
    assert components(by_hand)[memory_id]["rank_vec"] == 1, "a manual search has 10 s"
    assert by_hand["elapsed_ms"] >= 400


@pytest.mark.controls
@pytest.mark.parametrize("target", ["vector", "lexical"])
def test_c12_no_slow_store_makes_it_late(twofold: tuple[Person, str, str], controls: Controls, target: str) -> None:
    user, memory_id, query = twofold
    controls.fault(target, "slow:400")
    answer = user.recall(query)
    assert answer["elapsed_ms"] <= 300
    assert answer["degraded"] == ["deadline"]
    assert [hit["id"] for hit in answer["hits"]] == [memory_id]
    assert (answer["legs"][target]["status"], answer["legs"][target]["late"]) == ("error", True)


@pytest.mark.controls
def test_c12_a_slow_row_store_leaves_nothing_that_could_be_verified(
    twofold: tuple[Person, str, str], controls: Controls
) -> None:
    user, _, query = twofold
    controls.fault("table", "slow:400")
    answer = user.recall(query)
    assert answer["elapsed_ms"] <= 300
    assert "deadline" in answer["degraded"]
    assert (answer["hits"], answer["result_state"]) == ([], "not_searched")


@pytest.mark.live
def test_c13_the_query_is_embedded_once(user: Person) -> None:
    user.remember("User once saw a quetzal.")
    question = f"has the user seen a {new_memory_id()}"
    first, second = (user.recall(question, debug=True) for _ in range(2))
    embedder = second["debug"]["embedder"]
    assert embedder.keys() == {"model", "dimension", "warm"}
    assert embedder["warm"] is True
    assert embedder["dimension"] == 384
    health = user.api.expect(200, "GET", "/v1/health")
    assert embedder["model"] == health["embedder"]["model"] == health["index"]["model"]
    assert first["legs"]["vector"]["embed_cache"] == "miss"
    assert second["legs"]["vector"]["embed_cache"] == "hit"


@pytest.mark.live
def test_c14_what_is_late_is_left_out(user: Person) -> None:
    memory_id = user.remember("User once saw a quetzal.")["id"]
    user.settle()
    for budget in (0, -5):
        late = user.recall("quetzal", budget_ms=budget)
        assert (late["hits"], late["result_state"], late["degraded"]) == ([], "not_searched", ["deadline"])
        assert {leg["status"] for leg in late["legs"].values()} == {"skipped"}
        assert late["recall_id"]
    hurried = user.recall("quetzal", budget_ms=1)
    assert hurried["degraded"] or [hit["id"] for hit in hurried["hits"]] == [memory_id]
    assert {leg["status"] for leg in hurried["legs"].values()} <= {"complete", "error"}
    assert user.recalled("quetzal") == [memory_id]


@pytest.mark.controls
@pytest.mark.parametrize(
    ("slow", "flag"), [("embed", "vector:embed_timeout"), ("vector", "deadline")], ids=["embedder", "vector index"]
)
def test_c14_after_an_overrun_recall_is_by_keyword(user: Person, controls: Controls, slow: str, flag: str) -> None:
    """301 ms of a budget of 300, on the clock of the tests: the leg works, it is late."""
    memory_id = user.remember("User's sister lives in Reykjavik.")["id"]
    user.settle()
    by_word, by_meaning = f"Reykjavik {new_memory_id()}", f"my sibling {new_memory_id()}"
    controls.fault(slow, "slow:301")
    for query, hits, state in ((by_word, [memory_id], "found"), (by_meaning, [], "none")):
        late = user.recall(query, threshold=0)
        assert ([hit["id"] for hit in late["hits"]], late["result_state"], late["degraded"]) == (hits, state, [flag])
        assert (late["budget_ms"], late["elapsed_ms"] <= 300) == (300, True)
        assert {name: leg["status"] for name, leg in late["legs"].items()} == {
            "lexical": "complete",
            "vector": "error",
        }
        assert all("rank_vec" not in found for found in components(late).values())
        assert user.expect(200, "GET", f"/recalls/{late['recall_id']}")["degraded"] == [flag]
    controls.faults()
    for query in (by_word, by_meaning):
        in_time = user.recall(query, threshold=0)
        assert ([hit["id"] for hit in in_time["hits"]], in_time["degraded"]) == ([memory_id], [])
        assert components(in_time)[memory_id]["rank_vec"] == 1
