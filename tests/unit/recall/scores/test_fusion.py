"""RRF, priors, calibration. Literals: docs/rules/values.md, RRF to Shadow score."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.fusion import (
    calibrate,
    effective_importance,
    importance_prior,
    kind_prior,
    priors,
    recency_prior,
    rrf,
    shadow_score,
)
from neve.domain.times import iso
from neve.ports.models import Calibration

NOW = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)


def ago(**span: float) -> str:
    return iso(NOW - timedelta(**span))


def final(rank: int, *, recency: float = 1.0, importance: float = 1.0, kind: float = 1.0) -> float:
    """The score of an item found by one leg only."""
    (*_, item) = rrf({"vector": [f"above {n}" for n in range(1, rank)] + ["item"]})
    return item.score * priors(recency, importance, kind)


# --- RRF ----------------------------------------------------------------------------------------


def test_rrf_literal() -> None:
    fused = rrf({"vector": ["A", "B", "C", "D"], "lexical": ["C", "E", "A"]})
    assert [(item.id, f"{item.score:.6f}") for item in fused] == [
        ("A", "0.032266"),
        ("C", "0.032266"),
        ("B", "0.016129"),
        ("E", "0.016129"),
        ("D", "0.015625"),
    ]
    assert fused[0].score == fused[1].score == 0.032266458496
    assert (fused[0].ranks, fused[3].ranks) == ({"vector": 1, "lexical": 3}, {"lexical": 2})


def test_rrf_with_d_under_the_gate() -> None:
    fused = rrf({"vector": ["A", "B", "C"], "lexical": ["C", "E", "A"]})
    assert [item.id for item in fused] == ["A", "C", "B", "E"]


def test_a_tie_goes_to_the_best_single_rank_then_the_id() -> None:
    # With k = 0: 1/2 = 1/3 + 1/6, found at rank 2 against ranks 3 and 6.
    legs = {"vector": ["u", "z", "m"], "lexical": ["v", "w", "x", "y", "q", "m"]}
    fused = {item.id: place for place, item in enumerate(rrf(legs, k=0))}
    assert fused["w"] < fused["z"] < fused["m"]


def test_an_id_named_twice_by_a_leg_counts_where_it_stands_first() -> None:
    fused = rrf({"vector": ["A", "B", "A", "C"]})
    assert [(item.id, item.ranks["vector"]) for item in fused] == [("A", 1), ("B", 2), ("C", 3)]


def test_nothing_found() -> None:
    assert rrf({}) == []
    assert rrf({"vector": [], "lexical": []}) == []


ids = st.lists(st.sampled_from([f"m{n}" for n in range(30)]), unique=True)
legs_found = st.dictionaries(st.sampled_from(["vector", "lexical", "recent"]), ids)


@given(legs_found)
def test_rrf_is_the_exact_sum_in_a_total_order(legs: dict[str, list[str]]) -> None:
    fused = rrf(legs)
    assert sorted(item.id for item in fused) == sorted(set().union(*legs.values())) if legs else fused == []
    for item in fused:
        exact = sum(Fraction(1, 60 + found.index(item.id) + 1) for found in legs.values() if item.id in found)
        assert abs(Fraction(item.score) - exact) <= Fraction(6, 10**13)
    order = [(-item.score, min(item.ranks.values()), item.id) for item in fused]
    assert order == sorted(order)


@given(legs_found, st.randoms(use_true_random=False))
def test_rrf_does_not_depend_on_the_order_of_the_legs(legs: dict[str, list[str]], chance: object) -> None:
    backwards = dict(reversed(legs.items()))
    assert [(item.id, item.score) for item in rrf(backwards)] == [(item.id, item.score) for item in rrf(legs)]


# --- priors -------------------------------------------------------------------------------------


def test_recency_literal() -> None:
    x = final(1, recency=recency_prior(ago(days=40), NOW, time_bound=False))
    y = final(2, recency=recency_prior(ago(days=2), NOW, time_bound=False))
    assert (f"{x:.6f}", f"{y:.6f}") == ("0.016393", "0.019355")
    assert y > x
    y = final(2, recency=recency_prior(ago(days=7), NOW, time_bound=False))
    assert x > y


@pytest.mark.parametrize(
    ("observed_at", "time_bound", "prior"),
    [
        (ago(days=2), False, 1.2),
        (ago(days=7, milliseconds=-1), False, 1.2),
        (ago(days=7), False, 1.0),
        (ago(days=2), True, 1.0),
        (ago(days=400), False, 1.0),
        (ago(days=-1), False, 1.2),
    ],
)
def test_recency_prior(observed_at: str, time_bound: bool, prior: float) -> None:
    assert recency_prior(observed_at, NOW, time_bound=time_bound) == prior


def test_importance_literal() -> None:
    first = final(1, importance=importance_prior(3))
    second = final(2, importance=importance_prior(5))
    eighth = final(8, importance=importance_prior(5))
    assert [f"{score:.6f}" for score in (second, first, eighth)] == ["0.017742", "0.016393", "0.016176"]


@pytest.mark.parametrize(("importance", "prior"), [(1, 0.9), (2, 0.95), (3, 1.0), (4, 1.05), (5, 1.1)])
def test_importance_prior(importance: int, prior: float) -> None:
    assert importance_prior(importance) == prior


@pytest.mark.parametrize(
    ("importance", "kind", "days", "effective"),
    [
        (3, "observation", 0, 3),
        (3, "observation", 89.9, 3),
        (3, "observation", 90, 2),
        (3, "observation", 91, 2),
        (5, "note", 180, 3),
        (5, "note", 3650, 1),
        (1, "manual", 3650, 1),
        (3, "observation", -400, 3),
        (4, "fact", 3650, 4),
        (2, "document", 3650, 2),
        (5, "event", 0, 3),
        (1, "event", 3650, 3),
    ],
)
def test_effective_importance(importance: int, kind: str, days: float, effective: int) -> None:
    assert effective_importance(importance, kind, ago(days=days), NOW) == effective


@pytest.mark.parametrize(
    ("kind", "prior"),
    [("manual", 1.25), ("note", 1.1), ("reflection", 1.05), ("observation", 1.0), ("fact", 1.0), ("event", 1.0)],
)
def test_kind_prior(kind: str, prior: float) -> None:
    assert kind_prior(kind) == prior


def test_clamp_literal() -> None:
    assert priors(1.2, 1.10, 1.25) == 1.35
    assert priors(1.2, 1.0, 1.1) == pytest.approx(1.32)
    assert priors(1.0, 0.9, 1.0) == 0.9


# --- similarity ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "calibrated"), [(0.4, 0.3), (0.8, 0.9), (0.6, 0.6), (1.0, 1.0), (0.2, 0.0), (-1.0, 0.0), (0.5, 0.45)]
)
def test_calibrate(raw: float, calibrated: float) -> None:
    assert calibrate([raw], Calibration(random_median=0.4, paraphrase_median=0.8)) == [pytest.approx(calibrated)]


def test_calibration_refuses_medians_in_the_wrong_order() -> None:
    with pytest.raises(ValueError, match=r"paraphrase median 0\.4 must be above 0\.4"):
        calibrate([0.5], Calibration(random_median=0.4, paraphrase_median=0.4))


@given(st.floats(min_value=-1, max_value=1), st.floats(min_value=-1, max_value=1))
def test_calibration_keeps_the_order(one: float, other: float) -> None:
    medians = Calibration(random_median=0.55, paraphrase_median=0.86)
    low, high = sorted((one, other))
    lower, higher = calibrate([low, high], medians)
    assert 0 <= lower <= higher <= 1


@pytest.mark.parametrize(("similarity", "share", "score"), [(0.604, 3 / 4, 0.6478), (0.537, 4 / 4, 0.6759)])
def test_shadow_score_literal(similarity: float, share: float, score: float) -> None:
    assert shadow_score(similarity, share) == score
