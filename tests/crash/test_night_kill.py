"""A small night, killed with ``kill -9`` and started again: nothing doubled, nothing lost, nothing seen mixed.

The full one is ``python -m evals.nightly``."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.nightly.night import play
from evals.nightly.people import Size


@pytest.mark.parametrize("seed", [7, 20])
def test_a_night_that_is_killed_condenses_every_row_once(tmp_path: Path, seed: int) -> None:
    night = play(tmp_path / "data", Size(users=20, rows=30), seed=seed, kills=2, model_s=0.01, tell=lambda _: None)
    assert (night.wrong, night.mixed, night.packs_changed) == ([], [], 0)
    assert len(night.killed_at) == 2
