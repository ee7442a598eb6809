"""Where the real encoder's files are missing, its tests are skipped loudly, or fail where nothing may be skipped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.template import ROOT

ONE_TEST = """
from pathlib import Path

import pytest

from tests import encoder

encoder.MODEL = Path("nowhere")

@pytest.mark.usefixtures("encoder_files")
def test_of_the_encoder():
    raise AssertionError("it must not run")
"""
REASON = "the real encoder cannot run here: nowhere is missing, run 'make encoder'"


def _run_one_test(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_one.py").write_text(ONE_TEST)
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "NEVE_REQUIRE_SERVERS")}
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    return subprocess.run(
        [*command, "--rootdir", str(folder), str(folder / "test_one.py")],
        env={**inherited, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_they_are_skipped_and_counted(tmp_path: Path) -> None:
    done = _run_one_test(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests of the real encoder that were NOT run" in done.stdout
    assert "1 tests: nowhere is missing" in done.stdout
    assert "1 skipped" in done.stdout


@pytest.mark.parametrize("required", [{"NEVE_REQUIRE_SERVERS": "1"}, {"CI": "true"}], ids=["required", "ci"])
def test_they_fail_where_nothing_may_be_skipped(tmp_path: Path, required: dict[str, str]) -> None:
    done = _run_one_test(tmp_path, **required)
    assert done.returncode == 1, done.stdout + done.stderr
    assert REASON in done.stdout
    assert "it must not run" not in done.stdout
