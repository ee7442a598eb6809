"""For every test: no network but this machine's, one set of servers a run, files in memory, the long tests first, and a
loud line about tests that lacked their servers or their encoder."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from local.api_client import ApiClient
from tests import in_memory, server_keeper
from tests.console.browser import NO_BROWSER
from tests.distribution import Groups, long_first
from tests.encoder import NO_ENCODER, need_encoder, need_multi, need_reranker
from tests.frameworks.places import NO_FRAMEWORKS
from tests.mcp_server.suite import NO_SUITE
from tests.no_network import forbid_the_network
from tests.own_beginning import import_from_own_place
from tests.patience import PATIENCE_S
from tests.sdk.node import NO_NODE
from tests.servers import NO_SERVERS

KEEPER = "server_keeper"
LOOK_FOR_CYCLES_AFTER = (20_000, 20, 100)
"""New objects, and looks at the generation before; Python's default is 700, 10, 10."""
LOUD = {
    NO_SERVERS: "tests on real servers that were NOT run",
    NO_ENCODER: "tests of the real encoder that were NOT run",
    NO_NODE: "tests of the TypeScript SDK that were NOT run",
    NO_FRAMEWORKS: "tests of adapters that were NOT run",
    NO_BROWSER: "tests of the console in a browser that were NOT run",
    NO_SUITE: "conformance tests of MCP that were NOT run",
}


def pytest_configure(config: pytest.Config) -> None:
    """The black-box tests may reach the stage that they are pointed at. Properties are reproducible, and none is held
    to a time: the machine may be busy."""
    settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("same")
    if "NEVE_STAGE_URL" not in os.environ:
        forbid_the_network()
    in_memory.keep_temporary_files()
    ApiClient.timeout_s = PATIENCE_S
    if (port := getattr(config, "workerinput", {}).get(KEEPER)) is not None:
        server_keeper.ask(port)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """pytest-xdist is about to start a process: its tests use the servers of this one."""
    node.workerinput[KEEPER] = server_keeper.answer_workers()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups:
    """Whatever ``--dist`` says. The groups come in the order of the tests, not of their size."""
    config.option.loadscopereorder = False
    return Groups(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Python does not look for cycles meanwhile, nor ever again in what is there then: modules and tests, all of which
    stay. It took a fifth of this time, and a twentieth of the tests'."""
    gc.disable()
    try:
        if hasattr(session.config, "workerinput"):
            import_from_own_place(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*LOOK_FOR_CYCLES_AFTER)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Coverage is that of the unit tests, whatever else runs beside them."""
    for item in items:
        if config.pluginmanager.has_plugin("pytest_cov") and not item.nodeid.startswith("tests/unit/"):
            item.add_marker(pytest.mark.no_cover)
    if hasattr(config, "workerinput"):
        long_first(items)


@pytest.fixture(scope="session")
def encoder_files() -> None:
    """The test is about the real encoder."""
    need_encoder()


@pytest.fixture(scope="session")
def reranker_files() -> None:
    """The test is about the real cross-encoder."""
    need_reranker()


@pytest.fixture(scope="session")
def multi_files() -> None:
    """The test is about the real encoder of many languages."""
    need_multi()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)]
    for begin, title in LOUD.items():
        lacking = [reason.split(begin, 1)[1] for reason in reasons if begin in reason]
        if lacking:
            terminalreporter.section(title, yellow=True, bold=True)
            terminalreporter.line(f"{len(lacking)} tests: {lacking[0]}")
