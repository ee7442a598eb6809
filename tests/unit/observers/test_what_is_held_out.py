"""Nothing calls a number held out that the extractive observer had a part in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evals.locomo.__main__ import HELD_OUT
from evals.locomo.report import NOT_HELD_OUT, REST, console_table

ROOT = Path(__file__).parents[3]
RESULT = json.loads((ROOT / "evals/results/locomo.json").read_text(encoding="utf-8"))


def test_memories_are_not_held_out_and_utterances_are() -> None:
    assert {system for system, held_out in HELD_OUT.items() if not held_out} == {"memory", "both"}
    assert RESULT["held_out"] == HELD_OUT
    assert set(RESULT["results"]) == set(HELD_OUT)


@pytest.mark.parametrize(("system", "held_out"), HELD_OUT.items())
def test_the_tables_say_so(system: str, held_out: bool) -> None:
    document = (ROOT / "docs/retrieval.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in document if line.startswith((f"| {system} | raw", f"| {system} | audited"))]
    rows += [line for line in console_table(RESULT).splitlines() if line.startswith((f"{system} ",))]
    assert len(rows) >= 4
    assert all((NOT_HELD_OUT in row) is not held_out for row in rows if "raw" in row or "audited" in row)


def test_the_readme_says_so_in_its_first_row() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    (row,) = [line for line in readme if line.startswith("| memories and utterances (the default)")]
    rest = RESULT["results"]["both"]["raw"][REST]["any@10"]
    assert f"| {rest} ({NOT_HELD_OUT}) |" in row
