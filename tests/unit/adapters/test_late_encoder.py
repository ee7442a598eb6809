"""The bundled late-interaction encoder, on its real files; without them every test of it is skipped with the reason, or
fails where nothing may be skipped."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

from local.backend import LATE
from neve.adapters.embedders.late_interaction import (
    BASIS_SHA256,
    DIMENSIONS,
    MODEL_SHA256,
    MODEL_TAG,
    LateInteraction,
    read_basis,
)
from neve.ports.errors import EmbeddingUnavailable

needs_model = pytest.mark.usefixtures("late_files")
SISTER, SERVER = "Ann: My sister is named Mary.", "Ann: The staging server runs on port 8443 behind nginx."


@pytest.fixture(scope="module")
def encoder() -> LateInteraction:
    return LateInteraction(LATE)


@needs_model
def test_a_question_is_met_best_by_what_answers_it(encoder: LateInteraction) -> None:
    passages = [[codes] for codes in encoder.encode_passages([SISTER, SERVER])]
    sister, server = encoder.similarities(encoder.encode_query("what is my sibling called?"), passages)
    assert sister > server + 0.05
    sister, server = encoder.similarities(encoder.encode_query("where is the test environment reachable?"), passages)
    assert server > sister + 0.05


@needs_model
def test_a_passage_has_16_bytes_a_token_and_a_query_none_for_its_ends(encoder: LateInteraction) -> None:
    [passage] = encoder.encode_passages(["hello world"])
    assert len(passage) == 16 * 4, "[CLS] hello world [SEP]"
    assert len(encoder.encode_query("hello world")) == 2 * DIMENSIONS * 4
    [empty] = encoder.encode_passages([""])
    assert len(empty) == 16 * 2 and encoder.encode_query("") == b""


@needs_model
def test_text_behind_512_tokens_does_not_count(encoder: LateInteraction) -> None:
    [long] = encoder.encode_passages(["word " * 600])
    assert len(long) == 16 * 512


@needs_model
def test_a_text_has_the_same_codes_in_every_batch(encoder: LateInteraction) -> None:
    texts = [SISTER, "no", "a much longer text about the weather in Bergen " * 8]
    together = encoder.encode_passages(texts)
    assert together == [encoder.encode_passages([text])[0] for text in texts]
    assert encoder.encode_passages([]) == []


@needs_model
def test_the_pinned_file_is_the_one_that_the_tag_names() -> None:
    wheel = run_path(str(LATE / "fetch.py"))["WHEEL"]
    assert wheel.files["model.onnx"].sha256 == MODEL_SHA256
    assert wheel.present(LATE / "model")
    assert MODEL_SHA256[:8] in MODEL_TAG and BASIS_SHA256[:8] in MODEL_TAG


def test_the_basis_is_committed_with_what_it_was_made_from() -> None:
    record = json.loads((LATE / "basis.json").read_text(encoding="utf-8"))
    content = (LATE / "basis.bin").read_bytes()
    assert record["sha256"] == BASIS_SHA256 == hashlib.sha256(content).hexdigest()
    assert record["tokens"] > 50_000 and record["variance_kept"] > 0.7
    mean, directions = read_basis(LATE / "basis.bin")
    assert 0 < float(np.linalg.norm(mean)) < 1
    products = directions.T @ directions
    assert np.allclose(products, np.diag(np.diag(products)), atol=1e-4), "perpendicular"


@needs_model
def test_on_text_that_the_basis_has_not_seen_the_codes_lose_little_of_the_full_states() -> None:
    make_basis = run_path(str(LATE / "make_basis.py"))
    found: dict[str, Any] = make_basis["check"]()
    assert found["questions"] >= 80
    assert found["codes"]["mrr"] >= found["full"]["mrr"] - 0.06
    seen = "\n".join(make_basis["own_texts"]())
    lines = make_basis["HELD_OUT"].read_text(encoding="utf-8").splitlines()
    assert [text for line in lines for text in json.loads(line).values() if text in seen] == []


def test_without_its_files_it_is_unavailable_and_says_how_to_get_them(tmp_path: Path) -> None:
    missing = LateInteraction(tmp_path)
    with pytest.raises(EmbeddingUnavailable, match=r"layers/late/fetch\.py"):
        missing.encode_query("hello")
    with pytest.raises(EmbeddingUnavailable, match=r"layers/late/fetch\.py"):
        missing.encode_passages(["hello"])


@needs_model
def test_another_basis_than_that_of_the_stored_vectors_is_refused(tmp_path: Path) -> None:
    shutil.copytree(LATE / "model", tmp_path / "model")
    with pytest.raises(EmbeddingUnavailable, match=r"basis\.bin cannot be read"):
        LateInteraction(tmp_path).encode_query("hello")
    (tmp_path / "basis.bin").write_bytes(bytes(65 * 384 * 4))
    with pytest.raises(EmbeddingUnavailable, match="is not the basis"):
        LateInteraction(tmp_path).encode_query("hello")


def test_the_adapter_imports_nothing_heavy_until_a_text_comes() -> None:
    code = (
        "import sys, pathlib; from neve.adapters.embedders.late_interaction import LateInteraction;"
        "LateInteraction(pathlib.Path('x')).model;"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": str(LATE.parent / "core")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
