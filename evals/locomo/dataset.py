"""LoCoMo as it is on disk: ten conversations, their questions, and which turns answer each."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

_EVIDENCE = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""Category 5 (adversarial: no answer) has no evidence to find."""


@dataclass(frozen=True, slots=True)
class Turn:
    """``seq`` counts from 1 within its session, as the service will number it."""

    dia_id: str
    session: str
    seq: int
    speaker: str
    is_user: bool
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: int
    raw: frozenset[str]
    """dia ids as published; a string that holds several is split."""
    audited: frozenset[str]
    """dia ids after the published audit of wrong citations."""


@dataclass(frozen=True, slots=True)
class Conversation:
    id: str
    number: int
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def load(folder: Path) -> list[Conversation]:
    """Raises FileNotFoundError that says where the data comes from."""
    if not (folder / "locomo10.json").exists():
        raise FileNotFoundError(
            f"{folder}/locomo10.json: the LoCoMo data (CC BY-NC 4.0) is not part of this repository"
        )
    samples = json.loads((folder / "locomo10.json").read_text())
    errors = {e["question_id"]: e["correct_evidence"] for e in json.loads((folder / "errors.json").read_text())}
    return [_conversation(number, sample, errors) for number, sample in enumerate(samples)]


def _conversation(number: int, sample: dict[str, Any], errors: dict[str, list[str]]) -> Conversation:
    talk = sample["conversation"]
    turns = [turn for name in sorted(filter(_SESSION.fullmatch, talk), key=_order) for turn in _session(talk, name)]
    known = {turn.dia_id for turn in turns}
    questions = []
    for position, qa in enumerate(sample["qa"]):
        raw = frozenset(_EVIDENCE.findall(" ".join(qa.get("evidence", [])))) & known
        if qa["category"] in CATEGORIES and raw:
            audited = frozenset(errors.get(f"locomo_{number}_qa{position}", [])) & known
            questions.append(Question(qa["question"], qa["category"], raw, audited or raw))
    return Conversation(sample["sample_id"], number + 1, tuple(turns), tuple(questions))


def _order(name: str) -> int:
    return int(name.removeprefix("session_"))


def _session(talk: dict[str, Any], name: str) -> list[Turn]:
    """Turns of one session, a second apart from the time the session began (the data has no finer times)."""
    began = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return [
        Turn(
            dia_id=turn["dia_id"],
            session=name.replace("_", "-"),
            seq=seq,
            speaker=turn["speaker"],
            is_user=turn["speaker"] == talk["speaker_a"],
            text=turn["text"] + (f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""),
            at=began + timedelta(seconds=seq - 1),
        )
        for seq, turn in enumerate(talk[name], start=1)
    ]
