"""A user's file is clean for the type checkers of users, which see the package alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.sdk.__main__ import old
from local.template import ROOT

FILE = ROOT / "tests" / "sdk" / "users_file.py"
PACKAGE = ROOT / "sdk" / "python"
PYRIGHT = ROOT / ".venv-pyright" / "node_modules" / ".bin" / "pyright"
MYPY = """[mypy]
strict = true
[mypy-anthropic.*,openai.*,httpx2.*]
follow_imports = skip
ignore_missing_imports = true
"""
"""Those take mypy a minute; pyright reads them."""
NO_PYRIGHT = "pyright is not there (make pyright needs npm): a user's file was NOT checked by it"


def test_what_is_generated_is_as_generated() -> None:
    assert old() == []


def test_mypy_finds_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "MYPYPATH": str(PACKAGE), "PYTHONPATH": ""}
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        os.devnull,
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    done = subprocess.run(
        [*command, str(FILE)], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
    )
    assert done.stdout.startswith("Success"), done.stdout + done.stderr


def test_pyright_finds_nothing(tmp_path: Path) -> None:
    if not PYRIGHT.exists():
        if os.environ.get("NEVE_REQUIRE_SERVERS"):
            pytest.fail(NO_PYRIGHT)
        pytest.skip(NO_PYRIGHT)
    (tmp_path / "users_file.py").write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(
        f'{{"typeCheckingMode": "standard", "extraPaths": ["{PACKAGE}"]}}', encoding="utf-8"
    )
    command = [str(PYRIGHT), "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "0 errors, 0 warnings" in done.stdout, done.stdout + done.stderr
