"""What the clients of a run asked for, when, and what they were told: the invariants are about that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal

from neve.store.keys import SessionKeys, UserKeys

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


@dataclass
class Said:
    """An event that a client appends. ``text`` is no other event's, ``call`` the first try's number."""

    kind: str
    text: str
    client_id: str | None


@dataclass
class AppendGiven:
    """The same for every try of one append."""

    events: list[Said]
    key: str | None
    repeatable: bool


@dataclass
class History:
    done: list[Did] = field(default_factory=list)

    def of(self, *what: str) -> Iterator[Did]:
        return (did for did in self.done if did.what in what)

    def sessions(self) -> list[SessionKeys]:
        """Everybody's, in the order in which they were first asked for."""
        return list(dict.fromkeys(did.keys for did in self.done))

    def users(self) -> list[UserKeys]:
        return list(dict.fromkeys(UserKeys(did.keys.tenant, did.keys.user) for did in self.done))
