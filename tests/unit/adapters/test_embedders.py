"""One suite for the embedders inside the process: the bundled encoder, that of many languages, and the tests' own."""

from __future__ import annotations

import math
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from local.backend import ENCODER, MULTI
from local.controls.fixture_embedder import FixtureEmbedder
from neve.adapters.embedders.bge_small import BgeSmall
from neve.adapters.embedders.multi_e5 import MultilingualE5
from neve.adapters.model_files import FolderFiles
from neve.domain.recall.fusion import calibrate
from neve.ports.models import Embedder

ENGINES = ("bge-small", "multi", "fixture")


def made(name: str) -> Embedder:
    if name == "fixture":
        return FixtureEmbedder()
    return BgeSmall(ENCODER) if name == "bge-small" else MultilingualE5(FolderFiles(MULTI), ENCODER)


@pytest.fixture(scope="module", params=ENGINES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    if found != "fixture":
        request.getfixturevalue("encoder_files" if found == "bge-small" else "multi_files")
    return found


@pytest.fixture(scope="module")
def embedder(name: str) -> Embedder:
    return made(name)


def cosine(left: bytes, right: bytes) -> float:
    a, b = (struct.unpack(f"<{len(vector) // 4}f", vector) for vector in (left, right))
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def test_vectors_are_normalised_float32_of_the_models_dimensions(embedder: Embedder) -> None:
    for vector in (embedder.embed_query("hello"), *embedder.embed_passages(["hello", "", "🟡", "x" * 9_000])):
        assert len(vector) == 4 * embedder.model.dimensions
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-5)


def test_a_text_has_the_same_vector_in_every_batch(embedder: Embedder) -> None:
    texts = ["User's sister is named Mary.", "no", "a much longer text about the weather in Bergen " * 8]
    together = embedder.embed_passages(texts)
    assert together == [embedder.embed_passages([text])[0] for text in texts]
    assert embedder.embed_passages(texts[::-1]) == together[::-1]
    assert embedder.embed_passages([]) == []


def test_a_question_is_similar_to_what_answers_it_and_to_nothing_else(embedder: Embedder) -> None:
    asked = embedder.embed_query("what is my sibling called?")
    answer, other = embedder.embed_passages(["User's sister is named Mary", "The server runs on port 8443"])
    near, far = calibrate([cosine(asked, answer), cosine(asked, other)], embedder.calibration)
    assert near >= 0.7 > 0.5 > far


@pytest.mark.parametrize("name", ["bge-small", "multi"], indirect=True)
def test_text_behind_512_tokens_does_not_count(embedder: Embedder) -> None:
    beginning = "word " * 600
    assert embedder.embed_passages([beginning + "apples"]) == embedder.embed_passages([beginning + "planets"])


def test_a_lone_surrogate_is_embedded(embedder: Embedder) -> None:
    assert len(embedder.embed_query("a \ud800 b")) == 4 * embedder.model.dimensions


def test_two_threads_may_be_the_first(name: str) -> None:
    fresh = made(name)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(fresh.embed_query, ["same text", "same text"])
    assert first == second


def test_random_pairs_are_less_alike_than_paraphrases(embedder: Embedder) -> None:
    assert embedder.calibration.random_median < embedder.calibration.paraphrase_median
    assert embedder.languages
