"""The conformance suite of the protocol's own people, in both eras."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_server.bridge import bridged
from tests.mcp_server.suite import run_scenario

OLD, NEW = "2025-11-25", "2026-07-28"
SCENARIOS = [
    *((name, OLD) for name in ("server-initialize", "ping", "tools-list", "resources-list")),
    *((name, NEW) for name in ("server-stateless", "tools-list", "resources-list", "caching")),
    *((name, NEW) for name in ("http-header-validation", "dns-rebinding-protection")),
]
NOT_OURS = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
        "sep-2575-server-sends-subscription-ack",
        "sep-2575-server-tags-subscription-id",
        "sep-2575-server-honors-notification-filter",
        "sep-2575-server-sends-prompts-list-changed-on-subscription",
        "sep-2575-server-sends-tools-list-changed-on-subscription",
    }
}
"""Checks that call tools of the suite's own example server (one that asks the client for something, one that logs), and
those of subscriptions, which a server that answers at once and whole does not offer."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with bridged() as url:
        yield url


@pytest.mark.parametrize(("scenario", "version"), SCENARIOS)
def test_the_suite_finds_nothing(server: str, tmp_path: Path, scenario: str, version: str) -> None:
    said = re.sub(r"\x1b\[\d+m", "", run_scenario(server, scenario, version, tmp_path))
    checks = dict(re.findall(r"^\S+ \[([\w-]+) *\] (SUCCESS|FAILURE|WARNING|SKIPPED|INFO)\b", said, re.MULTILINE))
    wrong = {name for name, found in checks.items() if found not in ("SUCCESS", "INFO")}
    assert "SUCCESS" in checks.values(), said
    assert wrong == NOT_OURS.get(scenario, set()), said
