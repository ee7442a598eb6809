"""Worlds and a model's provider, which are closed behind the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.loopback.server import Loopback, running
from tests.unit.recall_world import RecallWorld
from tests.unit.world import World


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[World]:
    """Nothing has been said in it."""
    made = World.make(tmp_path)
    with closing(made.table):
        yield made


@pytest.fixture
def world(new_world: World) -> World:
    """With the session ``s1`` of ann; a folder or file whose world is another one has its own."""
    new_world.open()
    return new_world


@pytest.fixture
def new_recall_world(tmp_path: Path) -> Iterator[RecallWorld]:
    with closing(RecallWorld.make(tmp_path)) as made:
        yield made


@pytest.fixture
def recall_world(new_recall_world: RecallWorld) -> RecallWorld:
    """With the session ``s1`` of ann."""
    new_recall_world.open()
    return new_recall_world


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """Serve as a strict provider of models on this machine."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with running() as loopback:
        yield loopback
