"""LoCoMo as it is on disk: ten long conversations of two people, their questions, and which turns answer each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.retrieval.chats import Chat, Message, Question, existing

_EVIDENCE = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
"""Category 5 (adversarial: no answer) has no evidence to find."""


def load(folder: Path) -> list[Chat]:
    """Raises NoSuchData."""
    samples = json.loads(existing(folder / "locomo10.json", "LoCoMo (CC BY-NC 4.0)").read_text())
    return [_chat(number, sample) for number, sample in enumerate(samples, start=1)]


def _chat(number: int, sample: dict[str, Any]) -> Chat:
    talk = sample["conversation"]
    sessions = sorted(filter(_SESSION.fullmatch, talk), key=_order)
    messages = tuple(message for name in sessions for message in _session(talk, name))
    known = {message.id for message in messages}
    questions = (
        Question(asked["question"], CATEGORIES[asked["category"]], _evidence(asked) & known)
        for asked in sample["qa"]
        if asked["category"] in CATEGORIES
    )
    return Chat("locomo", number, messages, tuple(question for question in questions if question.evidence))


def _evidence(asked: dict[str, Any]) -> frozenset[str]:
    """A string may hold several ids."""
    return frozenset(_EVIDENCE.findall(" ".join(asked.get("evidence", []))))


def _order(name: str) -> int:
    return int(name.removeprefix("session_"))


def _session(talk: dict[str, Any], name: str) -> Iterator[Message]:
    """Turns of one session, a second apart from the time the session began (the data has no finer times)."""
    began = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    for seq, turn in enumerate(talk[name], start=1):
        yield Message(
            id=turn["dia_id"],
            session=name.replace("_", "-"),
            seq=seq,
            by_user=turn["speaker"] == talk["speaker_a"],
            name=turn["speaker"],
            text=turn["text"] + (f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""),
            at=began + timedelta(seconds=seq - 1),
        )
