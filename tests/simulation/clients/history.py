"""What the clients of a run asked for, when, and what they were told: the invariants are about that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from neve.domain.records.retractions import RetractReason
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.ask.recall.command import Leg

Outcome = Literal["ok", "refused", "unknown"]


@dataclass
class Did:
    """One call. ``unknown``: it may have taken effect, or may take effect later. ``code``: why it was refused."""

    who: str
    what: str
    keys: SessionKeys
    given: Any
    began_s: float
    ended_s: float = inf
    outcome: Outcome = "unknown"
    value: Any = None
    code: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"


LIKING = ("enjoys the", "loves the", "is fond of the")
DISLIKING = "dislikes the"
CARD = "4111 1111 1111 1111"
SPEAKER = f"Ann {CARD}"
"""Of every event: the gate takes the number out of all of them."""


ADA, BEN = "ada", "ben"
"""The people of every session: its user, and somebody else."""


@dataclass(frozen=True)
class Picture:
    """An image of an event: its bytes, sent with it, or before as ``upload_id``."""

    media_type: str
    data: bytes = field(repr=False)
    upload_id: str | None = None


@dataclass
class AppendedEvent:
    """An event that a client appends. ``text`` is no other event's. ``participant``: who of ``PEOPLE`` says it."""

    kind: str
    text: str
    client_id: str | None
    pictures: tuple[Picture, ...] = ()
    participant: str | None = None


@dataclass
class AppendGiven:
    """The same for every try of one append."""

    events: list[AppendedEvent]
    key: str | None
    repeatable: bool


@dataclass(frozen=True)
class RecallGiven:
    """``legs`` as in E7."""

    query: str
    legs: tuple[Leg, ...]


@dataclass(frozen=True)
class TimedGiven:
    """A memory that holds between two times, in stored form; None: always on that side."""

    text: str
    valid_from: str | None
    valid_until: str | None

    @property
    def between(self) -> str:
        return f"from {self.valid_from} until {self.valid_until}"


@dataclass(frozen=True)
class PromptGiven:
    """What a prompt is asked with. ``message`` None: the log ends with what is to be answered."""

    message: str | None
    format: Literal["anthropic", "openai"]
    retrieval: Literal["auto", "tools", "none"]
    window: int | None


@dataclass(frozen=True)
class RetractGiven:
    from_seq: int
    to_seq: int | None
    reason: RetractReason


@dataclass(frozen=True)
class LoadedPart:
    """Of an export: how many bytes it was said to have, and what came; None when nothing was there."""

    size: int
    body: bytes | None = field(repr=False)


@dataclass
class History:
    done: list[Did] = field(default_factory=list)
    _sessions: dict[SessionKeys, None] = field(default_factory=dict)
    _looked_at: int = 0

    def of(self, *what: str) -> Iterator[Did]:
        return (did for did in self.done if did.what in what)

    def sessions(self) -> list[SessionKeys]:
        """Everybody's, in the order in which they were first asked for."""
        for did in self.done[self._looked_at :]:
            self._sessions[did.keys] = None
        self._looked_at = len(self.done)
        return list(self._sessions)

    def users(self) -> list[UserKeys]:
        return list(dict.fromkeys(UserKeys(keys.tenant, keys.user) for keys in self.sessions()))
