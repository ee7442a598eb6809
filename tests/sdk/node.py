"""Node, and the TypeScript SDK built with it. A test that asks where Node 20 is missing is skipped, and the summary
says loudly how many were; with NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from local.template import ROOT

PACKAGE = ROOT / "sdk" / "typescript"
INSTALLED = PACKAGE / "node_modules" / ".stamp"
OLDEST = 20
NO_NODE = "the TypeScript SDK cannot be tested here: "
"""How the reason of every such skip begins."""
LIMIT_S = 900


def need_sdk() -> Path:
    """The folder of the built package. Skips the test that calls it where Node is missing, or fails it where it has to
    be there; fails it where the package cannot be built."""
    if reason := _missing():
        if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
            pytest.fail(f"{NO_NODE}{reason}", pytrace=False)
        pytest.skip(f"{NO_NODE}{reason}")
    if failure := _built():
        pytest.fail(failure, pytrace=False)
    return PACKAGE


def run(*command: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """In the package's folder, without what the shell says of a service."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NEVE_")}
    return subprocess.run(
        command,
        cwd=PACKAGE,
        env=kept | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@cache
def _missing() -> str | None:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            return f"there is no {program}; Node {OLDEST} or newer has it"
    version = run("node", "--version").stdout.strip()
    found = re.match(r"v(\d+)", version)
    return None if found and int(found[1]) >= OLDEST else f"Node is {version}, and {OLDEST} is needed"


@cache
def _built() -> str | None:
    """Tried once a process. What is installed stays until the lock changes, as with ``make sdk-typescript``."""
    lock = PACKAGE / "package-lock.json"
    if not INSTALLED.is_file() or INSTALLED.stat().st_mtime < lock.stat().st_mtime:
        done = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        if done.returncode:
            return f"npm ci failed:\n{done.stdout}"
        INSTALLED.touch()
    done = run("node", "build.mjs")
    return f"node build.mjs failed:\n{done.stdout}" if done.returncode else None
