"""What the outbox has given up: a session of which nobody has told the workers anything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.recall_world import RecallWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    made.open()
    made.say("I moved to Oslo.", "Noted.")
    yield made
    made.close()
