"""Blocks of Python of a page, and running one as its reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from local.template import ROOT
from tests.patience import PATIENCE_S

PATIENTLY = """import runpy, sys
from neve._shared.settings import TIMEOUTS_S
TIMEOUTS_S.update(dict.fromkeys(TIMEOUTS_S, 60.0))
runpy.run_path(sys.argv[1], run_name="__main__")"""
"""Runs a program as it stands on a machine that may be busy: no page is about what a call's default budget cuts off."""
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(page: str) -> list[str]:
    """Of a page below ``docs/``."""
    return BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))


def lines_of_code(block: str) -> int:
    """Lines that a reader would count."""
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in block.splitlines())


def run(block: str, folder: Path, typed: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A block in a process of its own that has the SDK and nothing else of the repository."""
    script = folder / "script.py"
    script.write_text(block, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEVE_", "PYTHON"))}
    own = {"PYTHONPATH": str(ROOT / "sdk" / "python"), "PYTHONWARNINGS": "error", **environment}
    command = [sys.executable, "-c", PATIENTLY, str(script)]
    return subprocess.run(
        command, input=typed, capture_output=True, text=True, env=kept | own, timeout=PATIENCE_S, check=False
    )
