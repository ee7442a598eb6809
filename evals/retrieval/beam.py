"""BEAM-100K as it is on disk: long chats of a user with an assistant, neither of whom has a name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.retrieval.chats import Chat, Message, Question, existing

APART = timedelta(weeks=2)
"""Between two sessions: the data gives a day for some of them only."""
_NUMBER = re.compile(r"chat_(\d+)")


def load(folder: Path) -> list[Chat]:
    """Raises NoSuchData."""
    files = sorted(existing(folder, "BEAM-100K").glob("chat_*.json"), key=_number)
    return [_chat(_number(file), json.loads(file.read_text())) for file in files]


def _number(file: Path) -> int:
    found = _NUMBER.fullmatch(file.stem)
    if found is None:
        raise ValueError(f"{file} is no chat_NN.json")
    return int(found[1])


def _chat(number: int, chat: dict[str, Any]) -> Chat:
    messages = tuple(_messages(chat["sessions"]))
    known = {message.id for message in messages}
    questions = (
        Question(asked["question"], asked["category"], frozenset(map(str, asked["evidence"])) & known)
        for asked in chat["questions"]
    )
    return Chat("beam", number, messages, tuple(question for question in questions if question.evidence))


def _messages(sessions: list[dict[str, Any]]) -> Iterator[Message]:
    began = datetime.strptime(sessions[0]["time"], "%B-%d-%Y").replace(tzinfo=UTC)
    for place, session in enumerate(sessions):
        for seq, entry in enumerate(session["messages"], start=1):
            at = began + place * APART + timedelta(seconds=seq - 1)
            by_user = entry["role"] == "user"
            yield Message(str(entry["id"]), f"session-{place + 1}", seq, by_user, None, entry["content"], at)
