"""Node, and the TypeScript SDK built with it. A test that asks where Node 20 is missing is skipped, and the summary
says loudly how many were; with NEVE_REQUIRE_SERVERS=1 or CI=true it fails instead."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import pytest

from local.template import ROOT

PACKAGE = ROOT / "sdk" / "typescript"
OLDEST = 20
NO_NODE = "the TypeScript SDK cannot be tested here: "
"""How the reason of every such skip begins."""
LIMIT_S = 900


def need_sdk() -> Path:
    """The folder of the built package. Skips the test that calls it where Node is missing, or fails it where it has to
    be there; fails it where the package cannot be built."""
    if reason := missing():
        if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
            pytest.fail(f"{NO_NODE}{reason}", pytrace=False)
        pytest.skip(f"{NO_NODE}{reason}")
    if failure := _built():
        pytest.fail(failure, pytrace=False)
    return PACKAGE


def run(
    *command: str, environment: Mapping[str, str] | None = None, folder: Path = PACKAGE
) -> subprocess.CompletedProcess[str]:
    """In the package's folder, without what the shell says of a service."""
    of_others = {name for name in os.environ if name.startswith("NEVE_") and name != "NEVE_FRAMEWORKS"}
    kept = {name: value for name, value in os.environ.items() if name not in of_others}
    return subprocess.run(
        command,
        cwd=folder,
        env=kept | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@cache
def missing() -> str | None:
    """Say why Node cannot be used here; None: it can."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            return f"there is no {program}; Node {OLDEST} or newer has it"
    version = run("node", "--version").stdout.strip()
    found = re.match(r"v(\d+)", version)
    return None if found and int(found[1]) >= OLDEST else f"Node is {version}, and {OLDEST} is needed"


@cache
def _built() -> str | None:
    return built(PACKAGE, lambda: run("node", "build.mjs"))


def built(folder: Path, build: Callable[[], subprocess.CompletedProcess[str]], *, installs: bool = True) -> str | None:
    """Install and build what is older than its sources, one process at a time: a build takes away what the tests of
    another one import. What went wrong, else None."""
    with (folder / ".building").open("a+b") as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        stamp.seek(0)
        if stamp.read() == _files(folder):
            return None
        installed, lock = folder / "node_modules" / ".stamp", folder / "package-lock.json"
        if installs and (not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime):
            done = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder)
            if done.returncode:
                return f"npm ci failed:\n{done.stdout}"
            installed.touch()
        done = build()
        if done.returncode:
            return f"the build in {folder.name} failed:\n{done.stdout}"
        stamp.truncate(0)
        stamp.write(_files(folder))
    return None


def _files(folder: Path) -> bytes:
    """What a build is made of, what it has made, and when."""
    patterns = (
        "dist/*",
        "*/dist/*",
        "src/*",
        "src/*/*",
        "src/*/*/*",
        "*/src/*",
        "*.mjs",
        "*.json",
        "node_modules/.stamp",
    )
    files = [f"{file} {file.stat().st_mtime_ns}" for pattern in patterns for file in folder.glob(pattern)]
    return "\n".join([os.environ.get("NEVE_FRAMEWORKS", ""), *sorted(files)]).encode()
