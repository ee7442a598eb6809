"""``python -m local.reindex`` on the embedded engine: whatever happens, the next start has a whole index."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from local import backend
from local.api_client import ApiClient
from local.backend import SEARCH, Choices, EmbeddedPorts
from local.controls.fixture_embedder import MODEL as FIXTURE
from local.datafolder import DataFolderError, FolderInUse, open_data_folder
from local.engine.search.search_index import SqliteSearchIndex
from local.recovery.search_swap import file_beside, put_in_place
from local.reindex import __main__ as command
from local.reindex.__main__ import reindex_folder
from local.template import ROOT, read_template
from neve.ports.errors import EmbeddingUnavailable, StoreUnavailable
from neve.ports.search import IndexModel, Owner
from tests.forked_servers import forked_servers

NONE = IndexModel("none", 0)
TEXTS = ("The kayak is blue", "The tent is green", "The stove is red")
ANN = Owner("local", "ann")


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service that was stopped: three memories, indexed with the fixture's vectors."""
    path = tmp_path_factory.mktemp("used") / "data"
    server = forked_servers().start(path)
    try:
        with closing(ApiClient(server.base_url, server.key)) as client:
            for text in TEXTS:
                client.expect(201, "POST", "/v1/users/ann/memories", {"text": text})
            assert client.expect(200, "POST", "/__test/drain", {})["done"]
    finally:
        server.stop()
    return path


@pytest.fixture
def data(used: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(used, tmp_path / "data"))


def start(path: Path, embedder: str) -> tuple[IndexModel, int]:
    """The index that a service finds: its model, and how many passages of ann it holds."""
    folder = open_data_folder(path)
    assert folder.moved_aside is None, folder.damage
    with closing(EmbeddedPorts(folder.path, read_template(), "", Choices(embedder))) as ports:
        found = ports.search.model(), ports.search.count(ANN)
    folder.close()
    return found


def beside(path: Path) -> list[str]:
    return [file.name for file in path.iterdir() if file.name.startswith(file_beside(path / SEARCH).name)]


def test_the_index_is_rebuilt_for_another_model(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reindex_folder(data, "embedded", "none")
    assert start(data, "none") == (NONE, 3)
    assert "search.db is for none now: 1 users, 3 memories, 0 logs." in capsys.readouterr().out
    reindex_folder(data, "embedded", "fixture")
    assert start(data, "fixture") == (FIXTURE, 3)
    assert beside(data) == []


@pytest.mark.parametrize(
    ("place", "before", "model"),
    [
        ("reindex", True, FIXTURE),
        ("SqliteSearchIndex", False, FIXTURE),
        ("in the middle", True, FIXTURE),
        ("reindex", False, FIXTURE),
        ("put_in_place", True, FIXTURE),
        ("put_in_place", False, NONE),
    ],
)
def test_a_crash_leaves_a_whole_index(
    data: Path, monkeypatch: pytest.MonkeyPatch, place: str, before: bool, model: IndexModel
) -> None:
    """The folder as it is on disk at that moment is what a crash would leave."""
    left = data.with_name("left")

    def copied(work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if before:
                shutil.copytree(data, left, dirs_exist_ok=True)
            done = work(*given, **named)
            if not before:
                shutil.copytree(data, left, dirs_exist_ok=True)
            return done

        return call

    with monkeypatch.context() as hooks:
        if place == "in the middle":
            hooks.setattr(command, "Progress", lambda: copied(lambda _: None))
        else:
            hooks.setattr(command, place, copied(getattr(command, place)))
        reindex_folder(data, "embedded", "none")
    assert (beside(left) != []) is (model == FIXTURE)

    assert start(left, "fixture" if model == FIXTURE else "none") == (model, 3)
    assert beside(left) == [], "what nobody tells of an erasure must not stay"
    reindex_folder(left, "embedded", "none")
    assert start(left, "none") == (NONE, 3)


def test_without_an_embedder_that_works_nothing_changes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "ENCODER", tmp_path)
    with pytest.raises(EmbeddingUnavailable):
        reindex_folder(data, "embedded", "bge-small")
    assert start(data, "fixture") == (FIXTURE, 3)
    assert beside(data) == []


def test_a_folder_in_use_is_refused(data: Path) -> None:
    service = open_data_folder(data)
    with pytest.raises(FolderInUse, match="Stop it first"):
        reindex_folder(data, "embedded", "none")
    service.close()


@pytest.mark.parametrize("stack", ["embedded", "full"])
def test_a_folder_without_such_data_is_left_alone(tmp_path: Path, data: Path, stack: str) -> None:
    other = data if stack == "full" else tmp_path / "nothing"
    with pytest.raises(DataFolderError, match=f"--stack {stack}"):
        reindex_folder(other, stack, "none")
    assert not (tmp_path / "nothing").exists() and not (data / "servers").exists()


def test_a_file_that_is_still_open_never_changes_places(tmp_path: Path) -> None:
    search = tmp_path / SEARCH
    with closing(SqliteSearchIndex(search, FIXTURE)):
        SqliteSearchIndex(file_beside(search), NONE).close()
        with pytest.raises(StoreUnavailable, match="still open"):
            put_in_place(search)
    put_in_place(search)
    with closing(SqliteSearchIndex(search, FIXTURE)) as index:
        assert index.model() == NONE


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "local.reindex", "--data", str(tmp_path / "nothing"), "--embedder", "none"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("DataFolderError: ") and "Traceback" not in done.stderr
