"""What the tests of prompts stand on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    made.open()
    yield made
    made.close()
