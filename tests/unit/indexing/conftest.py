"""The world of most tests here; a file whose world is another one has its own."""

from __future__ import annotations

import pytest

from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    return recall_world
