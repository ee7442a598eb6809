"""The fixture embedder's promises, which feature tests compute with."""

from __future__ import annotations

import math
import struct

import pytest

from local.controls.fixture_embedder import (
    CALIBRATION,
    DIMENSIONS,
    ORTHOGONAL_PAIR,
    SYNONYMS,
    FixtureEmbedder,
    axis_of,
    content_words,
    similar_pair,
)


def cosine(left: str, right: str) -> float:
    embedder = FixtureEmbedder()
    a = struct.unpack(f"<{DIMENSIONS}f", embedder.embed_query(left))
    b = struct.unpack(f"<{DIMENSIONS}f", embedder.embed_passages([right])[0])
    return float(sum(x * y for x, y in zip(a, b, strict=True)))


def calibrated(raw: float) -> float:
    spread = CALIBRATION.paraphrase_median - CALIBRATION.random_median
    return 0.3 + 0.6 * (raw - CALIBRATION.random_median) / spread


@pytest.mark.parametrize("text", ["User's sister is named Mary", "ß 東京 naïve", "the of and", "", "🟡", "a\ud800b"])
def test_identical_text_is_1(text: str) -> None:
    assert cosine(text, text) == pytest.approx(1.0, abs=1e-6)


def test_orthogonal_pair_is_0() -> None:
    assert cosine(*ORTHOGONAL_PAIR) == 0.0


def test_unrelated_texts_are_0() -> None:
    assert cosine("User planted tomatoes on the balcony", "The quarterly report is late") == 0.0


def test_similarity_follows_from_the_shared_words() -> None:
    assert cosine("alpha beta gamma", "alpha beta delta") == pytest.approx(2 / 3, abs=1e-6)
    assert cosine("alpha beta gamma delta", "alpha") == pytest.approx(0.5, abs=1e-6)


def test_synonyms_are_the_same_word() -> None:
    assert cosine("what is my sibling called?", "User's sister is named Mary") == pytest.approx(
        2 / math.sqrt(6), abs=1e-6
    )
    assert cosine("my automobile", "the cars") == pytest.approx(1.0, abs=1e-6)


def test_stop_words_do_not_count() -> None:
    assert cosine("the database and the server", "database server") == pytest.approx(1.0, abs=1e-6)
    assert content_words("What is the user's name?") == ["name"]


@pytest.mark.parametrize("wanted", [0.30, 0.69, 0.71, 0.95, 1.0])
def test_a_pair_at_a_chosen_calibrated_similarity(wanted: float) -> None:
    passage, query = similar_pair(wanted)
    assert calibrated(cosine(query, passage)) == pytest.approx(wanted, abs=1e-6)
    assert not set(passage.split()) & set(query.split())


def test_the_marker_works_in_any_text() -> None:
    raw = cosine("the quarterly report", "The quarterly report similarity=0.69")
    assert calibrated(raw) == pytest.approx(0.69, abs=1e-6)


def test_every_row_of_synonyms_has_its_own_axis() -> None:
    axes = [{axis_of(word) for text in row for word in content_words(text)} for row in SYNONYMS]
    assert all(len(axis) == 1 for axis in axes)
    assert len(set().union(*axes)) == len(SYNONYMS) >= 40


def test_vectors_are_the_same_in_every_process() -> None:
    assert axis_of("zeppelin") == 68
    assert FixtureEmbedder().model.dimensions == 384
    assert len(FixtureEmbedder().embed_query("x")) == 4 * 384
