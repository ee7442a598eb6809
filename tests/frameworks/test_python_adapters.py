"""The packages of sdk/adapters that are Python, each beside its framework and in a process of its own: the SDK has the
name of the service's package."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.frameworks.places import ADAPTERS, PACKAGES, PYTHON_TESTS

SUITES = ["test_openai_agents.py", "test_strands.py"]


@pytest.mark.parametrize("suite", SUITES)
def test_an_adapter_does_as_its_frameworks_own_reference(suite: str, passes: Callable[[str], None]) -> None:
    passes(suite)


def test_no_adapter_is_without_a_suite() -> None:
    assert {path.parent for path in ADAPTERS.glob("*/pyproject.toml")} <= set(PACKAGES)
    assert {path.name for path in PYTHON_TESTS.glob("test_*.py")} > set(SUITES)
