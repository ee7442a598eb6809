"""Where servers cannot run, tests on them are skipped loudly, or fail where they are required; and no test gets out."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from local.template import ROOT
from tests.no_network import NetworkForbidden

TWO_TESTS = """
from tests.servers import dynamodb_url, s3_url

def test_a_table():
    assert dynamodb_url()

def test_an_object():
    assert s3_url()
"""
NO_JDK = "no JDK 17 or newer: neither JAVA_HOME nor the path leads to a java that can compile"


def _run_two_tests(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_two.py").write_text(TWO_TESTS)
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "NEVE_REQUIRE_SERVERS")}
    paths = {"PYTHONPATH": os.pathsep.join(sys.path), "JAVA_HOME": str(folder / "no-jdk")}
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    return subprocess.run(
        [*command, "--rootdir", str(folder), str(folder / "test_two.py")],
        env={**inherited, **paths, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_they_are_skipped_and_counted(tmp_path: Path) -> None:
    done = _run_two_tests(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests on real servers that were NOT run" in done.stdout
    assert f"2 tests: {NO_JDK}" in done.stdout
    assert "2 skipped" in done.stdout


@pytest.mark.parametrize("required", [{"NEVE_REQUIRE_SERVERS": "1"}, {"CI": "true"}], ids=["required", "ci"])
def test_they_fail_where_servers_are_required(tmp_path: Path, required: dict[str, str]) -> None:
    done = _run_two_tests(tmp_path, **required)
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"real servers cannot run here: {NO_JDK}" in done.stdout
    assert "2 failed" in done.stdout


@pytest.mark.skipif("NEVE_STAGE_URL" in os.environ, reason="these tests may reach the stage")
def test_no_test_reaches_another_machine() -> None:
    with socket.socket() as trying:
        with pytest.raises(NetworkForbidden, match=r"192\.0\.2\.1"):
            trying.connect(("192.0.2.1", 443))
        with pytest.raises(NetworkForbidden, match=r"192\.0\.2\.1"):
            trying.connect_ex(("192.0.2.1", 443))
    with pytest.raises(NetworkForbidden, match=r"look-up of example\.org"):
        socket.create_connection(("example.org", 443))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        with socket.create_connection(("localhost", listening.getsockname()[1])) as here:
            assert here.getpeername()[0] == "127.0.0.1"
