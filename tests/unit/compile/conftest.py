"""What the tests of prompts stand on."""

import pytest

from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    return recall_world
