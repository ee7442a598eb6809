"""The sentences of ``evals/observer/sentences.jsonl``: lines and facts that the extractive observer makes of each."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from evals.observer.__main__ import FOLDER, SPEAKERS
from neve.domain.records.memories import Kind
from neve.domain.records.sessions import Event
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import PassInput, PriorMemory

ROWS: dict[str, list[dict[str, Any]]] = defaultdict(list)
for line in (FOLDER / "sentences.jsonl").read_text(encoding="utf-8").splitlines():
    ROWS[json.loads(line)["shows"]].append(json.loads(line))


def made_of(row: dict[str, Any]) -> dict[str, Any]:
    """Lines, the events of each, the memories that are cited, and facts with what they do to those that were known, and
    when they end."""
    said = [{"by": "user", "text": row["said"]}] if isinstance(row["said"], str) else row["said"]
    at, first = f"{row['day']}T09:30:00.000Z", row.get("first", 1)
    events = [
        Event(seq, SPEAKERS[one["by"]], one["text"], original_tokens=1, created_at=at, name=one.get("name"))
        for seq, one in enumerate(said, start=first)
    ]
    known = [
        PriorMemory(
            one["id"],
            one["text"],
            local=True,
            kind=Kind(one["kind"]),
            span=tuple(one["span"]) if "span" in one else None,
            observed_at=one.get("at", ""),
        )
        for one in row.get("known", ())
    ]
    found = ExtractiveObserver().observe(PassInput("s", events, known, "UTC", 8_000))
    facts = [[one.text, one.category, one.relation, *filter(None, (one.target_id, *one.also))] for one in found.facts]
    seqs = [[line.seq_from, line.seq_to] for line in found.lines]
    return {
        "lines": [line.text for line in found.lines],
        "facts": facts,
        "until": [one.valid_until for one in found.facts if one.valid_until],
        "cited": list(found.used_memory_ids),
        "seqs": seqs if any(one != [first, first] for one in seqs) else [],
    }


@pytest.mark.parametrize("shows", ROWS)
def test_each_sentence_leaves_its_lines_and_facts(shows: str) -> None:
    for row in ROWS[shows]:
        assert {"said": row["said"], **made_of(row)} == {"cited": [], "seqs": [], "until": []} | {
            key: row[key] for key in ("said", "lines", "facts", "cited", "seqs", "until") if key in row
        }
