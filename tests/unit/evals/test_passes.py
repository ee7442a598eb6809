"""What a run of ``evals.prompt_cost --passes`` says, and that the page has what was measured."""

from __future__ import annotations

import json
from typing import Any

from evals.prompt_cost.__main__ import PASSES, PURPOSES
from evals.prompt_cost.passes import POLICIES, lines, purpose_lines
from evals.prompt_cost.report import DOCUMENT
from local.template import ROOT

SPENT = {"calls": 10, "passes": 10, "pass_input": 50_000, "input": 60_000, "constant": 30_000, "prior": 10_000}


def rows_of(result: dict[str, Any]) -> list[list[str]]:
    """The cells of each row of the table, but for its head."""
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines(result) if line.startswith("|")]
    return found[2:]


def test_money_is_that_of_the_list_price_and_both_write_what_every_turn_writes() -> None:
    every = SPENT | {"pass_output": 4_000, "output": 5_000}
    waits = SPENT | {"passes": 1, "pass_input": 8_000, "constant": 3_000, "pass_output": 100, "output": 100}
    result = {"transcript": "t", "turns": 1_000, "tokens": 100_000, "spent": {"every turn": every, "default": waits}}
    first, second = rows_of(result)
    # 50,000 at 0.1 and 4,000 at 0.5 a million; nine of ten constant parts of 3,000 at a tenth, one at a quarter more
    assert first[5:] == ["400", f"{0.007:.3f}", f"{0.007 - 27_000 * 0.09e-6 + 3_000 * 0.025e-6:.3f}", "0.009"]
    assert second[5:7] == ["4,000", f"{0.0008 + 0.002:.3f}"], "as much is kept of turns that are read together"


def test_the_page_has_what_was_measured() -> None:
    rows = rows_of(json.loads((ROOT / PASSES).read_text(encoding="utf-8")))
    assert [row[0] for row in rows] == list(POLICIES)
    found = map(json.loads, [(ROOT / path).read_text(encoding="utf-8") for path in (PASSES, PURPOSES)])
    told = [line for result, tell in zip(found, (lines, purpose_lines), strict=True) for line in tell(result)]
    page = (ROOT / DOCUMENT).read_text(encoding="utf-8").replace(",", "")
    assert [line for line in told if line.startswith("|") and line.replace(",", "") not in page] == []
