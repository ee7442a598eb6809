"""How much a term counts: literal values, and that no engine can disagree about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.recall.weighted_counts import MIN_COUNT, Terms, gate, nine_bits, weighted_counts

NOTHING: Terms[str] = Terms([], 0)


def test_a_short_message_counts_its_words_and_leans_on_its_neighbours() -> None:
    """1 each for the text and the date, 0.6 before, 0.3 behind, 0.2 two away."""
    around = [(-1, Terms(["tent"], 1)), (1, Terms(["tent"], 1)), (-2, Terms(["stove"], 1)), (2, Terms(["may"], 40))]
    counts = weighted_counts(Terms(["kayak", "kayak"], 40), ["may"], around)
    assert counts == pytest.approx({"kayak": 2, "may": 1.2, "tent": 0.9, "stove": 0.2}, rel=2**-8)


def test_a_long_message_counts_less_the_longer_it_is() -> None:
    """80 terms: its own count half, and its neighbours a quarter; a neighbour of 120 terms a third."""
    words = ["kayak", *(f"w{n}" for n in range(79))]
    counts = weighted_counts(Terms(words, 80), ["may"], [(-1, Terms(["tent"], 120))])
    assert (counts["kayak"], counts["may"]) == (0.5, 0.5)
    assert counts["tent"] == pytest.approx(0.25 * 0.6 / 3, rel=2**-8)


def test_a_part_of_a_long_message_is_measured_by_the_whole() -> None:
    counts = weighted_counts(Terms(["kayak"], 400), [], [(-1, Terms(["tent"], 400))])
    assert counts == pytest.approx({"kayak": 0.1, "tent": 0.06}, rel=2**-8)


def test_what_hardly_counts_is_left_out() -> None:
    page = Terms(["kayak"] * 600, 600)
    assert weighted_counts(page, [], [(-1, Terms(["tent"], 600))]).keys() == {"kayak"}


@pytest.mark.parametrize(("length", "expected"), [(0, 1), (1, 1), (40, 1), (80, 0.25), (400, 0.01)])
def test_the_gate_fades_with_the_square_of_the_length(length: int, expected: float) -> None:
    assert gate(length) == pytest.approx(expected)


@given(st.floats(MIN_COUNT, 1e6, width=32))
def test_nine_bits_are_kept_and_nothing_else(count: float) -> None:
    rounded = nine_bits(count)
    assert rounded <= count < rounded * (1 + 2**-8) * (1 + 1e-9)
    assert nine_bits(rounded) == rounded
    mantissa, _ = float(rounded).hex().removeprefix("0x1.").split("p")
    assert int(mantissa or "0", 16) % 2 ** (4 * len(mantissa) - 8) == 0


@given(st.integers(0, 256))
def test_whole_numbers_up_to_256_are_exact(count: int) -> None:
    assert nine_bits(float(count)) == count
