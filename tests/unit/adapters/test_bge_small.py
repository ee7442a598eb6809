"""The bundled sentence encoder, on its real files; without them every test of it is skipped with the reason, or fails
where nothing may be skipped."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from runpy import run_path
from threading import Barrier, BrokenBarrierError, Event, Lock
from typing import Any

import pytest

from local.backend import ENCODER
from neve.adapters.embedders import onnx_model
from neve.adapters.embedders.bge_small import MODEL_SHA256, MODEL_TAG, QUERY_PREFIX, BgeSmall
from neve.adapters.embedders.no_embedder import NoEmbedder
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from tests.patience import PATIENCE_S

needs_model = pytest.mark.usefixtures("encoder_files")


@pytest.fixture(scope="module")
def encoder() -> BgeSmall:
    return BgeSmall(ENCODER)


@needs_model
def test_queries_carry_the_instruction_and_passages_do_not(encoder: BgeSmall) -> None:
    assert encoder.embed_query("a sister") == encoder.embed_passages([QUERY_PREFIX + "a sister"])[0]
    assert encoder.embed_query("a sister") != encoder.embed_passages(["a sister"])[0]


@needs_model
def test_the_pinned_file_is_the_one_that_the_tag_names() -> None:
    wheel = run_path(str(ENCODER / "fetch.py"))["WHEEL"]
    assert wheel.files["model.onnx"].sha256 == MODEL_SHA256
    assert wheel.present(ENCODER / "model")


def test_calibration_is_committed_with_its_method() -> None:
    record = json.loads((ENCODER / "calibration.json").read_text(encoding="utf-8"))[MODEL_TAG]
    pairs = (ENCODER / "paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
    assert record["paraphrase_pairs"] == len(pairs) >= 60
    assert record["random_pairs"] == len(pairs) * (len(pairs) - 1)
    calibration = BgeSmall(ENCODER).calibration
    assert calibration.random_median == record["random_median"]
    assert 0.2 < calibration.random_median < calibration.paraphrase_median < 0.9


@needs_model
def test_calibration_is_what_is_measured_today(encoder: BgeSmall) -> None:
    calibrate = run_path(str(ENCODER / "calibrate.py"))
    measured: dict[str, Any] = calibrate["measure"](encoder, calibrate["read_pairs"]())
    assert measured["random_median"] == pytest.approx(encoder.calibration.random_median, abs=0.005)
    assert measured["paraphrase_median"] == pytest.approx(encoder.calibration.paraphrase_median, abs=0.005)


def test_the_tag_names_model_file_and_dimensions() -> None:
    model = BgeSmall(ENCODER).model
    assert model.tag == "bge-small-en-v1.5-int8-68807e3f-384"
    assert model.dimensions == 384


def test_without_its_files_it_is_unavailable_and_says_how_to_get_them(tmp_path: Path) -> None:
    missing = BgeSmall(tmp_path)
    with pytest.raises(EmbeddingUnavailable, match=r"fetch\.py"):
        missing.embed_query("hello")
    with pytest.raises(EmbeddingUnavailable, match=r"fetch\.py"):
        missing.embed_passages(["hello"])
    with pytest.raises(EmbeddingUnavailable, match="no calibration"):
        _ = missing.calibration


def test_a_damaged_file_is_unavailable(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).write_bytes(b"{")
    with pytest.raises(EmbeddingUnavailable):
        BgeSmall(tmp_path).embed_query("hello")


@needs_model
def test_a_failing_run_may_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exhausted:
        def run(self, outputs: list[str], inputs: dict[str, Any]) -> None:
            raise MemoryError("no room")

    fresh = BgeSmall(ENCODER)
    fresh.embed_query("hello")
    assert fresh._encoder is not None
    monkeypatch.setattr(fresh._encoder._model, "_session", Exhausted())
    with pytest.raises(EmbeddingRetryable, match="no room"):
        fresh.embed_query("hello")


def test_the_adapter_imports_nothing_heavy_until_a_text_comes() -> None:
    code = (
        "import sys, pathlib; from neve.adapters.embedders.bge_small import BgeSmall;"
        "BgeSmall(pathlib.Path('x')).model;"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": str(ENCODER.parent / "core")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"


def test_no_embedder_says_so() -> None:
    none = NoEmbedder()
    assert (none.model.tag, none.model.dimensions) == ("none", 0)
    with pytest.raises(EmbeddingUnavailable, match="no embedder"):
        none.embed_query("hello")
    with pytest.raises(EmbeddingUnavailable, match="no embedder"):
        none.embed_passages(["hello"])


class _Held:
    """Encodes a query only when it may."""

    def __init__(self) -> None:
        self.inside, self.may = Event(), Event()
        self.done: list[str] = []

    def encode(self, text: str) -> bytes:
        if text.startswith(QUERY_PREFIX):
            self.inside.set()
            assert self.may.wait(PATIENCE_S)
        self.done.append(text)
        return b""


def test_a_batch_gives_way_to_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_model, "MAX_YIELD_S", PATIENCE_S)
    encoder, held = BgeSmall(ENCODER), _Held()
    encoder._encoder = held  # type: ignore[assignment]
    with ThreadPoolExecutor(2) as pool:
        query = pool.submit(encoder.embed_query, "where?")
        assert held.inside.wait(PATIENCE_S)
        batch = pool.submit(encoder.embed_passages, ["tea", "rum"])
        with pytest.raises(TimeoutError):
            batch.result(0.05)
        assert held.done == []
        held.may.set()
        query.result(PATIENCE_S)
        batch.result(PATIENCE_S)
    assert held.done[0] == f"{QUERY_PREFIX}where?" and sorted(held.done[1:]) == ["rum", "tea"]


def test_a_batch_comes_to_its_end_however_many_queries_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_model, "MAX_YIELD_S", 0.01)
    encoder, held = BgeSmall(ENCODER), _Held()
    encoder._encoder = held  # type: ignore[assignment]
    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(encoder.embed_query, "where?")
        assert held.inside.wait(PATIENCE_S)
        assert encoder.embed_passages(["tea"]) == [b""]
        held.may.set()
        query.result(PATIENCE_S)


class _Counted:
    """How many texts were in it at once, at most. Two wait for each other for a moment."""

    def __init__(self) -> None:
        self._met = Barrier(2)
        self._lock = Lock()
        self._inside = 0
        self.most = 0

    def encode(self, text: str) -> bytes:
        if text.startswith(QUERY_PREFIX):
            return b""
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
        with suppress(BrokenBarrierError):
            self._met.wait(0.05)
        with self._lock:
            self._inside -= 1
        return b""


@pytest.mark.parametrize(("asked_s_ago", "at_once"), [(0.5, 1), (5.0, 2)])
def test_whoever_asked_a_moment_ago_finds_a_core_free(
    asked_s_ago: float, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_model, "MAX_TURN_S", PATIENCE_S)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    now, counted = [0.0], _Counted()
    encoder = BgeSmall(ENCODER)
    encoder._queries = onnx_model.QueriesFirst(lambda: now[0])
    encoder._encoder = counted  # type: ignore[assignment]
    encoder.embed_query("where?")
    now[0] += asked_s_ago
    assert encoder.embed_passages(["tea", "rum"]) == [b"", b""]
    assert counted.most == at_once
