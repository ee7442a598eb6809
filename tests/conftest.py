"""For every test: no network but this machine's, and a loud line about tests that lacked their servers."""

from __future__ import annotations

import os

import pytest

from tests.no_network import forbid_the_network
from tests.servers import NO_SERVERS


def pytest_configure(config: pytest.Config) -> None:
    """The black-box tests may reach the stage that they are pointed at."""
    if "NEVE_STAGE_URL" not in os.environ:
        forbid_the_network()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    lacking = [reason.split(NO_SERVERS, 1)[1] for reason in reasons if NO_SERVERS in reason]
    if lacking:
        terminalreporter.section("tests on real servers that were NOT run", yellow=True, bold=True)
        terminalreporter.line(f"{len(lacking)} tests: {lacking[0]}")
