"""A deviation of an engine or a test that does not exist would never be noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.engines.deviations import DEVIATIONS, NOT_RUN, RACES
from tests.contract.engines.registry import OBJECTS, QUEUES, TABLES

SUITES = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize(("engine", "test"), [*DEVIATIONS, *RACES, *NOT_RUN])
def test_a_deviation_is_of_an_engine_and_a_test_that_exist(engine: str, test: str) -> None:
    assert engine in {*TABLES, *QUEUES, *OBJECTS}
    assert f"def {test.partition('[')[0]}(" in SUITES
