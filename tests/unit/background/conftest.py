"""What the outbox has given up: a session of which nobody has told the workers anything."""

from __future__ import annotations

import pytest

from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(recall_world: RecallWorld) -> RecallWorld:
    recall_world.say("I moved to Oslo.", "Noted.")
    return recall_world
