"""The encoder of many languages, on its real files; without them every test of it is skipped with the reason, or fails
where nothing may be skipped. What all embedders promise: ``test_embedders.py``."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from local.backend import ENCODER, MULTI
from neve.adapters.embedders.load_once import ASKED_AGAIN_S
from neve.adapters.embedders.multi_e5 import DIRECTIONS, FILES, MODEL, MODEL_TAG, MultilingualE5, PlainE5
from neve.adapters.model_files import FolderFiles, check_sum
from neve.domain.recall.fusion import calibrate
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable, ModelMissing, StoreUnavailable
from neve.ports.models import ModelFile

needs_model = pytest.mark.usefixtures("multi_files")
MADE_BY_ITS_OWN_ENGINE = Path(__file__).with_name("multi_e5_vectors.json")
"""The first eight numbers of a vector in each of eleven languages, by the package that its weights are from."""


@pytest.fixture(scope="module")
def encoder() -> MultilingualE5:
    return MultilingualE5(FolderFiles(MULTI), ENCODER)


class Counted:
    """Files that cannot be had until ``error`` is None."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error
        self.asked = 0

    def path(self, file: ModelFile) -> Path:
        self.asked += 1
        if self.error:
            raise self.error
        return MULTI / file.name


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    return product / math.hypot(*left) / math.hypot(*right)


def floats(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{MODEL.dimensions}f", vector)


@needs_model
def test_the_converted_model_makes_the_vectors_of_its_own_engine() -> None:
    plain = PlainE5(FolderFiles(MULTI))
    lines: list[dict[str, Any]] = json.loads(MADE_BY_ITS_OWN_ENGINE.read_text(encoding="utf-8"))
    made, expected = [], []
    for line in lines:
        mean = plain.mean(f"{line['kind']}: {line['text']}")
        first = [float(number) for number in mean / math.hypot(*mean)][: len(line["first"])]
        assert cosine(first, line["first"]) >= 0.9999, line["language"]
        made += first
        expected += line["first"]
    assert len({line["language"] for line in lines}) == 11 and len(expected) == 88
    assert cosine(made, expected) >= 0.9999


@needs_model
def test_queries_and_passages_are_told_apart(encoder: MultilingualE5) -> None:
    assert encoder.embed_query("una hermana") != encoder.embed_passages(["una hermana"])[0]


@needs_model
def test_code_points_are_read_as_the_model_was_trained(encoder: MultilingualE5) -> None:
    assert encoder.embed_query("ＡＢＣ １２３\u00a0ﬁn") == encoder.embed_query("ABC 123 fin")
    assert encoder.embed_query("caf\u0065\u0301") == encoder.embed_query("caf\u00e9")
    assert encoder.embed_query("two  spaces") == encoder.embed_query("two spaces")


@needs_model
@pytest.mark.parametrize(
    ("asked", "answer", "other"),
    [
        ("Wie heißt meine Schwester?", "Meine Schwester heißt Maria.", "Die Waschmaschine ist kaputt."),
        ("我妹妹叫什么名字？", "我的妹妹叫玛丽亚。", "洗衣机坏了。"),
        ("मेरी बहन का नाम क्या है?", "मेरी बहन का नाम मारिया है।", "कपड़े धोने की मशीन ख़राब है।"),
        ("ما اسم أختي؟", "أختي اسمها ماريا.", "الغسالة معطلة."),
    ],
)
def test_one_threshold_serves_every_language(encoder: MultilingualE5, asked: str, answer: str, other: str) -> None:
    query = floats(encoder.embed_query(asked))
    found = [cosine(query, floats(vector)) for vector in encoder.embed_passages([answer, other])]
    near, far = calibrate(found, encoder.calibration)
    assert near >= 0.7 > far


@needs_model
def test_calibration_is_what_is_measured_today(encoder: MultilingualE5) -> None:
    script = run_path(str(ENCODER / "calibrate.py"))
    measured = script["measure"](encoder, script["read_pairs"](ENCODER / script["MANY"]), script["MANY"])
    record = json.loads((ENCODER / "calibration.json").read_text(encoding="utf-8"))[MODEL_TAG]
    assert (measured["method"], measured["random_pairs"]) == (record["method"], record["random_pairs"])
    assert measured["random_median"] == pytest.approx(encoder.calibration.random_median, abs=0.005)
    assert measured["paraphrase_median"] == pytest.approx(encoder.calibration.paraphrase_median, abs=0.005)


@needs_model
def test_files_that_come_later_are_found_then_and_not_asked_for_meanwhile() -> None:
    now = [0.0]
    files = Counted(ModelMissing("not there"))
    encoder = MultilingualE5(files, ENCODER, lambda: now[0])
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable, match="not there"):
            encoder.embed_query("hola")
    assert files.asked == 1
    files.error, now[0] = None, ASKED_AGAIN_S
    assert encoder.load() is True and encoder.load() is False
    assert len(encoder.embed_query("hola")) == 4 * MODEL.dimensions


def test_a_bucket_that_does_not_answer_may_be_asked_again() -> None:
    encoder = MultilingualE5(Counted(StoreUnavailable("objects", "down")), ENCODER)
    with pytest.raises(EmbeddingRetryable, match="down"):
        encoder.embed_passages(["hola"])


def test_a_damaged_file_is_no_model(tmp_path: Path) -> None:
    for file in FILES:
        (tmp_path / file.name).write_bytes(b"half of it")
    with pytest.raises(EmbeddingUnavailable, match="sha256"):
        MultilingualE5(FolderFiles(tmp_path), ENCODER).load()


def test_a_function_without_the_layer_knows_the_model_and_embeds_nothing() -> None:
    encoder = MultilingualE5(Counted(ModelMissing("never asked")), None)
    assert encoder.model == MODEL
    with pytest.raises(EmbeddingUnavailable, match="no encoder layer"):
        _ = encoder.calibration


def test_the_script_makes_the_files_that_the_adapter_reads() -> None:
    sums = run_path(str(ENCODER / "fetch_multi.py"))["SUMS"]
    assert sums == {file.name: file.sha256 for file in FILES}
    check_sum((ENCODER / DIRECTIONS.name).read_bytes(), DIRECTIONS)


def test_the_adapter_imports_nothing_heavy_until_a_text_comes() -> None:
    code = (
        "import sys; from neve.adapters.embedders.multi_e5 import MultilingualE5; MultilingualE5(None, None).model;"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    )
    environment = {"PYTHONPATH": str(ENCODER.parent / "core")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "[]"
