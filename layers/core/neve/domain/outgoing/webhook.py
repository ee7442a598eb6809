"""A webhook: to whom outgoing events are sent, which, and how often they are tried (docs/rules/events.md#webhooks)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from neve.domain.outgoing.event import OutgoingType

MAX_WEBHOOKS = 10
"""*Chosen*: of a tenant. Each event is written once for each of them that wants it."""
ROTATION = timedelta(hours=24)
"""*Chosen*: for so long the secret before signs, too."""
ATTEMPT_S = 10.0
"""*Given*: an answer that takes longer is none."""
QUICK_PAUSES_S = (1.0, 4.0)
"""*Chosen*: seconds before what was refused is tried again at once, by the same worker."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=10), timedelta(hours=4)
"""*Chosen*: the sweep comes every ten minutes."""
TRIED_FOR = timedelta(hours=24)
"""*Given*."""
LONGEST_REST = timedelta(hours=1)
CLAIM = timedelta(seconds=30)
"""*Follows*: the time of one attempt, and what lies around it."""
DISABLES = 410
"""*Given*: the status by which a receiver says that it wants nothing more."""

Failure = Literal["status", "timeout", "name", "address", "connection", "tls", "resting"]
"""Why an attempt did not deliver: another status than 2xx; no answer in time; the name of the host is unknown; it has
an address to which nothing is sent; nobody is there, or the answer is no HTTP; the certificate is not the host's;
there was none, because the receiver answers nobody."""
Outcome = Literal["delivered", "failed", "given_up", "disabled"]


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a tenant. ``secrets``: the newest is the first; another one signs until ``rotating_until``.
    ``disabled_at``: since when the receiver wants nothing more."""

    id: str
    url: str
    types: tuple[OutgoingType, ...]
    include_text: bool
    secrets: tuple[str, ...]
    created_at: str
    rotating_until: str | None = None
    disabled_at: str | None = None

    def wants(self, kind: str) -> bool:
        return self.disabled_at is None and kind in self.types

    def signing(self, now: str) -> tuple[str, ...]:
        """Give the secrets that sign at a stored time."""
        both = self.rotating_until is not None and now < self.rotating_until
        return self.secrets if both else self.secrets[:1]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt. ``status`` None: there was no answer."""

    status: int | None
    failure: Failure | None
    duration_ms: int

    @property
    def delivered(self) -> bool:
        return self.failure is None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A line of the delivery log. ``attempt``: counted from 1."""

    id: str
    event_id: str
    event_type: str
    at: str
    outcome: Outcome
    attempt: int
    duration_ms: int
    status: int | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """A webhook whose receiver gave no answer: nobody asks it before ``until``, and then one worker does."""

    until: datetime
    failures: int
    version: int = 0


def next_pause(rounds: int) -> timedelta:
    """Give how long an event waits behind so many rounds of attempts."""
    return min(FIRST_PAUSE * (1 << min(rounds - 1, 10)), LONGEST_PAUSE)


def next_rest(failures: int) -> timedelta:
    """Give how long a webhook rests behind so many attempts without an answer, in a row."""
    return min(FIRST_PAUSE * (1 << min(failures - 1, 10)), LONGEST_REST)
