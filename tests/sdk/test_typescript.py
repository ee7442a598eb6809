"""The TypeScript SDK: its own tests, which Node runs against a service, a proxy that injects faults, and a model."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from local.api_client import ApiClient
from local.running import RunningServer, start_server
from local.template import ROOT
from tests.loopback.server import Loopback
from tests.sdk.node import need_sdk, run
from tests.sdk.proxy import Proxy

PREFIX = {"identity": "You are the assistant of a bakery. " * 200, "version": "1.0.0"}
"""Above the 1,024 tokens from which the model caches."""


@pytest.fixture(autouse=True)
def sdk() -> Path:
    return need_sdk()


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A service whose tenant has a static prefix."""
    running = start_server(tmp_path_factory.mktemp("typescript") / "data", test_controls=True)
    with closing(ApiClient(running.base_url, running.key)) as client:
        client.expect(200, "PUT", "/v1/policy", {"static_prefix": PREFIX, "chat_model": "claude-sonnet-5"})
    yield running
    running.stop()


def pass_in_node(name: str, environment: Mapping[str, str]) -> None:
    """All tests of a file, of which none may be left out."""
    done = run("node", "--test", "--test-reporter=tap", f"test/{name}.test.mjs", environment=environment)
    assert done.returncode == 0, done.stdout
    counts = dict(re.findall(r"^# (tests|pass|skipped) (\d+)$", done.stdout, re.MULTILINE))
    assert counts["tests"] == counts["pass"] and int(counts["tests"]) > 0, done.stdout
    assert counts["skipped"] == "0", done.stdout


def where(service: RunningServer) -> dict[str, str]:
    return {"NEVE_URL": service.base_url, "NEVE_KEY": service.key}


def test_it_does_without_a_service_what_needs_none() -> None:
    pass_in_node("unit", {})


@pytest.mark.parametrize("name", ["scenarios", "outage"])
def test_it_is_held_to_the_same_as_every_language(name: str, service: RunningServer, faulty: Proxy) -> None:
    pass_in_node(name, where(service) | {"NEVE_PROXY": faulty.url})


def test_its_memory_tool_answers_as_that_on_a_file_system(service: RunningServer) -> None:
    pass_in_node("memory-tool", where(service))


def test_the_programs_of_its_page_run_as_they_stand(bakery: RunningServer, model: Loopback) -> None:
    pass_in_node("quickstart", where(bakery) | {"NEVE_MODEL": model.url})


def test_what_is_generated_is_of_the_described_calls() -> None:
    done = run("node", "generate.mjs", "--check")
    assert done.returncode == 0, done.stdout


def test_it_is_packed_and_imported_in_an_empty_folder() -> None:
    done = run("node", "package.mjs")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("imports and runs it in an empty folder") == 2


def test_the_lock_names_sums_and_no_registry() -> None:
    lock = (ROOT / "sdk" / "typescript" / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 20


@pytest.mark.parametrize(("required", "ends"), [({}, "1 skipped"), ({"NEVE_REQUIRE_SERVERS": "1"}, "1 failed")])
def test_without_node_it_is_said_loudly(required: dict[str, str], ends: str, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("from tests.sdk.node import need_sdk\ndef test_one():\n    need_sdk()\n")
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-p", "tests.conftest"]
    environment = {"PATH": str(tmp_path), "PYTHONPATH": ":".join(sys.path), **required}
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), str(tmp_path / "test_one.py")],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ends in done.stdout, done.stdout + done.stderr
    assert "there is no node" in done.stdout
    assert required or "tests of the TypeScript SDK that were NOT run" in done.stdout
