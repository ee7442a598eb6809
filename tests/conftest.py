"""For every test: no network but this machine's, and a loud line about tests that lacked their servers or their
encoder."""

from __future__ import annotations

import os

import pytest

from tests.encoder import NO_ENCODER, need_encoder
from tests.no_network import forbid_the_network
from tests.servers import NO_SERVERS

LOUD = {
    NO_SERVERS: "tests on real servers that were NOT run",
    NO_ENCODER: "tests of the real encoder that were NOT run",
}


def pytest_configure(config: pytest.Config) -> None:
    """The black-box tests may reach the stage that they are pointed at."""
    if "NEVE_STAGE_URL" not in os.environ:
        forbid_the_network()


@pytest.fixture(scope="session")
def encoder_files() -> None:
    """The test is about the real encoder."""
    need_encoder()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    for begin, title in LOUD.items():
        lacking = [reason.split(begin, 1)[1] for reason in reasons if begin in reason]
        if lacking:
            terminalreporter.section(title, yellow=True, bold=True)
            terminalreporter.line(f"{len(lacking)} tests: {lacking[0]}")
