"""Nothing calls a number held out that the extractive observer had a part in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.retrieval.playing import SYSTEMS
from evals.retrieval.report import NOT_HELD_OUT, console_table

ROOT = Path(__file__).parents[3]
RESULT = json.loads((ROOT / "evals/results/retrieval.json").read_text(encoding="utf-8"))
WITH_MEMORIES = [system.name for system in SYSTEMS if system.memories]


def test_memories_are_not_held_out_on_what_their_observer_was_read_on() -> None:
    assert {system.name for system in SYSTEMS if not system.held_out("locomo")} == set(WITH_MEMORIES)
    assert set(WITH_MEMORIES) == {"memory", "both RRF", "both", "both deep", "prompt"}
    assert all(system.held_out("beam") for system in SYSTEMS)


def test_every_system_of_the_report_is_known() -> None:
    assert set(RESULT["ms"]) <= {system.name for system in SYSTEMS} | {"BM25"}


@pytest.mark.parametrize("system", RESULT["ms"])
def test_the_tables_say_so(system: str) -> None:
    document = (ROOT / "docs/retrieval.md").read_text(encoding="utf-8")
    for text in (console_table(RESULT), document):
        section = text.split("**locomo 6-10**")[1].split("**")[0]
        [row] = [line for line in section.splitlines() if line.startswith((f"| {system} |", f"| {system} ("))]
        assert (NOT_HELD_OUT in row) is (system in WITH_MEMORIES)
