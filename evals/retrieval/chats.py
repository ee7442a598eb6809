"""What a data set is to the evals: chats of one user each, their messages in order, and questions with the messages
that hold the evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

TUNED_ON = 5
"""Everything that is chosen or fitted is chosen on the first five chats of each set; the others are reported."""


@dataclass(frozen=True, slots=True)
class Message:
    """``seq`` counts from 1 within its session, as the service will number it. ``name``: of the speaker, if the data
    has one."""

    id: str
    session: str
    seq: int
    by_user: bool
    name: str | None
    text: str
    at: datetime

    @property
    def indexed_text(self) -> str:
        """As the service indexes it."""
        return f"{self.name or ('user' if self.by_user else 'assistant')}: {self.text}"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    evidence: frozenset[str]
    """Message ids, never empty."""


@dataclass(frozen=True, slots=True)
class Chat:
    """``number`` counts from 1 within its set. ``of_one_user``: ``messages`` are those of all chats of its half, and so
    is whom they are of."""

    set: str
    number: int
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    of_one_user: bool = False

    @property
    def id(self) -> str:
        return f"{self.set}-{self.number:02d}"

    @property
    def user(self) -> str:
        """Whose messages they are."""
        return f"{self.set}-{'tuned' if self.tuned else 'reported'}" if self.of_one_user else self.id

    @property
    def tuned(self) -> bool:
        return self.number <= TUNED_ON


def by_user(chats: Iterable[Chat]) -> dict[str, Chat]:
    """A chat of each user; those of one user have the same messages."""
    return {chat.user: chat for chat in chats}


class NoSuchData(Exception):
    """A data set is not where it should be; the message says where that is."""


def existing(path: Path, what: str) -> Path:
    if not path.exists():
        raise NoSuchData(f"{path}: {what} is not part of this repository")
    return path
