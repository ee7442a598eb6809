"""The tables of the retrieval eval: both halves, marked, and written where they belong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals.retrieval.report import BEGIN, END, side_by_side, write_markdown
from evals.retrieval.scoring import MEASURES
from local.template import ROOT


def table(any_at_10: float) -> dict[str, Any]:
    spread = {"95 %": {"any@10": [10.0, 90.0], "mrr@10": [1.0, 99.0]}}
    return dict.fromkeys(MEASURES, 50.0) | {"n": 7, "any@10": any_at_10} | spread


RESULT: dict[str, Any] = {
    "settings": {
        "chats": {"talks": [1, 2, 6, 7]},
        "questions": 14,
        "messages": 99,
        "embedder": {"model": "small"},
        "observer": "rules",
    },
    "held_out": {"talks": {"both": False, "RRF": True}},
    "sets": {
        "talks": {
            "tuned": {"systems": {"both": table(60.0), "RRF": table(55.0)}},
            "reported": {"systems": {"both": table(58.0), "RRF": table(54.0)}},
        }
    },
    "ms": {"both": {"p50": 9.0, "p95": 12.0}},
}


def test_sets_stand_side_by_side_the_reported_half_first() -> None:
    assert list(side_by_side(RESULT, {"both": "all", "RRF": "ranks", "other": "not asked"})) == [
        "| any@10 / MRR@10 | talks 6-7, reported | talks 1-2, tuned on |",
        "| --- | --- | --- |",
        "| all | 58.0 / 50.0 (not held out) | 60.0 / 50.0 |",
        "| ranks | 54.0 / 50.0 | 55.0 / 50.0 |",
    ]


def test_the_share_of_prompts_with_evidence_is_told_as_it_was_measured() -> None:
    halves = json.loads((ROOT / "evals/results/retrieval.json").read_text())["sets"]["locomo"].values()
    asked = sum(half["systems"]["prompt"]["n"] for half in halves)
    right = sum(half["systems"]["prompt"]["n"] * half["systems"]["prompt"]["any@5"] for half in halves)
    assert f"of LoCoMo's questions it is {right / asked:.0f} % (" in (ROOT / "docs/features.md").read_text()


def test_tables_are_written_between_the_markers(tmp_path: Path) -> None:
    document, readme = tmp_path / "a", tmp_path / "b"
    for file in (document, readme):
        file.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    for _ in range(2):
        write_markdown(RESULT, document, readme)
    text = document.read_text()
    assert text.startswith(f"before\n{BEGIN}\n14 questions about 99 messages") and text.endswith(f"{END}\nafter\n")
    assert "| both (not held out) | 50.0 | 50.0 | 58.0 (10-90) |" in text and "old" not in text
    assert "| RRF | 54.0 / 50.0 | 55.0 / 50.0 |" not in text
    assert "| utterances, RRF without rerank | 54.0 / 50.0 | 55.0 / 50.0 |" in readme.read_text()
    readme.write_text("no markers")
    with pytest.raises(ValueError, match="no markers"):
        write_markdown(RESULT, document, readme)
