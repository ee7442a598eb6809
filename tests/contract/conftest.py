"""Every fixture here runs a test once per engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.ports.table import Table
from tests.contract.engines.deviations import mark_of
from tests.contract.engines.harnesses import ObjectsHarness, QueueHarness
from tests.contract.engines.registry import OBJECTS, QUEUES, TABLES

ENGINES = ("table_engine", "queue_engine", "objects_engine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what an engine is known to do otherwise (``deviations``)."""
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            for engine in filter(None, map(item.callspec.params.get, ENGINES)):
                if mark := mark_of(str(engine), item.originalname, item.name):
                    item.add_marker(mark)


@pytest.fixture(params=TABLES)
def table_engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(table_engine: str, tmp_path: Path) -> Iterator[Table]:
    engine = TABLES[table_engine]
    with engine.connect((engine.empty or engine.create)(tmp_path)) as opened:
        yield opened


@pytest.fixture(params=QUEUES)
def queue_engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def queues(queue_engine: str, tmp_path: Path) -> Iterator[QueueHarness]:
    engine = QUEUES[queue_engine]
    with engine.connect(engine.create(tmp_path)) as opened:
        yield opened


@pytest.fixture(params=OBJECTS)
def objects_engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def objects(objects_engine: str, tmp_path: Path) -> Iterator[ObjectsHarness]:
    engine = OBJECTS[objects_engine]
    with engine.connect(engine.create(tmp_path)) as opened:
        yield opened
