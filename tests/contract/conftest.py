"""Every fixture here runs a test once per engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neve.ports import Table
from tests.contract.engines import OBJECTS, QUEUES, TABLES, ObjectsHarness, QueueHarness


@pytest.fixture(params=TABLES)
def table_engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def table(table_engine: str, tmp_path: Path) -> Iterator[Table]:
    engine = TABLES[table_engine]
    with engine.connect(engine.create(tmp_path)) as opened:
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
