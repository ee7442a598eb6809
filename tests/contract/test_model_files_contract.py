"""Where the files of an optional model come from: a folder, or the objects of any store."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from neve.adapters.model_files import CONTENT_TYPE, BucketFiles, FolderFiles, model_object
from neve.ports.errors import EmbeddingUnavailable, ModelMissing
from neve.ports.models import ModelFile, ModelFiles
from tests.contract.engines.harnesses import ObjectsHarness

BODY = bytes(range(256)) * 64
FILE = ModelFile("model.onnx", hashlib.sha256(BODY).hexdigest())
Put = Callable[[bytes], None]


@pytest.fixture(params=["folder", "bucket"])
def files(request: pytest.FixtureRequest, objects: ObjectsHarness, tmp_path: Path) -> tuple[ModelFiles, Put]:
    """And what puts bytes where it looks for ``FILE``."""
    if request.param == "bucket":
        store = objects.store
        return BucketFiles(lambda: store, tmp_path / "fetched"), lambda body: store.put(
            model_object(FILE), body, content_type=CONTENT_TYPE
        )
    folder = tmp_path / "folder"
    folder.mkdir()

    def put(body: bytes) -> None:
        (folder / FILE.name).write_bytes(body)

    return FolderFiles(folder), put


def test_a_file_is_there_once_somebody_has_put_it(files: tuple[ModelFiles, Put]) -> None:
    given, put = files
    with pytest.raises(ModelMissing, match=FILE.name):
        given.path(FILE)
    put(BODY)
    assert given.path(FILE).read_bytes() == BODY == given.path(FILE).read_bytes()


def test_a_file_of_another_sum_is_none(files: tuple[ModelFiles, Put]) -> None:
    given, put = files
    put(BODY[:-1])
    with pytest.raises(EmbeddingUnavailable, match="sha256"):
        given.path(FILE)
    put(BODY)
    assert given.path(FILE).read_bytes() == BODY


def test_what_was_fetched_is_fetched_once(objects: ObjectsHarness, tmp_path: Path) -> None:
    objects.store.put(model_object(FILE), BODY, content_type=CONTENT_TYPE)
    assert BucketFiles(lambda: objects.store, tmp_path).path(FILE).read_bytes() == BODY
    objects.store.delete(model_object(FILE))
    assert BucketFiles(lambda: objects.store, tmp_path).path(FILE).read_bytes() == BODY


def test_a_file_that_was_cut_off_half_fetched_is_fetched_again(objects: ObjectsHarness, tmp_path: Path) -> None:
    objects.store.put(model_object(FILE), BODY, content_type=CONTENT_TYPE)
    left = tmp_path / FILE.sha256 / f"{FILE.name}.part"
    left.parent.mkdir()
    left.write_bytes(BODY[:9])
    assert BucketFiles(lambda: objects.store, tmp_path).path(FILE).read_bytes() == BODY
