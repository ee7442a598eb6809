"""Rows of docs/features.md about recall. Thresholds, priors, fusion and filters."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from local.api_client import ApiClient
from local.controls.fixture_embedder import ORTHOGONAL_PAIR, similar_pair
from tests.http.driving.controls import Controls
from tests.http.driving.people import Person, ids_in_order
from tests.http.real_encoder.rubric import ago, plain
from tests.http.recall.asking import FIRST, NOW, components


@pytest.fixture
def pair(user: Person) -> tuple[Person, str, str]:
    """Somebody with memories at calibrated similarities of 0.69 and 0.71 to ``sibling vehicle``, and their ids."""
    below, above = user.remember(similar_pair(0.69)[0])["id"], user.remember(similar_pair(0.71)[0])["id"]
    user.settle()
    return user, below, above


QUERY = similar_pair(0.7)[1]


@pytest.mark.controls
def test_b18_the_vector_leg_has_a_threshold(pair: tuple[Person, str, str], controls: Controls) -> None:
    user, below, above = pair
    answer = user.recall(QUERY, debug=True)
    assert [hit["id"] for hit in answer["hits"]] == [above]
    assert answer["hits"][0]["components"]["sim_cal"] == pytest.approx(0.71, abs=5e-4), "in half precision"
    assert {"id": below, "reason": "below_threshold"} in answer["debug"]["dropped"]
    assert answer["debug"]["threshold"] == 0.7
    assert user.recalled(QUERY, threshold=0) == [above, below]
    assert user.recalled(QUERY, threshold=0.72) == []


@pytest.mark.controls
def test_b18_a_keyword_needs_no_similarity(pair: tuple[Person, str, str], controls: Controls) -> None:
    user, below, above = pair
    answer = user.recall("sister vehicle", mode="tool")
    assert set(components(answer)) == {below, above}
    assert "rank_vec" not in components(answer)[below]
    assert components(answer)[below]["rank_lex"] in (1, 2)


@pytest.mark.controls
def test_b18_the_policy_sets_the_threshold(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    for threshold, expected in ((0.68, {0.69, 0.71}), (0.7, {0.71}), (0.72, set())):
        user = person(tenant_with(recall_threshold=threshold))
        ids = {user.remember(similar_pair(at)[0])["id"]: at for at in (0.69, 0.71)}
        user.settle()
        assert {ids[hit] for hit in user.recalled(QUERY)} == expected


@pytest.mark.live
def test_b36_an_unrelated_question_finds_nothing(user: Person) -> None:
    user.remember("User's dog is named Rex.")
    user.remember("User works at a bakery in Lyon.")
    user.settle()
    answer = user.recall("how do quasars emit radio waves")
    assert (answer["hits"], answer["result_state"], answer["degraded"]) == ([], "none", [])
    assert answer["injection_text"] == ""
    late = user.recall("how do quasars emit radio waves", budget_ms=0)
    assert (late["hits"], late["result_state"]) == ([], "not_searched")


@pytest.mark.controls
@pytest.mark.parametrize("broken", [None, "vector", "lexical"])
def test_b37_each_user_finds_only_their_own(
    person: Callable[[ApiClient], Person], api: ApiClient, controls: Controls, broken: str | None
) -> None:
    people = [person(api), person(api)]
    ids = [one.remember("User's sister lives in Reykjavik.")["id"] for one in people]
    controls.drain()
    if broken:
        controls.fault(broken, "error")
    for one, memory_id in zip(people, ids, strict=True):
        assert one.recalled("sibling Reykjavik") == [memory_id]
        assert one.recalled("sibling Reykjavik", threshold=0, limit=50) == [memory_id]


@pytest.mark.live
def test_b19_what_is_recent_is_raised(user: Person) -> None:
    """docs/rules/values.md#recency-prior, with the vector leg alone."""
    old, recent = user.bring_in(
        plain("User's favourite tea is lapsang souchong.", observed_at=ago(40)),
        plain("User's favourite tea is rooibos, not coffee.", observed_at=ago(2)),
    )
    user.settle()
    answer = user.recall("User's favourite tea is lapsang souchong.", legs=["vector"], threshold=0)
    found = components(answer)
    assert list(found) == [recent, old]
    assert (found[old]["rank_vec"], found[recent]["rank_vec"]) == (1, 2)
    assert (found[old]["recency"], found[recent]["recency"]) == (1.0, 1.2)
    assert found[old]["final"] == pytest.approx(0.016393, abs=5e-7)
    assert found[recent]["final"] == pytest.approx(0.019355, abs=5e-7)

    bound = user.recall(
        "User's favourite tea is lapsang souchong.", legs=["vector"], threshold=0, filters={"after": ago(100)}
    )
    assert list(components(bound)) == [old, recent], "a question with a time bound of its own"
    assert components(bound)[recent]["recency"] == 1.0


@pytest.mark.controls
@pytest.mark.parametrize(
    ("age", "recency"),
    [(timedelta(days=7), 1.0), (timedelta(days=7, milliseconds=-1), 1.2), (timedelta(days=40), 1.0)],
)
def test_b19_exactly_seven_days_is_not_recent(user: Person, controls: Controls, age: timedelta, recency: float) -> None:
    controls.freeze(NOW)
    [memory] = user.bring_in(plain("User once saw a quetzal.", observed_at=(NOW - age).isoformat()))
    assert components(user.recall("quetzal"))[memory]["recency"] == recency


@pytest.mark.live
def test_b20_importance_shifts_a_little(user: Person) -> None:
    """docs/rules/values.md#importance-prior: importance 5 at rank 2 beats importance 3 at rank 1, at rank 8 it does
    not. The ranks are those of the keyword leg: the more often a word occurs, the better."""
    rows = [plain("quetzal " * (9 - rank), importance=5 if rank in (2, 8) else 3) for rank in range(1, 9)]
    ids = user.bring_in(*rows)
    user.settle()
    answer = user.recall("quetzal", legs=["lexical"], limit=8)
    found = components(answer)
    assert [found[i]["rank_lex"] for i in ids] == [1, 2, 3, 4, 5, 6, 7, 8]
    order = list(found)
    assert order[:2] == [ids[1], ids[0]]
    assert found[ids[0]]["final"] == pytest.approx(0.016393, abs=5e-7)
    assert found[ids[1]]["final"] == pytest.approx(0.017742, abs=5e-7)
    assert found[ids[7]]["final"] == pytest.approx(0.016176, abs=5e-7)
    assert order.index(ids[7]) > order.index(ids[0])


@pytest.mark.live
def test_b20_the_component_follows_the_importance(user: Person) -> None:
    ids = user.bring_in(*[plain(f"User paddled kayak number {n} today.", importance=n) for n in range(1, 6)])
    found = components(user.recall("kayak"))
    assert [found[i]["importance"] for i in ids] == pytest.approx([0.90, 0.95, 1.00, 1.05, 1.10])


@pytest.mark.live
def test_b21_all_priors_together_are_capped(user: Person) -> None:
    """docs/rules/values.md#clamp: 1.2 × 1.10 × 1.25 = 1.65 counts as 1.35."""
    memory_id = user.remember("User once saw a quetzal.", importance=5)["id"]
    found = components(user.recall("quetzal", legs=["lexical"]))[memory_id]
    assert (found["recency"], found["kind"]) == (1.2, 1.25)
    assert found["importance"] == pytest.approx(1.10)
    assert found["prior"] == 1.35
    assert found["final"] == pytest.approx(FIRST * 1.35, abs=1e-11)


@pytest.fixture
def five(user: Person) -> tuple[Person, dict[str, str]]:
    """Rows A to E for the fusion of docs/rules/values.md#rrf, and their ids: by meaning A, B, C, D (not E), by keyword
    C, E, A."""
    texts = {
        "A": "harbour lantern ledger mosaic",
        "B": "harbour lantern ledger walnut",
        "C": "harbour lantern pepper quarry",
        "D": "harbour velvet",
        "E": "thimble",
    }
    words = {"C": " zircon" * 3, "E": " zircon" * 2, "A": " zircon"}
    ids = dict(zip("ABCDE", ids_in_order(5), strict=True))
    user.bring_in(*[{**plain(text + words.get(name, "")), "id": ids[name]} for name, text in texts.items()])
    user.settle()
    return user, ids


MEANING = "harbour lantern ledger mosaic"


@pytest.mark.controls
def test_c23_rrf_of_two_rankings(five: tuple[Person, dict[str, str]], controls: Controls) -> None:
    """docs/rules/values.md#rrf. D is far less similar than A to C, and stays above the threshold of 0.6."""
    user, ids = five
    names = {identifier: name for name, identifier in ids.items()}
    answer = user.recall("zircon", question=MEANING, threshold=0.6)
    found = {names[identifier]: part for identifier, part in components(answer).items()}
    for rank, order in (("rank_vec", "ABCD"), ("rank_lex", "CEA")):
        ranks = {name: part[rank] for name, part in found.items() if rank in part}
        assert ranks == {name: place for place, name in enumerate(order, start=1)}
    assert "".join(found) == "ACBED"
    literal = {"A": 0.032266, "C": 0.032266, "B": 0.016129, "E": 0.016129, "D": 0.015625}
    assert {name: round(part["rrf"], 6) for name, part in found.items()} == literal
    assert {part["prior"] for part in found.values()} == {1.0}
    assert all(part["final"] == part["rrf"] for part in found.values())

    gated = user.recall("zircon", question=MEANING, threshold=0.75)
    assert "".join(names[hit["id"]] for hit in gated["hits"]) == "ACBE", "D is under the gate, E stays"


@pytest.mark.live
def test_c23_ranks_alone_decide(five: tuple[Person, dict[str, str]]) -> None:
    """The same on any embedder: the order and every score follow from the ranks that the answer shows."""
    user, _ = five
    answer = user.recall("zircon", question=MEANING, threshold=0, limit=50)
    found = components(answer)
    assert len(found) == 5
    for part in found.values():
        ranks = [part[name] for name in ("rank_vec", "rank_lex") if name in part]
        assert part["rrf"] == pytest.approx(sum(1 / (60 + rank) for rank in ranks), abs=1e-11)
    by_rule = sorted(
        found,
        key=lambda i: (-found[i]["final"], min(found[i].get("rank_vec", 99), found[i].get("rank_lex", 99)), i),
    )
    assert list(found) == by_rule
    assert [hit["rank"] for hit in answer["hits"]] == [1, 2, 3, 4, 5]


@pytest.mark.live
def test_c22_the_weighted_sum_is_shown_and_never_used(five: tuple[Person, dict[str, str]]) -> None:
    user, ids = five
    answer = user.recall("zircon lantern", question=MEANING, threshold=0, limit=50)
    found = components(answer)
    assert len(answer["hits"]) == len(found) == 5, "an item of both legs appears once"
    for memory_id, share in ((ids["A"], 1.0), (ids["B"], 0.5), (ids["C"], 1.0), (ids["D"], 0.0), (ids["E"], 0.5)):
        part = found[memory_id]
        assert part["weighted_70_30"] == pytest.approx(0.7 * part["sim_cal"] + 0.3 * share, abs=1e-9)
    by_sum = sorted(found, key=lambda i: -found[i]["weighted_70_30"])
    assert by_sum != list(found), "the data must tell the two orders apart"


@pytest.mark.controls
def test_c15_similarity_is_the_cosine(user: Person, controls: Controls) -> None:
    text, unrelated = ORTHOGONAL_PAIR
    same = user.remember(text)["id"]
    user.settle()
    assert components(user.recall(text, threshold=0))[same]["sim_raw"] == pytest.approx(1.0, abs=1e-3)
    answer = user.recall(unrelated, threshold=0, legs=["vector"])
    assert components(answer)[same]["sim_raw"] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.live
def test_c18_groups_are_kept_apart(user: Person) -> None:
    red, blue = (user.remember("User once saw a quetzal.", group=name)["id"] for name in ("red", "blue"))
    neither = user.remember("User draws a quetzal.")["id"]
    user.settle()
    assert user.recalled("quetzal", filters={"group": "red"}) == [red]
    assert user.recalled("quetzal", filters={"group": "blue"}) == [blue]
    assert user.recalled("quetzal", filters={"group": "green"}) == []
    assert neither in user.recalled("quetzal")


@pytest.mark.live
def test_c18_a_tag_and_a_group_are_found_however_they_were_spaced(user: Person) -> None:
    kept = user.remember("User once saw a quetzal.", tags=[" red  boat ", "red boat"], group="work ")
    assert (kept["tags"], kept["group"]) == (["red boat"], "work")
    user.settle()
    for tag, group in (("red boat", "work"), ("\u00a0red boat", " work\t")):
        assert user.recalled("quetzal", filters={"tags": [tag], "group": group}) == [kept["id"]]
        assert [row["id"] for row in user.memories(tag=tag, group=group)] == [kept["id"]]


@pytest.mark.live
def test_c18_the_other_filters(user: Person) -> None:
    old, new = user.bring_in(
        plain("User once saw a quetzal.", tags=["a", "b"], observed_at="2026-01-10T00:00:00Z"),
        {"text": "User draws a quetzal.", "tags": ["b"], "observed_at": "2026-02-10T00:00:00Z", "kind": "note"},
    )
    user.settle()

    def found(**filters: object) -> set[str]:
        return set(user.recalled("quetzal", filters=filters))

    assert found() == {old, new}
    assert (found(tags=["b"]), found(tags=["a", "b"]), found(tags=["c"])) == ({old, new}, {old}, set())
    assert (found(kind="note"), found(kind="observation"), found(kind="manual")) == ({new}, {old}, set())
    assert (found(tier="semantic"), found(tier="episodic")) == ({new}, {old})
    assert (found(after="2026-02-10T00:00:00Z"), found(after="2026-02-10T00:00:01Z")) == ({new}, set())
    assert (found(before="2026-02-10T00:00:00Z"), found(before="2026-01-10T00:00:00Z")) == ({old}, set())
