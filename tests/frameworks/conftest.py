"""One service for the tests of the adapters, and the environment that their frameworks are in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.frameworks.places import INSTALLED, NO_FRAMEWORKS, PYTHON_TESTS, run_tests, served


@pytest.fixture(scope="session")
def python() -> Path:
    """The interpreter that has the frameworks."""
    if not (INSTALLED / "stamp").is_file():
        reason = f"{NO_FRAMEWORKS}make {INSTALLED.name}/stamp installs them"
        if os.environ.get("NEVE_REQUIRE_SERVERS") == "1" or os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return INSTALLED / "bin" / "python"


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with served(tmp_path_factory.mktemp("frameworks") / "data") as environment:
        yield environment


@pytest.fixture
def passes(python: Path, surroundings: dict[str, str]) -> Callable[[str], None]:
    """Run a file of sdk/adapters/python, none of whose tests may fail or be left out."""

    def run(name: str) -> None:
        assert (PYTHON_TESTS / name).is_file()
        done = run_tests(python, surroundings, name)
        last = done.stdout.strip().rpartition("\n")[2]
        if done.returncode or "skipped" in last:
            pytest.fail(done.stdout, pytrace=False)

    return run
